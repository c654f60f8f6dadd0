// Resize and its predecessor Upsample.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::Shape;

constexpr double kLargestDimension = 1e12;

struct Sizes {
  std::vector<double> scales;  // one a dimension
  Shape shape;
};

absl::Status FromScales(Sizes& sizes, size_t axis, double scale, double extent) {
  // In float, as the scales are and as other runtimes multiply: 10 x 0.7 is 7, not 6.
  const double size = std::floor(static_cast<float>(extent) * static_cast<float>(scale));
  if (!(scale > 0) || !(size < kLargestDimension)) {
    return absl::InvalidArgumentError(absl::StrCat("a scale of ", scale, " for dimension ", axis));
  }
  sizes.scales[axis] = scale;
  sizes.shape[axis] = static_cast<int64_t>(std::max(0.0, size));
  return absl::OkStatus();
}

Sizes Unchanged(const Value& x) { return {std::vector<double>(static_cast<size_t>(x.rank()), 1.0), x.shape()}; }

Value Emit(Node& n, const Value& x, const Sizes& sizes, const std::string& mode, const std::string& coordinates,
           const std::string& nearest, std::vector<double> roi) {
  if (sizes.shape == x.shape() && coordinates != "tf_crop_and_resize" &&
      std::all_of(sizes.scales.begin(), sizes.scales.end(), [](double scale) { return scale == 1.0; })) {
    return x;
  }
  return n.b.Emit("resize",
                  {{"mode", mode},
                   {"coordinates", coordinates},
                   {"nearest", nearest},
                   {"scales", sizes.scales},
                   {"roi", std::move(roi)},
                   {"cubic_coeff_a", n.Float("cubic_coeff_a", -0.75)},
                   {"extrapolation_value", n.Float("extrapolation_value", 0.0)},
                   {"exclude_outside", n.Flag("exclude_outside", false)},
                   {"antialias", n.Flag("antialias", false)}},
                  {x}, {x.element(), sizes.shape});
}

// tf_half_pixel_for_nn, whose positions lie half an element further than those of half_pixel: for nearest neighbours
// alone, as its name says. Dimensions that keep their size keep their elements.
Value EmitTfNearest(Node& n, const Sizes& sizes, bool round) {
  Value x = n.In(0);
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    const double scale = sizes.scales[static_cast<size_t>(axis)];
    const int64_t in = x.dim(axis), out = sizes.shape[static_cast<size_t>(axis)];
    if (scale == 1.0) continue;
    // Exact where the scale only restates the sizes.
    const double ratio = static_cast<double>(out) / static_cast<double>(in);
    const bool exact = static_cast<float>(ratio) == static_cast<float>(scale);
    std::vector<int64_t> nearest;
    for (int64_t i = 0; i < out; ++i) {
      const double middle = static_cast<double>(i) + 0.5;
      const double at = exact ? middle * static_cast<double>(in) / static_cast<double>(out) : middle / scale;
      const double element = round ? std::ceil(at - 0.5) : std::floor(at);  // halves go down
      nearest.push_back(std::clamp<int64_t>(static_cast<int64_t>(element), 0, in - 1));
    }
    Shape shape = x.shape();
    shape[static_cast<size_t>(axis)] = out;
    x = n.b.Emit("gather", {{"axis", axis}}, {x, n.b.Int64s(nearest)}, {x.element(), std::move(shape)});
  }
  return x;
}

std::vector<double> WholeRegion(const Value& x) {
  std::vector<double> roi(static_cast<size_t>(2 * x.rank()), 0.0);
  std::fill(roi.begin() + x.rank(), roi.end(), 1.0);
  return roi;
}

