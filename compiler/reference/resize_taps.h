// Where each output position of a resize reads, along one dimension: ONNX Resize is separable, so this is all of its
// geometry. Code generation takes its tables from here too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace aot::reference {

enum class ResizeMode : uint8_t { kNearest, kLinear, kCubic };
enum class ResizeCoordinates : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfCropAndResize,
};
enum class ResizeNearest : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

// By ONNX's names; nullopt for unknown ones.
std::optional<ResizeMode> ParseResizeMode(absl::string_view name);
std::optional<ResizeCoordinates> ParseResizeCoordinates(absl::string_view name);
std::optional<ResizeNearest> ParseResizeNearest(absl::string_view name);

struct ResizeAxis {
  int64_t input = 0, output = 0;  // sizes, input at least 1
  double scale = 1;  // positive, with antialias at least 0.5 / input; a scale that is the nearest float to output /
                     // input counts as exactly that
  double roi_begin = 0, roi_end = 1;  // of tf_crop_and_resize
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  ResizeNearest nearest = ResizeNearest::kRoundPreferFloor;
  double cubic_coeff_a = -0.75;
  bool exclude_outside = false, antialias = false;  // not of nearest
};

struct ResizeTap {
  int64_t index;  // inside the input, ascending
  double weight;
};

// The taps of each output position. No tap: the position lies outside the region of interest and takes the
// extrapolation value. Nearest has one tap of weight 1.
std::vector<std::vector<ResizeTap>> ResizeTaps(const ResizeAxis& axis);

}  // namespace aot::reference
