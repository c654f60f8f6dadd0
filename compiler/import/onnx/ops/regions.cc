// Sampling at positions that data decide: RoiAlign, DeformConv.
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/window.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;
using reference::Tensor;
using reference::TensorType;

constexpr int64_t kMostCells = 4096;  // along a dimension

// Coordinates need float32 at least.
ElementType WideFloat(ElementType element) {
  return element == ElementType::kFloat64 ? ElementType::kFloat64 : ElementType::kFloat32;
}

Value FloatList(Builder& b, ElementType element, const std::vector<double>& values, Shape shape) {
  Tensor tensor(TensorType{element, std::move(shape)});
  for (size_t i = 0; i < values.size(); ++i) tensor.SetFloat(static_cast<int64_t>(i), values[i]);
  return b.Constant(std::move(tensor));
}

Value And(Builder& b, const Value& x, const Value& y) {
  return b.Emit("logical_and", {}, {x, y}, {ElementType::kBool, *BroadcastShape(x.shape(), y.shape())});
}

Value Clamp(Builder& b, const Value& x, double low, double high) {
  return b.Binary("min", b.Binary("max", x, b.Scalar(x.element(), low)), b.Scalar(x.element(), high));
}

// low <= x <= high.
Value Within(Builder& b, const Value& x, double low, double high) {
  return And(b, b.Compare("greater_equal", x, b.Scalar(x.element(), low)),
             b.Compare("less_equal", x, b.Scalar(x.element(), high)));
}

// The side of the boxes along one dimension of the image.
struct Side {
  Value start, bin;  // [rois, 1]: where the box begins, and the size of one of its cells
  int64_t cells = 0, size = 0;
};

// Two elements along one dimension and their weights, for samples [rois, cells x samples].
struct Pair {
  Value low, high;                // int64 positions
  Value low_weight, high_weight;  // 0 outside of the image
};

class RoiAligner {
 public:
  explicit RoiAligner(Node& n) : n_(n), b_(n.b), element_(WideFloat(n.In(0).element())) {}

  absl::StatusOr<Value> Align() {
    const Value &x = n_.In(0), &rois = n_.In(1), &batch = n_.In(2);
    RETURN_IF_ERROR(Check());
    const int64_t samples = n_.Int("sampling_ratio", 0);
    const bool half_pixel =
        n_.version() >= 16 && n_.String("coordinate_transformation_mode", "half_pixel") == "half_pixel";
    const Value boxes =
        b_.Sub(b_.Mul(b_.Cast(rois, element_), F(n_.Float("spatial_scale", 1.0))), F(half_pixel ? 0.5 : 0.0));
    auto side = [&](int64_t from, int64_t cells, int64_t size) {
      auto column = [&](int64_t i) { return b_.Slice(boxes, {0, i}, {1, 1}, {boxes.dim(0), 1}); };
      Value length = b_.Sub(column(from + 2), column(from));
      // Before half pixels, boxes were at least one element large.
      if (!half_pixel) length = b_.Binary("max", length, F(1));
      return Side{column(from), b_.Div(length, F(static_cast<double>(cells))), cells, size};
    };
    const Side rows = side(1, n_.Int("output_height", 1), x.dim(2));
    const Side columns = side(0, n_.Int("output_width", 1), x.dim(3));
    const Value image = b_.Cast(x, element_);
    const bool average = n_.String("mode", "avg") == "avg";
    Value result;
    if (samples > 0) {
      result = Sampled(image, batch, Samples(rows, samples), Samples(columns, samples), samples, average);
    } else if (average) {
      result = Adaptive(image, batch, rows, columns);
    } else {
      return Unsupported("mode max with sampling_ratio 0", "mode avg, or a sampling_ratio of at least 1");
    }
    return b_.Cast(result, x.element());
  }

 private:
  Value F(double value) { return b_.Scalar(element_, value); }

