// Sampling at computed positions, and placing values at them.
#include <cmath>
#include <functional>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;
using reference::Tensor;
using reference::TensorType;

// Positions along one dimension of the image, of shape [N, 1, P] for P points.
struct Coordinate {
  Value position;
  int64_t size = 0;          // of the dimension
  double low = 0, high = 0;  // where reflection turns
};

class GridSampler {
 public:
  GridSampler(Node& n, std::string mode, std::string padding, bool align_corners)
      : n_(n), b_(n.b), mode_(std::move(mode)), padding_(std::move(padding)), align_corners_(align_corners) {}

  // x [N, C, dims...], grid [N, out..., number of dims] with the last dimension first.
  Value Sample() {
    const Value& x = n_.In(0);
    const Value& grid = n_.In(1);
    if (x.element() == ElementType::kFloat64) compute_ = ElementType::kFloat64;
    const int64_t dims = x.rank() - 2;
    const int64_t batch = x.dim(0), channels = x.dim(1);
    points_ = Elements(absl::MakeConstSpan(grid.shape()).subspan(1, static_cast<size_t>(dims)));
    const Value flat_grid = b_.Reshape(b_.Cast(grid, compute_), {batch, points_, dims});
    for (int64_t i = 0; i < dims; ++i) {
      const Value part = b_.Slice(flat_grid, {0, 0, dims - 1 - i}, {1, 1, 1}, {batch, points_, 1});
      coordinates_.push_back(Locate(b_.Reshape(part, {batch, 1, points_}), x.dim(i + 2)));
    }
    image_ = b_.Reshape(b_.Cast(x, compute_), {batch, channels, Elements(absl::MakeConstSpan(x.shape()).subspan(2))});
    AddTaps(0, Value(), Value());
    Shape shape = {batch, channels};
    shape.insert(shape.end(), grid.shape().begin() + 1, grid.shape().end() - 1);
    return b_.Cast(b_.Reshape(sum_, std::move(shape)), x.element());
  }

 private:
  Value F(double value) { return b_.Scalar(compute_, value); }
  Value Clamp(const Value& x, double low, double high) {
    return b_.Binary("min", b_.Binary("max", x, F(low)), F(high));
  }

  // From [-1, 1] to positions of elements.
  Coordinate Locate(const Value& normal, int64_t size) {
    Coordinate c;
    c.size = size;
    const double count = static_cast<double>(size);
    c.low = align_corners_ ? 0 : -0.5;
    c.high = align_corners_ ? count - 1 : count - 0.5;
    const Value from_zero = b_.Add(normal, F(1));
    c.position = align_corners_ ? b_.Mul(from_zero, F((count - 1) / 2))
                                : b_.Mul(b_.Sub(b_.Mul(from_zero, F(count)), F(1)), F(0.5));
    if (mode_ == "nearest") c.position = b_.Unary("round", c.position);  // halves to even
    if (padding_ == "border") {
      // Positions between the border and the outermost element stay: a cubic sees them.
      const Value outside = b_.Emit(
          "logical_or", {}, {b_.Compare("less", c.position, F(c.low)), b_.Compare("greater", c.position, F(c.high))},
          {ElementType::kBool, c.position.shape()});
      c.position = b_.Where(outside, Clamp(c.position, 0, count - 1), c.position);
    }
    if (padding_ == "reflection") c.position = Reflect(c, c.position);
    return c;
  }

  // Folds positions at the borders until they are between them: a triangle wave.
  Value Reflect(const Coordinate& c, const Value& position) {
    const double range = c.high - c.low;
    if (range <= 0) return b_.Mul(position, F(0));
    const Value distance = b_.Unary("abs", b_.Sub(position, F(c.low)));
    const Value periods = b_.Unary("floor", b_.Div(distance, F(2 * range)));
    const Value rest = b_.Sub(distance, b_.Mul(periods, F(2 * range)));
    return b_.Add(b_.Binary("min", rest, b_.Sub(F(2 * range), rest)), F(c.low));
  }

