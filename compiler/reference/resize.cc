// resize in all modes of ONNX, one dimension after the other.
#include <cmath>

#include "compiler/reference/broadcast.h"
#include "compiler/reference/conversion.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/resize_taps.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

using AxisTaps = std::vector<std::vector<ResizeTap>>;

// One dimension of a row-major tensor of doubles resampled. Positions outside the region of interest become NaN here
// and the extrapolation value at the end; `outside` marks them.
struct Image {
  Shape shape;
  std::vector<double> values;
  std::vector<bool> outside;
};

Image Resample(const Image& image, size_t axis, const AxisTaps& taps) {
  Image result;
  result.shape = image.shape;
  int64_t outer = SizeOfDimensions(image.shape, 0, axis),
          inner = SizeOfDimensions(image.shape, axis + 1, image.shape.size());
  int64_t input = image.shape[axis], output = static_cast<int64_t>(taps.size());
  result.shape[axis] = output;
  result.values.assign(static_cast<size_t>(outer * output * inner), 0);
  result.outside.assign(result.values.size(), false);
  for (int64_t i = 0; i < outer * output; ++i) {
    size_t row = static_cast<size_t>(i * inner);
    const std::vector<ResizeTap>& list = taps[static_cast<size_t>(i % output)];
    for (const ResizeTap& tap : list) {
      size_t from = static_cast<size_t>((i / output * input + tap.index) * inner);
      for (size_t k = 0; k < static_cast<size_t>(inner); ++k) {
        result.values[row + k] += tap.weight * image.values[from + k];
        if (image.outside[from + k]) result.outside[row + k] = true;
      }
    }
    for (size_t k = 0; k < static_cast<size_t>(inner) && list.empty(); ++k) result.outside[row + k] = true;
  }
  return result;
}

// Nearest moves elements, so it takes every type and no arithmetic.
Tensor TakeNearest(const Tensor& input, const TensorType& type, const std::vector<AxisTaps>& taps,
                   const Tensor& extrapolation) {
  Tensor result(type);
  Strides own = ContiguousStrides(type.shape), strides = ContiguousStrides(input.shape());
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < taps.size() && from >= 0; ++d) {
      const std::vector<ResizeTap>& list = taps[d][static_cast<size_t>(i / own[d] % type.shape[d])];
      from = list.empty() ? -1 : from + list[0].index * strides[d];
    }
    CopyElements(from < 0 ? extrapolation : input, std::max<int64_t>(from, 0), result, i, 1);
  }
  return result;
}

std::vector<AxisTaps> ReadTaps(Call& call, const Tensor& input, const TensorType& type) {
  std::string mode_name = call.String("mode"), coordinates_name = call.String("coordinates"),
              nearest_name = call.String("nearest");
  std::optional<ResizeMode> mode = ParseResizeMode(mode_name);
  std::optional<ResizeCoordinates> coordinates = ParseResizeCoordinates(coordinates_name);
  std::optional<ResizeNearest> nearest = ParseResizeNearest(nearest_name);
  call.Require(mode.has_value(), "unknown mode ", mode_name);
  call.Require(coordinates.has_value(), "unknown coordinates ", coordinates_name);
  call.Require(nearest.has_value() || mode != ResizeMode::kNearest, "unknown nearest ", nearest_name);
  size_t rank = input.shape().size();
  std::vector<double> scales = call.Floats("scales"), roi = call.Floats("roi");
  bool crop = coordinates == ResizeCoordinates::kTfCropAndResize;
  call.Require(scales.size() == rank, "scales has ", scales.size(), " entries, needs ", rank);
  call.Require(roi.size() == 2 * rank || (!crop && roi.empty()), "roi has ", roi.size(), " entries, needs ", 2 * rank);
  call.Require(type.shape.size() == rank, "the result has shape ", ToString(type.shape), ", needs rank ", rank);
  ResizeAxis axis;
  axis.cubic_coeff_a = call.Float("cubic_coeff_a");
  axis.exclude_outside = call.Flag("exclude_outside");
  axis.antialias = call.Flag("antialias");
  if (!call.ok()) return {};
  axis.mode = *mode;
  axis.coordinates = *coordinates;
  axis.nearest = nearest.value_or(ResizeNearest::kRoundPreferFloor);

  std::vector<AxisTaps> taps;
  for (size_t d = 0; d < rank; ++d) {
    axis.input = input.shape()[d];
    axis.output = type.shape[d];
    axis.scale = scales[d];
    call.Require(axis.scale > 0 && std::isfinite(axis.scale), "scale ", axis.scale, " of dimension ", d,
                 " is not positive");
    call.Require(axis.input > 0 || axis.output == 0, "dimension ", d, " is empty and cannot grow to ", axis.output);
    // Bounds the taps of one position; a consistent scale gives at least one output element.
    call.Require(!axis.antialias || axis.output == 0 || axis.scale * static_cast<double>(axis.input) >= 0.5, "scale ",
                 axis.scale, " of dimension ", d, " is too small for antialias over ", axis.input, " elements");
    if (crop) {
      axis.roi_begin = roi[d];
      axis.roi_end = roi[rank + d];
      call.Require(std::isfinite(axis.roi_begin) && std::isfinite(axis.roi_end), "roi of dimension ", d,
                   " is not finite");
    }
    if (!call.ok()) return {};
    taps.push_back(axis.output == 0 ? AxisTaps() : ResizeTaps(axis));
  }
  return taps;
}

// Whether output position i is input position i throughout.
bool IsIdentity(const AxisTaps& taps, int64_t input) {
  if (static_cast<int64_t>(taps.size()) != input) return false;
  for (size_t i = 0; i < taps.size(); ++i) {
    if (taps[i].size() != 1 || taps[i][0].index != static_cast<int64_t>(i) || taps[i][0].weight != 1) return false;
  }
  return true;
}

// Integers get the interpolated value truncated, as cast does.
void StoreElement(Tensor& result, int64_t index, double value) {
  if (IsFloat(result.element())) return result.SetFloat(index, value);
  result.SetInt(index, FloatToInteger(value, result.element()));
}

Results Resize(Call& call) {
  const Tensor& input = call.Operand(0, "input");
  const TensorType& type = call.Result();
  double extrapolation = call.Float("extrapolation_value");
  call.RequireElement("the result", type.element, input.element());
  call.RequireNumeric(input);
  std::vector<AxisTaps> taps = ReadTaps(call, input, type);
  if (!call.ok()) return call.status();
  if (*ElementCount(type.shape) == 0) return OneResult(Tensor(type));
  if (call.String("mode") == "nearest") {
    Tensor fill(TensorType{type.element, {}});
    StoreElement(fill, 0, extrapolation);
    return OneResult(TakeNearest(input, type, taps, fill));
  }

  Image image{input.shape(), {}, {}};
  image.values.resize(static_cast<size_t>(input.size()));
  for (int64_t i = 0; i < input.size(); ++i) image.values[static_cast<size_t>(i)] = input.GetFloat(i);
  image.outside.assign(image.values.size(), false);
  for (size_t d = 0; d < taps.size(); ++d) {
    if (!IsIdentity(taps[d], image.shape[d])) image = Resample(image, d, taps[d]);
  }
  Tensor result(type);
  for (int64_t i = 0; i < result.size(); ++i) {
    size_t k = static_cast<size_t>(i);
    StoreElement(result, i, image.outside[k] ? extrapolation : image.values[k]);
  }
  return OneResult(std::move(result));
}

constexpr Kernel kKernels[] = {{"resize", Resize}};

}  // namespace

absl::Span<const Kernel> ResizeKernels() { return kKernels; }

}  // namespace aot::reference