  absl::Status Check() {
    const Value &x = n_.In(0), &rois = n_.In(1), &batch = n_.In(2);
    RETURN_IF_ERROR(n_.RequireFloat(0));
    RETURN_IF_ERROR(n_.RequireSameElement(0, 1));
    RETURN_IF_ERROR(n_.RequireRank(0, 4, 4));
    RETURN_IF_ERROR(n_.RequireRank(1, 2, 2));
    if (rois.dim(1) != 4 || batch.shape() != Shape{rois.dim(0)} || batch.element() != ElementType::kInt64 ||
        Elements(x.shape()) == 0) {
      return absl::InvalidArgumentError(absl::StrCat("boxes of ", reference::ToString(rois.shape()),
                                                     " and batch indices of ", reference::ToString(batch.shape()),
                                                     " don't fit an input of ", reference::ToString(x.shape())));
    }
    const std::string mode = n_.String("mode", "avg");
    if (mode != "avg" && mode != "max") {
      return absl::InvalidArgumentError(absl::StrCat("mode is ", Quoted(mode), "; it must be avg or max"));
    }
    const std::string coordinates = n_.String("coordinate_transformation_mode", "half_pixel");
    if (n_.version() >= 16 && coordinates != "half_pixel" && coordinates != "output_half_pixel") {
      return absl::InvalidArgumentError(absl::StrCat("coordinate_transformation_mode is ", Quoted(coordinates),
                                                     "; it must be half_pixel or output_half_pixel"));
    }
    const int64_t height = n_.Int("output_height", 1), width = n_.Int("output_width", 1);
    const int64_t samples = n_.Int("sampling_ratio", 0);
    // Positions are listed while compiling.
    if (height > kMostCells || width > kMostCells || samples > kMostCells || x.dim(2) > kMostCells ||
        x.dim(3) > kMostCells) {
      return Unsupported("more than 4096 samples, or an image or a result of more than 4096 rows or columns",
                         "smaller ones");
    }
    if (height < 1 || width < 1 || samples < 0) {
      return absl::InvalidArgumentError(absl::StrCat("output_height ", height, ", output_width ", width,
                                                     " and sampling_ratio ", samples,
                                                     "; sizes are at least 1, the ratio at least 0"));
    }
    // Before what follows multiplies them.
    for (const Shape& shape : {Shape{rois.dim(0), height, width, x.dim(1)}, Shape{samples, samples}}) {
      RETURN_IF_ERROR(CheckShape(element_, shape));
    }
    return CheckShape(element_, {Elements({rois.dim(0), height, width, x.dim(1)}), Elements({samples, samples})});
  }

  // Positions up to one element outside of the image count as its border.
  Value Inside(const Side& side, const Value& position) {
    return Within(b_, position, -1, static_cast<double>(side.size));
  }

  // The same number of samples in each cell.
  Pair Samples(const Side& side, int64_t samples) {
    std::vector<double> cells, fractions;
    for (int64_t i = 0; i < side.cells * samples; ++i) {
      cells.push_back(static_cast<double>(i / samples));
      fractions.push_back((static_cast<double>(i % samples) + 0.5) / static_cast<double>(samples));
    }
    const Shape row = {1, side.cells * samples};
    const Value cell_start = b_.Add(side.start, b_.Mul(side.bin, FloatList(b_, element_, cells, row)));
    const Value position = b_.Add(cell_start, b_.Mul(side.bin, FloatList(b_, element_, fractions, row)));
    const double last = static_cast<double>(side.size - 1);
    const Value clamped = Clamp(b_, position, 0, last);
    const Value low = b_.Unary("floor", clamped);
    const Value fraction = b_.Sub(clamped, low);
    const Value inside = Inside(side, position);
    return {b_.Cast(low, ElementType::kInt64), b_.Cast(Clamp(b_, b_.Add(low, F(1)), 0, last), ElementType::kInt64),
            b_.Where(inside, b_.Sub(F(1), fraction), F(0)), b_.Where(inside, fraction, F(0))};
  }