  // Weights of the elements around a position, by their offset from the one at or below it.
  std::vector<std::pair<int, Value>> Weights(const Value& fraction) {
    if (mode_ == "linear") return {{0, b_.Sub(F(1), fraction)}, {1, fraction}};
    // Keys' cubic convolution with a = -0.75.
    const double a = -0.75;
    auto near = [&](const Value& t) {  // ((a + 2) t - (a + 3)) t t + 1
      return b_.Add(b_.Mul(b_.Mul(b_.Sub(b_.Mul(t, F(a + 2)), F(a + 3)), t), t), F(1));
    };
    auto far = [&](const Value& t) {  // ((a t - 5 a) t + 8 a) t - 4 a
      return b_.Sub(b_.Mul(b_.Add(b_.Mul(b_.Sub(b_.Mul(t, F(a)), F(5 * a)), t), F(8 * a)), t), F(4 * a));
    };
    const Value rest = b_.Sub(F(1), fraction);
    return {{-1, far(b_.Add(fraction, F(1)))}, {0, near(fraction)}, {1, near(rest)}, {2, far(b_.Add(rest, F(1)))}};
  }

  // Goes through all combinations of elements around a point, dimension by dimension; `index` is their flat position,
  // `weight` the product of their weights. An absent weight is 1.
  void AddTaps(size_t dim, const Value& index, const Value& weight) {
    if (dim == coordinates_.size()) {
      AddTap(index, weight);
      return;
    }
    const Coordinate& c = coordinates_[dim];
    const Value base = b_.Unary("floor", c.position);
    std::vector<std::pair<int, Value>> taps = {{0, Value()}};
    if (mode_ != "nearest") taps = Weights(b_.Sub(c.position, base));
    for (const auto& [offset, tap_weight] : taps) {
      Value element = offset == 0 ? base : b_.Add(base, F(offset));
      Value product = !weight ? tap_weight : !tap_weight ? weight : b_.Mul(weight, tap_weight);
      const double last = static_cast<double>(c.size - 1);
      if (padding_ == "zeros") {
        const Value inside = b_.Emit(
            "logical_and", {}, {b_.Compare("greater_equal", element, F(0)), b_.Compare("less_equal", element, F(last))},
            {ElementType::kBool, element.shape()});
        product = b_.Where(inside, product ? product : F(1), F(0));
      } else if (padding_ == "reflection") {
        element = b_.Unary("round", Reflect(c, element));
      }
      const Value position = b_.Cast(Clamp(element, 0, last), ElementType::kInt64);
      const Value size = b_.Scalar(ElementType::kInt64, static_cast<double>(c.size));
      AddTaps(dim + 1, index ? b_.Add(b_.Mul(index, size), position) : position, product);
    }
  }

  void AddTap(const Value& index, const Value& weight) {
    Shape shape = {image_.dim(0), image_.dim(1), points_};
    Value taken = b_.Emit("gather_elements", {{"axis", int64_t{2}}}, {image_, b_.Broadcast(index, shape)},
                          {image_.element(), shape});
    if (weight) taken = b_.Mul(taken, weight);
    sum_ = sum_ ? b_.Add(sum_, taken) : taken;
  }

  Node& n_;
  Builder& b_;
  const std::string mode_, padding_;
  const bool align_corners_;
  ElementType compute_ = ElementType::kFloat32;
  int64_t points_ = 0;
  std::vector<Coordinate> coordinates_;
  Value image_, sum_;
};

absl::StatusOr<Results> ImportGridSample(Node& n) {
  const Value &x = n.In(0), &grid = n.In(1);
  RETURN_IF_ERROR(n.RequireFloat(0));
  RETURN_IF_ERROR(n.RequireFloat(1));
  RETURN_IF_ERROR(n.RequireRank(0, 3, 5));
  RETURN_IF_ERROR(n.RequireRank(1, x.rank(), x.rank()));
  if (grid.dim(0) != x.dim(0) || grid.dim(grid.rank() - 1) != x.rank() - 2 ||
      Elements(absl::MakeConstSpan(x.shape()).subspan(2)) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("a grid of ", reference::ToString(grid.shape()),
                                                   " doesn't fit an input of ", reference::ToString(x.shape())));
  }
  // Version 16 called the modes by their names in two dimensions.
  std::string mode = n.String("mode", "linear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  const std::string padding = n.String("padding_mode", "zeros");
  if (mode != "linear" && mode != "nearest" && mode != "cubic") {
    return absl::InvalidArgumentError(absl::StrCat("mode is ", Quoted(mode), "; it must be linear, nearest or cubic"));
  }
  if (padding != "zeros" && padding != "border" && padding != "reflection") {
    return absl::InvalidArgumentError(
        absl::StrCat("padding_mode is ", Quoted(padding), "; it must be zeros, border or reflection"));
  }
  return Results{GridSampler(n, mode, padding, n.Flag("align_corners", false)).Sample()};
}