// Upsample, and Resize of opset 10, which has its inputs and meaning.
absl::StatusOr<Results> ImportUpsample(Node& n) {
  const Value& x = n.In(0);
  std::vector<double> scales;
  if (n.op() == "Upsample" && n.version() < 7) {
    RETURN_IF_ERROR(n.RequireRank(0, 4, 4));
    scales = {1.0, 1.0, n.Float("height_scale", 0.0), n.Float("width_scale", 0.0)};
  } else if (n.op() == "Upsample" && n.version() < 9) {
    scales = n.Floats("scales");
  } else {
    if (!n.Has(1)) return absl::InvalidArgumentError("the scales are missing");
    ASSIGN_OR_RETURN(scales, n.ConstantFloats(1, "the scales"));
  }
  if (static_cast<int64_t>(scales.size()) != x.rank()) {
    return absl::InvalidArgumentError(absl::StrCat(scales.size(), " scales for ", x.rank(), " dimensions"));
  }
  std::string mode = n.String("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear") mode = "linear";
  if (mode != "nearest" && mode != "linear") {
    return absl::InvalidArgumentError(absl::StrCat("mode is ", Quoted(mode), "; it must be nearest or linear"));
  }
  Sizes shrunk = Unchanged(x), sizes = shrunk;
  for (size_t i = 0; i < scales.size(); ++i) {
    RETURN_IF_ERROR(FromScales(sizes, i, scales[i], static_cast<double>(x.shape()[i])));
    if (scales[i] < 1) std::tie(shrunk.shape[i], shrunk.scales[i]) = std::tie(sizes.shape[i], sizes.scales[i]);
  }
  if (mode == "linear") return Results{Emit(n, x, sizes, mode, "asymmetric", "floor", WholeRegion(x))};
  // The nearest element is the one below where a dimension grows and the one above where it shrinks; dimensions are
  // independent of each other.
  const Value small = Emit(n, x, shrunk, mode, "asymmetric", "ceil", WholeRegion(x));
  for (size_t i = 0; i < scales.size(); ++i) {
    if (scales[i] < 1) sizes.scales[i] = 1;
  }
  return Results{Emit(n, small, sizes, mode, "asymmetric", "floor", WholeRegion(x))};
}