  Value Sampled(const Value& image, const Value& batch, const Pair& rows, const Pair& columns, int64_t samples,
                bool average) {
    const int64_t channels = image.dim(1), height = image.dim(2), width = image.dim(3), rois = batch.dim(0);
    const int64_t down = rows.low.dim(1), across = columns.low.dim(1);
    // Channels last: a sample takes a row of them.
    const Value elements = b_.Reshape(b_.Transpose(image, {0, 2, 3, 1}), {image.dim(0) * height * width, channels});
    auto number = [&](int64_t value) { return b_.Scalar(ElementType::kInt64, static_cast<double>(value)); };
    // Batch indices out of range are a mistake in the data; no access leaves the image for it.
    const Value first =
        b_.Mul(b_.Binary("min", b_.Binary("max", batch, number(0)), number(image.dim(0) - 1)), number(height * width));
    Value result;
    for (const auto& [row, row_weight] : {std::pair(rows.low, rows.low_weight), std::pair(rows.high, rows.high_weight)})
      for (const auto& [column, column_weight] :
           {std::pair(columns.low, columns.low_weight), std::pair(columns.high, columns.high_weight)}) {
        const Value line = b_.Add(b_.Reshape(first, {rois, 1}), b_.Mul(row, number(width)));
        const Value index = b_.Add(b_.Reshape(line, {rois, down, 1}), b_.Reshape(column, {rois, 1, across}));
        const Value weight =
            b_.Mul(b_.Reshape(row_weight, {rois, down, 1, 1}), b_.Reshape(column_weight, {rois, 1, across, 1}));
        const Value taken =
            b_.Emit("gather", {{"axis", int64_t{0}}}, {elements, index}, {element_, {rois, down, across, channels}});
        const Value part = b_.Mul(taken, weight);
        // ONNX takes the largest of the weighted neighbours, not of the interpolated samples.
        result = !result ? part : average ? b_.Add(result, part) : b_.Binary("max", result, part);
      }
    const Value cells = b_.Reshape(result, {rois, down / samples, samples, across / samples, samples, channels});
    const Value pooled = b_.Reduce(average ? "reduce_mean" : "reduce_max", cells, {2, 4});
    return b_.Transpose(b_.Reshape(pooled, {rois, down / samples, across / samples, channels}), {0, 3, 1, 2});
  }

  // The mean over ceil(bin) samples a cell and dimension, a number that only the boxes know. It is separable: a matrix
  // for each dimension holds the weight of every element of the image in every cell.
  Value Adaptive(const Value& image, const Value& batch, const Side& rows, const Side& columns) {
    const int64_t channels = image.dim(1), height = image.dim(2), width = image.dim(3), rois = batch.dim(0);
    Value own = image;
    if (image.dim(0) != 1) {
      own = b_.Emit("gather", {{"axis", int64_t{0}}}, {image, batch}, {element_, {rois, channels, height, width}});
    }
    const Value lines = b_.MatMul(b_.Reshape(own, {own.dim(0), channels * height, width}), CellWeights(columns), false,
                                  /*trans_b=*/true);
    return b_.MatMul(b_.Reshape(CellWeights(rows), {rois, 1, rows.cells, height}),
                     b_.Reshape(lines, {rois, channels, height, columns.cells}));
  }

  // [rois, cells, size]. With two or more samples in a cell they are more than half an element and at most one apart,
  // so that fewer than six have a weight for one element: those from the first one on that is near enough.
  Value CellWeights(const Side& side) {
    const int64_t rois = side.start.dim(0);
    std::vector<double> cells, elements;
    for (int64_t i = 0; i < side.cells; ++i) cells.push_back(static_cast<double>(i));
    for (int64_t i = 0; i < side.size; ++i) elements.push_back(static_cast<double>(i));
    const Value bin = b_.Reshape(side.bin, {rois, 1, 1});
    const Value start =
        b_.Add(b_.Reshape(side.start, {rois, 1, 1}), b_.Mul(bin, FloatList(b_, element_, cells, {1, side.cells, 1})));
    const Value element = FloatList(b_, element_, elements, {1, 1, side.size});
    const Value count = b_.Binary("max", b_.Unary("ceil", bin), F(0));  // of samples; a turned box has none
    const Value at_least_one = b_.Binary("max", count, F(1));
    const Value spacing = b_.Div(bin, at_least_one);
    const Value safe_spacing = b_.Where(b_.Compare("greater", spacing, F(0)), spacing, F(1));
    const Value from = b_.Sub(b_.Div(b_.Sub(b_.Sub(element, F(1)), start), safe_spacing), F(1.5));
    const Value first = b_.Binary("min", b_.Binary("max", b_.Unary("floor", from), F(0)), b_.Sub(at_least_one, F(1)));
    constexpr int kCandidates = 8;  // two more than needed at either end, for rounding
    Value sum;
    for (int i = 0; i < kCandidates; ++i) {
      const Value sample = b_.Add(first, F(i));
      const Value position = b_.Add(start, b_.Mul(b_.Add(sample, F(0.5)), spacing));
      const Value distance =
          b_.Unary("abs", b_.Sub(Clamp(b_, position, 0, static_cast<double>(side.size - 1)), element));
      const Value weight = b_.Binary("max", b_.Sub(F(1), distance), F(0));
      const Value counts = And(b_, b_.Compare("less", sample, count), Inside(side, position));
      const Value part = b_.Where(counts, weight, F(0));
      sum = sum ? b_.Add(sum, part) : part;
    }
    return b_.Div(sum, at_least_one);
  }