// The positions of all output elements under a transform of each batch: one product with their homogeneous coordinates.
absl::StatusOr<Results> ImportAffineGrid(Node& n) {
  const Value& theta = n.In(0);
  RETURN_IF_ERROR(n.RequireFloat(0));
  ASSIGN_OR_RETURN(const std::vector<int64_t> size, n.ConstantInts(1, "the size"));
  const int64_t dims = static_cast<int64_t>(size.size()) - 2;
  if ((dims != 2 && dims != 3) || theta.shape() != Shape{size[0], dims, dims + 1}) {
    return absl::InvalidArgumentError(absl::StrCat("transforms of ", reference::ToString(theta.shape()),
                                                   " don't fit a size of ", size.size(), " dimensions"));
  }
  const Shape out(size.begin() + 2, size.end());
  RETURN_IF_ERROR(CheckShape(theta.element(), size));
  const int64_t points = Elements(out);
  const bool align_corners = n.Flag("align_corners", false);
  Tensor positions(TensorType{theta.element(), {dims + 1, points}});
  for (int64_t p = 0; p < points; ++p) {
    int64_t rest = p;
    for (int64_t d = 0; d < dims; ++d) {  // x, the last dimension, comes first
      const int64_t count = out[static_cast<size_t>(dims - 1 - d)], i = rest % count;
      rest /= count;
      const double at = static_cast<double>(i), all = static_cast<double>(count);
      positions.SetFloat(d * points + p,
                         align_corners ? (count > 1 ? 2 * at / (all - 1) - 1 : -1.0) : (2 * at + 1) / all - 1);
    }
    positions.SetFloat(dims * points + p, 1);
  }
  const Value moved = n.b.MatMul(theta, n.b.Constant(std::move(positions)));
  Shape shape = {size[0]};
  shape.insert(shape.end(), out.begin(), out.end());
  shape.push_back(dims);
  return Results{n.b.Reshape(n.b.Transpose(moved, {0, 2, 1}), std::move(shape))};
}

// Adds up the columns of blocks where they overlap in the image.
absl::StatusOr<Results> ImportCol2Im(Node& n) {
  const Value& x = n.In(0);
  RETURN_IF_ERROR(n.RequireRank(0, 3, 3));
  ASSIGN_OR_RETURN(const std::vector<int64_t> image, n.ConstantInts(1, "the image's shape"));
  ASSIGN_OR_RETURN(const std::vector<int64_t> block, n.ConstantInts(2, "the block's shape"));
  const size_t dims = image.size();
  const std::vector<int64_t> ones(dims, 1);
  const std::vector<int64_t> dilations = n.Ints("dilations", ones), strides = n.Ints("strides", ones);
  const std::vector<int64_t> pads = n.Ints("pads", std::vector<int64_t>(2 * dims, 0));
  RETURN_IF_ERROR(CheckShape(x.element(), image));
  RETURN_IF_ERROR(CheckShape(x.element(), block));
  bool fits =
      dims > 0 && block.size() == dims && dilations.size() == dims && strides.size() == dims && pads.size() == 2 * dims;
  std::vector<int64_t> counts;  // of blocks in each dimension
  for (size_t d = 0; fits && d < dims; ++d) {
    fits = block[d] > 0 && strides[d] > 0 && dilations[d] > 0 && pads[d] >= 0 && pads[dims + d] >= 0;
    if (!fits) break;
    const int64_t span = image[d] + pads[d] + pads[dims + d] - dilations[d] * (block[d] - 1) - 1;
    fits = span >= 0;
    counts.push_back(fits ? span / strides[d] + 1 : 0);
  }
  const int64_t in_block = Elements(block), blocks = Elements(counts), pixels = Elements(image);
  if (!fits || x.dim(1) % in_block != 0 || x.dim(2) != blocks) {
    return absl::InvalidArgumentError(
        absl::StrCat("columns of ", reference::ToString(x.shape()), " don't fit blocks of ", reference::ToString(block),
                     " in an image of ", reference::ToString(image), " with these strides, pads and dilations"));
  }
  RETURN_IF_ERROR(CheckShape(ElementType::kInt64, {in_block, blocks}));
  std::vector<int64_t> targets(static_cast<size_t>(in_block * blocks), 0);
  for (int64_t i = 0; i < in_block * blocks; ++i) {
    int64_t in = i / blocks, at = i % blocks, pixel = 0, pitch = 1;
    bool inside = true;
    for (size_t d = dims; d-- > 0;) {
      const int64_t position = (at % counts[d]) * strides[d] + (in % block[d]) * dilations[d] - pads[d];
      inside = inside && position >= 0 && position < image[d];
      pixel += position * pitch;
      pitch *= image[d];
      in /= block[d];
      at /= counts[d];
    }
    targets[static_cast<size_t>(i)] = inside ? pixel : pixels;  // outside of the image: a scatter leaves it out
  }
  const int64_t images = x.dim(0) * (x.dim(1) / in_block);
  const Value columns = n.b.Reshape(x, {images, in_block * blocks});
  const Value indices = n.b.Broadcast(n.b.Reshape(n.b.Int64s(targets), {1, in_block * blocks}), columns.shape());
  const Value zeros = n.b.Broadcast(n.b.Scalar(x.element(), 0), {images, pixels});
  const Value sums = n.b.Emit("scatter_elements", {{"axis", int64_t{1}}, {"reduction", std::string("add")}},
                              {zeros, indices, columns}, zeros.type());
  Shape shape = {x.dim(0), x.dim(1) / in_block};
  shape.insert(shape.end(), image.begin(), image.end());
  return Results{n.b.Reshape(sums, std::move(shape))};
}

