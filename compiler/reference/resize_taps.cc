#include "compiler/reference/resize_taps.h"

#include <algorithm>
#include <cmath>

namespace aot::reference {
namespace {

template <class Enum, size_t N>
std::optional<Enum> Parse(absl::string_view name, const char* const (&names)[N]) {
  for (size_t i = 0; i < N; ++i) {
    if (name == names[i]) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

// The size that the output would have without rounding to an integer; exactly the output's where scale only restates
// it.
double UnroundedOutput(const ResizeAxis& axis) {
  double exact = static_cast<double>(axis.output) / static_cast<double>(axis.input);
  if (static_cast<float>(exact) == static_cast<float>(axis.scale)) return static_cast<double>(axis.output);
  return axis.scale * static_cast<double>(axis.input);
}

// Position in the input of an output position, as ONNX defines each coordinate_transformation_mode. Multiplies before
// it divides, so that positions which are integers come out as integers.
double SourcePosition(const ResizeAxis& axis, double resized, int64_t position) {
  double x = static_cast<double>(position), input = static_cast<double>(axis.input);
  switch (axis.coordinates) {
    case ResizeCoordinates::kHalfPixel:
      return (x + 0.5) * input / resized - 0.5;
    case ResizeCoordinates::kHalfPixelSymmetric: {
      double offset = input / 2 * (1 - static_cast<double>(axis.output) / resized);
      return offset + (x + 0.5) * input / resized - 0.5;
    }
    case ResizeCoordinates::kPytorchHalfPixel:
      return axis.output == 1 ? 0 : (x + 0.5) * input / resized - 0.5;
    case ResizeCoordinates::kAlignCorners:
      return resized == 1 ? 0 : x * (input - 1) / (resized - 1);
    case ResizeCoordinates::kAsymmetric:
      return x * input / resized;
    case ResizeCoordinates::kTfCropAndResize:
      break;
  }
  double extent = (axis.roi_end - axis.roi_begin) * (input - 1);
  return axis.roi_begin * (input - 1) + (resized == 1 ? extent / 2 : x * extent / (resized - 1));
}

int64_t NearestIndex(const ResizeAxis& axis, double x) {
  double below = std::floor(x), ratio = x - below;
  bool up = false;
  switch (axis.nearest) {
    case ResizeNearest::kRoundPreferFloor:
      up = ratio > 0.5;
      break;
    case ResizeNearest::kRoundPreferCeil:
      up = ratio >= 0.5;
      break;
    case ResizeNearest::kFloor:
      break;
    case ResizeNearest::kCeil:
      up = ratio > 0;
      break;
  }
  return std::clamp<int64_t>(static_cast<int64_t>(below) + (up ? 1 : 0), 0, axis.input - 1);
}

// The interpolation kernels as functions of the distance; support 1 (linear) and 2 (cubic, Keys 1981 with coefficient
// a).
double LinearKernel(double distance) { return std::max(0.0, 1 - std::fabs(distance)); }
double CubicKernel(double distance, double a) {
  double x = std::fabs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

std::vector<ResizeTap> InterpolationTaps(const ResizeAxis& axis, double x, double scale) {
  bool cubic = axis.mode == ResizeMode::kCubic;
  // Antialiasing stretches the kernel over the input pixels that one output pixel covers.
  double stretch = axis.antialias ? std::min(scale, 1.0) : 1.0;
  double support = (cubic ? 2 : 1) / stretch;
  std::vector<ResizeTap> taps;
  double sum = 0;
  double first = std::floor(x - support) + 1, last = std::ceil(x + support) - 1;
  for (double position = first; position <= last; ++position) {
    double distance = (position - x) * stretch;
    double weight = cubic ? CubicKernel(distance, axis.cubic_coeff_a) : LinearKernel(distance);
    int64_t index = static_cast<int64_t>(position);
    if (axis.exclude_outside && (index < 0 || index >= axis.input)) continue;
    index = std::clamp<int64_t>(index, 0, axis.input - 1);
    sum += weight;
    if (!taps.empty() && taps.back().index == index) {
      taps.back().weight += weight;
    } else if (weight != 0) {
      taps.push_back({index, weight});
    }
  }
  if (taps.empty() || sum == 0) {
    return {{std::clamp<int64_t>(static_cast<int64_t>(std::floor(x)), 0, axis.input - 1), 1.0}};
  }
  if (axis.exclude_outside || axis.antialias) {
    for (ResizeTap& tap : taps) tap.weight /= sum;
  }
  return taps;
}

}  // namespace

std::optional<ResizeMode> ParseResizeMode(absl::string_view name) {
  return Parse<ResizeMode>(name, {"nearest", "linear", "cubic"});
}
std::optional<ResizeCoordinates> ParseResizeCoordinates(absl::string_view name) {
  return Parse<ResizeCoordinates>(name, {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                         "asymmetric", "tf_crop_and_resize"});
}
std::optional<ResizeNearest> ParseResizeNearest(absl::string_view name) {
  return Parse<ResizeNearest>(name, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
}

std::vector<std::vector<ResizeTap>> ResizeTaps(const ResizeAxis& axis) {
  std::vector<std::vector<ResizeTap>> taps(static_cast<size_t>(axis.output));
  double resized = UnroundedOutput(axis), scale = resized / static_cast<double>(axis.input);
  double limit = static_cast<double>(axis.input) + 4 + (axis.antialias ? 2 / std::min(scale, 1.0) : 0);
  for (int64_t o = 0; o < axis.output; ++o) {
    double x = SourcePosition(axis, resized, o);
    if (axis.coordinates == ResizeCoordinates::kTfCropAndResize &&
        !(x >= 0 && x <= static_cast<double>(axis.input - 1))) {
      continue;
    }
    x = std::clamp(x, -limit, limit);  // farther out the edge counts all the same
    if (axis.mode == ResizeMode::kNearest) {
      taps[static_cast<size_t>(o)] = {{NearestIndex(axis, x), 1.0}};
    } else {
      taps[static_cast<size_t>(o)] = InterpolationTaps(axis, x, scale);
    }
  }
  return taps;
}

}  // namespace aot::reference
