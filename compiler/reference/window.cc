#include "compiler/reference/window.h"

#include "compiler/reference/broadcast.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

// Keeps o * stride + k * dilation - pad far from overflow.
constexpr int64_t kMaxExtent = int64_t{1} << 30;

}  // namespace

size_t SpatialRank(Call& call, const Tensor& input) {
  size_t rank = input.shape().size();
  bool valid = rank >= 3 && rank <= kSpatial + 2;
  call.Require(valid, "operand 0 (input) of shape ", ToString(input.shape()), " needs 1 to 3 spatial dimensions");
  return valid ? rank - 2 : 0;
}

Window ReadWindow(Call& call, const Tensor& input, const TensorType& result, const std::vector<int64_t>& kernel) {
  Window w;
  w.channels_last = call.Flag("channels_last");
  w.spatial_rank = SpatialRank(call, input);
  for (Triple* triple : {&w.input, &w.output, &w.kernel, &w.strides, &w.dilations}) triple->fill(1);
  w.pads_begin.fill(0);
  w.pads_end.fill(0);
  size_t rank = w.spatial_rank;
  if (!call.ok()) return w;
  if (!call.Require(result.shape.size() == input.shape().size(), "the result has shape ", ToString(result.shape),
                    ", needs rank ", input.shape().size())) {
    return w;
  }
  std::vector<int64_t> strides = call.Ints("strides", rank), dilations = call.Ints("dilations", rank);
  std::vector<int64_t> pads = call.Ints("pads", 2 * rank);
  call.Require(kernel.size() == rank, "kernel has ", kernel.size(), " dimensions, needs ", rank);
  if (!call.ok()) return w;

  size_t first = w.channels_last ? 1 : 2;
  w.batch = input.shape()[0];
  w.input_channels = input.shape()[w.channels_last ? rank + 1 : 1];
  w.output_channels = result.shape[w.channels_last ? rank + 1 : 1];
  call.Require(result.shape[0] == w.batch, "the result has batch ", result.shape[0], ", needs ", w.batch);
  for (size_t i = 0; i < rank; ++i) {
    size_t d = kSpatial - rank + i;
    w.input[d] = input.shape()[first + i];
    w.output[d] = result.shape[first + i];
    w.kernel[d] = kernel[i];
    w.strides[d] = strides[i];
    w.dilations[d] = dilations[i];
    w.pads_begin[d] = pads[i];
    w.pads_end[d] = pads[rank + i];
    for (int64_t value : {kernel[i], strides[i], dilations[i]}) {
      call.Require(value >= 1 && value <= kMaxExtent, "kernel ", kernel[i], ", stride ", strides[i], " and dilation ",
                   dilations[i], " must lie between 1 and ", kMaxExtent);
    }
    for (int64_t value : {pads[i], pads[rank + i]}) {
      call.Require(value >= -kMaxExtent && value <= kMaxExtent, "pad ", value, " is beyond ", kMaxExtent);
    }
    call.Require(w.input[d] <= kMaxExtent && w.output[d] <= kMaxExtent, "a spatial dimension exceeds ", kMaxExtent);
  }
  return w;
}

Tensor MoveDimension(const Tensor& tensor, size_t from, size_t to) {
  Shape shape = tensor.shape();
  Strides strides = ContiguousStrides(shape);
  int64_t size = shape[from], stride = strides[from];
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(from));
  strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(from));
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(to), size);
  strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(to), stride);
  Tensor result(TensorType{tensor.element(), shape});
  if (result.size() == 0) return result;
  ForEachRow<1>(shape, {strides}, [&](int64_t position, const auto& offsets, int64_t length) {
    for (int64_t i = 0; i < length; ++i) CopyElements(tensor, offsets[0] + i * strides.back(), result, position + i, 1);
  });
  return result;
}

Tensor ChannelsFirst(const Tensor& tensor, bool channels_last) {
  return channels_last ? MoveDimension(tensor, tensor.shape().size() - 1, 1) : tensor;
}

TensorType ChannelsFirstType(const TensorType& type, bool channels_last) {
  TensorType result = type;
  if (channels_last) {
    int64_t channels = result.shape.back();
    result.shape.pop_back();
    result.shape.insert(result.shape.begin() + 1, channels);
  }
  return result;
}

Tensor ToLayout(Tensor channels_first, bool channels_last) {
  return channels_last ? MoveDimension(channels_first, 1, channels_first.shape().size() - 1) : channels_first;
}

}  // namespace aot::reference
