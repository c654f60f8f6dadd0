// The geometry of sliding windows, which convolutions and pooling share: kernel, strides, dilations, padding, output
// size.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/onnx/node.h"

namespace aot::import::onnx {

// One entry a spatial dimension; pads has all begins, then all ends.
struct Window {
  std::vector<int64_t> kernel, strides, dilations, pads;
  std::string
      auto_pad;  // NOTSET, VALID, SAME_UPPER or SAME_LOWER; pads are resolved unless a function below says otherwise

  size_t rank() const { return kernel.size(); }
  // Input elements that a window spans.
  int64_t extent(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
};

// Reads the attributes with their defaults. `kernel`: what the filter says, or empty (then kernel_shape must be there).
absl::StatusOr<Window> ReadWindow(Node& n, size_t spatial_rank, std::vector<int64_t> kernel);

// Output sizes of a window that slides over `spatial`; resolves auto_pad into pads.
absl::StatusOr<reference::Shape> SlidingSizes(Window& window, absl::Span<const int64_t> spatial, bool ceil_mode);

}  // namespace aot::import::onnx