  Node& n_;
  Builder& b_;
  const ElementType element_;
};

absl::StatusOr<Results> ImportRoiAlign(Node& n) {
  ASSIGN_OR_RETURN(Value result, RoiAligner(n).Align());
  return Results{result};
}

// A convolution whose taps are moved by offsets: the columns that it multiplies are interpolated first.
class DeformedConvolution {
 public:
  explicit DeformedConvolution(Node& n) : n_(n), b_(n.b), element_(WideFloat(n.In(0).element())) {}

  absl::StatusOr<Value> Convolve() {
    const Value &x = n_.In(0), &filter = n_.In(1), &offset = n_.In(2);
    RETURN_IF_ERROR(n_.RequireFloat(0));
    for (size_t i = 1; i < 5; ++i) {
      if (n_.Has(i)) RETURN_IF_ERROR(n_.RequireSameElement(0, i));
    }
    RETURN_IF_ERROR(n_.RequireRank(0, 3));
    if (x.rank() != 4) return Unsupported(absl::StrCat(x.rank() - 2, " spatial dimensions"), "2 spatial dimensions");
    RETURN_IF_ERROR(n_.RequireRank(1, 4, 4));
    const int64_t group = n_.Int("group", 1), offset_group = n_.Int("offset_group", 1);
    const int64_t batch = x.dim(0), channels = x.dim(1), outputs = filter.dim(0);
    ASSIGN_OR_RETURN(Window window, ReadWindow(n_, 2, {filter.dim(2), filter.dim(3)}));
    ASSIGN_OR_RETURN(const Shape sizes, SlidingSizes(window, absl::MakeConstSpan(x.shape()).subspan(2), false));
    const int64_t taps = Elements(window.kernel), points = Elements(sizes);
    const bool fits =
        group > 0 && offset_group > 0 && filter.dim(1) <= channels / group && channels == filter.dim(1) * group &&
        outputs % group == 0 && channels % offset_group == 0 &&
        offset.shape() == Shape{batch, Elements({offset_group, taps, 2}), sizes[0], sizes[1]} &&
        (!n_.Has(3) || n_.In(3).shape() == Shape{outputs}) &&
        (!n_.Has(4) || n_.In(4).shape() == Shape{batch, Elements({offset_group, taps}), sizes[0], sizes[1]});
    if (!fits || Elements(x.shape()) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("filter ", reference::ToString(filter.shape()), ", offset ", reference::ToString(offset.shape()),
                       ", bias or mask don't fit an input of ", reference::ToString(x.shape()), " with group ", group,
                       " and offset_group ", offset_group));
    }
    RETURN_IF_ERROR(CheckShape(element_, {batch, channels, taps, points}));
    const Value offsets = b_.Reshape(b_.Cast(offset, element_), {batch, offset_group, taps, 2, points});
    auto positions = [&](int64_t d) {
      const Value moved = b_.Slice(offsets, {0, 0, 0, d, 0}, {1, 1, 1, 1, 1}, {batch, offset_group, taps, 1, points});
      return b_.Add(b_.Reshape(moved, {batch, offset_group, 1, taps * points}), Regular(window, sizes, d));
    };
    Value columns = Interpolate(positions(0), positions(1), channels / offset_group);
    if (n_.Has(4)) {
      columns = b_.Mul(columns, b_.Reshape(b_.Cast(n_.In(4), element_), {batch, offset_group, 1, taps * points}));
    }
    const int64_t in_group = channels / group * taps;
    const Value product = b_.MatMul(b_.Reshape(b_.Cast(filter, element_), {group, outputs / group, in_group}),
                                    b_.Reshape(columns, {batch, group, in_group, points}));
    Value result = b_.Reshape(product, {batch, outputs, sizes[0], sizes[1]});
    if (n_.Has(3)) result = b_.Add(result, b_.Reshape(b_.Cast(n_.In(3), element_), {1, outputs, 1, 1}));
    return b_.Cast(result, x.element());
  }

 private:
  Value F(double value) { return b_.Scalar(element_, value); }

  // Where the taps would be without offsets, along spatial dimension d: [1, 1, 1, taps x points].
  Value Regular(const Window& window, const Shape& sizes, int64_t d) {
    const auto i = static_cast<size_t>(d);
    std::vector<double> taps, points;
    for (int64_t k = 0; k < window.kernel[i]; ++k) taps.push_back(static_cast<double>(k * window.dilations[i]));
    for (int64_t o = 0; o < sizes[i]; ++o) {
      points.push_back(static_cast<double>(o * window.strides[i] - window.pads[i]));
    }
    Shape tap_shape = {1, 1, 1, 1}, point_shape = {1, 1, 1, 1};
    tap_shape[i] = window.kernel[i];
    point_shape[i + 2] = sizes[i];
    const Value sum = b_.Add(FloatList(b_, element_, taps, tap_shape), FloatList(b_, element_, points, point_shape));
    const Value all = b_.Broadcast(sum, {window.kernel[0], window.kernel[1], sizes[0], sizes[1]});
    return b_.Reshape(all, {1, 1, 1, Elements(all.shape())});
  }

  // Bilinear, with zeros around the image.
  Value Interpolate(const Value& down, const Value& across, int64_t channels_in_group) {
    const Value& x = n_.In(0);
    const int64_t height = x.dim(2), width = x.dim(3), groups = down.dim(1);
    const Shape taken_shape = {x.dim(0), groups, channels_in_group, down.dim(3)};
    const Value image = b_.Reshape(b_.Cast(x, element_), {x.dim(0), groups, channels_in_group, height * width});
    struct Tap {
      Value index, weight;
    };
    auto taps = [&](const Value& position, int64_t size) {
      const Value low = b_.Unary("floor", position), fraction = b_.Sub(position, low);
      std::vector<Tap> two;
      for (const auto& [at, weight] :
           {std::pair(low, b_.Sub(F(1), fraction)), std::pair(b_.Add(low, F(1)), fraction)}) {
        const double last = static_cast<double>(size - 1);
        two.push_back(
            {b_.Cast(Clamp(b_, at, 0, last), ElementType::kInt64), b_.Where(Within(b_, at, 0, last), weight, F(0))});
      }
      return two;
    };
    Value sum;
    for (const Tap& row : taps(down, height)) {
      for (const Tap& column : taps(across, width)) {
        const Value index =
            b_.Add(b_.Mul(row.index, b_.Scalar(ElementType::kInt64, static_cast<double>(width))), column.index);
        const Value taken = b_.Emit("gather_elements", {{"axis", int64_t{3}}},
                                    {image, b_.Broadcast(index, taken_shape)}, {element_, taken_shape});
        const Value part = b_.Mul(taken, b_.Mul(row.weight, column.weight));
        sum = sum ? b_.Add(sum, part) : part;
      }
    }
    return sum;
  }

  Node& n_;
  Builder& b_;
  const ElementType element_;
};

absl::StatusOr<Results> ImportDeformConv(Node& n) {
  ASSIGN_OR_RETURN(Value result, DeformedConvolution(n).Convolve());
  return Results{result};
}

}  // namespace

Family RegionsFamily() {
  static const std::vector<Operator> operators = {
      {"DeformConv", {19, 22}, 3, 5, ImportDeformConv},
      {"RoiAlign", {10, 16, 22}, 3, 3, ImportRoiAlign},
  };
  return {"regions and moved taps", operators};
}

}  // namespace aot::import::onnx
