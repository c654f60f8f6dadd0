// Sliding windows over up to three spatial dimensions: what convolutions and pools share.
//
// Inside the reference everything is channels first with exactly three spatial dimensions: missing ones are leading
// dimensions of size 1, and channels_last operands are transposed on the way in, results on the way out.
#pragma once

#include <array>
#include <cstdint>

#include "compiler/reference/call.h"

namespace aot::reference {

constexpr size_t kSpatial = 3;
using Triple = std::array<int64_t, kSpatial>;

struct Window {
  size_t spatial_rank = 0;
  bool channels_last = false;
  int64_t batch = 0, input_channels = 0, output_channels = 0;
  Triple input, output, kernel, strides, dilations, pads_begin, pads_end;

  int64_t input_size() const { return input[0] * input[1] * input[2]; }
  int64_t output_size() const { return output[0] * output[1] * output[2]; }
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }

  // Position in the input of tap k of window o along dimension d; may lie outside.
  int64_t InputPosition(size_t d, int64_t o, int64_t k) const {
    return o * strides[d] + k * dilations[d] - pads_begin[d];
  }
  bool IsInside(size_t d, int64_t position) const { return position >= 0 && position < input[d]; }
};

// Reads strides, pads, dilations and channels_last and the shapes of input and result; kernel sizes come from the
// caller, one a spatial dimension. Records mistakes in the call.
Window ReadWindow(Call& call, const Tensor& input, const TensorType& result, const std::vector<int64_t>& kernel);

// Number of spatial dimensions of a rank, 0 (and a recorded mistake) unless 1 to 3.
size_t SpatialRank(Call& call, const Tensor& input);

// A tensor with the dimension `from` moved to the place `to`: between the two layouts.
Tensor MoveDimension(const Tensor& tensor, size_t from, size_t to);

// The input channels first; the tensor itself if it is so already.
Tensor ChannelsFirst(const Tensor& tensor, bool channels_last);
// A type of the other layout's shape and back, for results.
TensorType ChannelsFirstType(const TensorType& type, bool channels_last);
Tensor ToLayout(Tensor channels_first, bool channels_last);

}  // namespace aot::reference