// Output sizes that were asked for, some of them adjusted to keep the aspect ratio.
absl::Status FromSizes(Node& n, Sizes& sizes, const std::vector<int64_t>& axes, const std::vector<int64_t>& wanted) {
  const Value& x = n.In(0);
  const std::string policy = n.String("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller") {
    return absl::InvalidArgumentError(absl::StrCat("keep_aspect_ratio_policy is ", Quoted(policy),
                                                   "; it must be stretch, not_larger or not_smaller"));
  }
  if (wanted.size() != axes.size())
    return absl::InvalidArgumentError(absl::StrCat(wanted.size(), " sizes for ", axes.size(), " axes"));
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (wanted[i] < 1 || x.dim(axes[i]) < 1) {
      return absl::InvalidArgumentError(absl::StrCat("a size of ", wanted[i], " for a dimension of ", x.dim(axes[i])));
    }
    const double scale = static_cast<double>(wanted[i]) / static_cast<double>(x.dim(axes[i]));
    common = i == 0 ? scale : policy == "not_larger" ? std::min(common, scale) : std::max(common, scale);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = static_cast<size_t>(axes[i]);
    const double dim = static_cast<double>(x.dim(axes[i]));
    if (policy == "stretch") {
      sizes.shape[axis] = wanted[i];
      sizes.scales[axis] = static_cast<double>(wanted[i]) / dim;
    } else {
      sizes.shape[axis] = static_cast<int64_t>(std::floor(common * dim + 0.5));
      sizes.scales[axis] = common;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Results> ImportResize(Node& n) {
  if (n.version() < 11) return ImportUpsample(n);
  const Value& x = n.In(0);
  const std::string mode = n.String("mode", "nearest");
  const std::string coordinates = n.String("coordinate_transformation_mode", "half_pixel");
  const std::string nearest = n.String("nearest_mode", "round_prefer_floor");
  auto one_of = [](const std::string& value, std::initializer_list<const char*> known) {
    return std::any_of(known.begin(), known.end(), [&](const char* name) { return value == name; });
  };
  if (!one_of(mode, {"nearest", "linear", "cubic"})) {
    return Unsupported(absl::StrCat("mode ", Quoted(mode)), "nearest, linear and cubic");
  }
  if (!one_of(coordinates, {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                            "tf_crop_and_resize"}) &&
      !(coordinates == "tf_half_pixel_for_nn" && n.version() == 11)) {
    return Unsupported(
        absl::StrCat("coordinate_transformation_mode ", Quoted(coordinates)),
        "half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric and tf_crop_and_resize");
  }
  if (!one_of(nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})) {
    return Unsupported(absl::StrCat("nearest_mode ", Quoted(nearest)),
                       "round_prefer_floor, round_prefer_ceil, floor and ceil");
  }
  if (coordinates == "tf_half_pixel_for_nn" &&
      (mode != "nearest" || !one_of(nearest, {"round_prefer_floor", "floor"}))) {
    return Unsupported(absl::StrCat("coordinate_transformation_mode 'tf_half_pixel_for_nn' with mode ", Quoted(mode),
                                    " and nearest_mode ", Quoted(nearest)),
                       "mode nearest with nearest_mode floor or round_prefer_floor");
  }
  std::vector<int64_t> axes = n.Ints("axes");
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t& axis : axes) {
    ASSIGN_OR_RETURN(axis, n.Axis(axis, x.rank()));
  }
  std::vector<double> roi = WholeRegion(x);
  if (coordinates == "tf_crop_and_resize") {
    if (!n.Has(1)) return absl::InvalidArgumentError("tf_crop_and_resize needs a region of interest");
    ASSIGN_OR_RETURN(const std::vector<double> given, n.ConstantFloats(1, "the region of interest"));
    if (given.size() != 2 * axes.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a region of interest of ", given.size(), " numbers for ", axes.size(), " axes"));
    }
    for (size_t i = 0; i < axes.size(); ++i) {
      roi[static_cast<size_t>(axes[i])] = given[i];
      roi[static_cast<size_t>(axes[i] + x.rank())] = given[axes.size() + i];
    }
  }
  Sizes sizes = Unchanged(x);
  // An empty tensor of scales equals none: models of opset 11 had to write one.
  const bool has_scales = n.Has(2) && Elements(n.In(2).shape()) != 0;
  if (has_scales) {
    ASSIGN_OR_RETURN(const std::vector<double> scales, n.ConstantFloats(2, "the scales"));
    if (scales.size() != axes.size()) {
      return absl::InvalidArgumentError(absl::StrCat(scales.size(), " scales for ", axes.size(), " axes"));
    }
    for (size_t i = 0; i < axes.size(); ++i) {
      const size_t axis = static_cast<size_t>(axes[i]);
      const double region = roi[axis + static_cast<size_t>(x.rank())] - roi[axis];
      RETURN_IF_ERROR(FromScales(sizes, axis, scales[i], static_cast<double>(x.dim(axes[i])) * region));
    }
  } else if (n.Has(3)) {
    ASSIGN_OR_RETURN(const std::vector<int64_t> wanted, n.ConstantInts(3, "the sizes"));
    RETURN_IF_ERROR(FromSizes(n, sizes, axes, wanted));
  } else {
    return absl::InvalidArgumentError("neither scales nor sizes are given");
  }
  if (coordinates == "tf_half_pixel_for_nn") {
    if (Elements(x.shape()) == 0) return absl::InvalidArgumentError("an input without elements can't be resized");
    RETURN_IF_ERROR(CheckShape(x.element(), sizes.shape));
    constexpr int64_t kMostListed = int64_t{1} << 24;  // positions along a dimension, while compiling
    if (std::any_of(sizes.shape.begin(), sizes.shape.end(), [](int64_t size) { return size > kMostListed; })) {
      return Unsupported("a dimension of more than 2^24 elements with tf_half_pixel_for_nn", "smaller ones");
    }
    return Results{EmitTfNearest(n, sizes, nearest == "round_prefer_floor")};
  }
  return Results{Emit(n, x, sizes, mode, coordinates, nearest, std::move(roi))};
}

}  // namespace

Family ResizeFamily() {
  static const std::vector<Operator> operators = {
      {"Resize", {10, 11, 13, 18, 19}, 1, 4, ImportResize},
      {"Upsample", {1, 7, 9}, 1, 2, ImportUpsample},
  };
  return {"resampling", operators};
}

}  // namespace aot::import::onnx