// Puts values where pooling found them; indices count the elements of the whole unpooled tensor.
absl::StatusOr<Results> ImportMaxUnpool(Node& n) {
  const Value &x = n.In(0), &indices = n.In(1);
  RETURN_IF_ERROR(n.RequireRank(0, 3));
  const size_t dims = static_cast<size_t>(x.rank()) - 2;
  const std::vector<int64_t> kernel = n.Ints("kernel_shape");
  const std::vector<int64_t> strides = n.Ints("strides", std::vector<int64_t>(dims, 1));
  const std::vector<int64_t> pads = n.Ints("pads", std::vector<int64_t>(2 * dims, 0));
  if (indices.element() != ElementType::kInt64 || indices.shape() != x.shape() || kernel.size() != dims ||
      strides.size() != dims || pads.size() != 2 * dims) {
    return absl::InvalidArgumentError("indices, kernel_shape, strides and pads must fit the input's dimensions");
  }
  Shape pooled = {x.dim(0), x.dim(1)};
  for (size_t d = 0; d < dims; ++d) {
    pooled.push_back((x.shape()[d + 2] - 1) * strides[d] - pads[d] - pads[dims + d] + kernel[d]);
  }
  Shape shape = pooled;
  if (n.Has(2)) {
    ASSIGN_OR_RETURN(shape, n.ConstantInts(2, "the result's shape"));
  }
  RETURN_IF_ERROR(CheckShape(x.element(), pooled));
  RETURN_IF_ERROR(CheckShape(x.element(), shape));
  bool fits = shape.size() == pooled.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] >= pooled[i];
  if (!fits) {
    return absl::InvalidArgumentError(absl::StrCat("a result of ", reference::ToString(shape), " is smaller than ",
                                                   reference::ToString(pooled), ", what was pooled"));
  }
  const int64_t count = Elements(x.shape());
  const Value zeros = n.b.Broadcast(n.b.Scalar(x.element(), 0), {Elements(pooled)});
  const Value placed = n.b.Emit("scatter_elements", {{"axis", int64_t{0}}, {"reduction", std::string("none")}},
                                {zeros, n.b.Reshape(indices, {count}), n.b.Reshape(x, {count})}, zeros.type());
  const Value whole = n.b.Reshape(placed, pooled);
  if (shape == pooled) return Results{whole};
  return Results{n.b.Emit("pad", {{"begins", std::vector<int64_t>(shape.size(), 0)}, {"mode", std::string("constant")}},
                          {whole, n.b.Scalar(x.element(), 0)}, {x.element(), shape})};
}

}  // namespace

Family GridFamily() {
  static const std::vector<Operator> operators = {
      {"AffineGrid", {20}, 2, 2, ImportAffineGrid},
      {"Col2Im", {18}, 3, 3, ImportCol2Im},
      {"GridSample", {16, 20, 22}, 2, 2, ImportGridSample},
      {"MaxUnpool", {9, 11, 22}, 2, 3, ImportMaxUnpool},
  };
  return {"grid", operators};
}

}  // namespace aot::import::onnx
