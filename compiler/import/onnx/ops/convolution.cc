// Convolutions and transposed convolutions over one to three spatial dimensions.
#include "compiler/import/onnx/ops/convolution.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/window.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/shape_error.h"

namespace aot::import::onnx {
namespace {

using reference::Shape;

absl::Status CheckBias(const Value& bias, int64_t channels, reference::ElementType element) {
  if (!bias || (bias.shape() == Shape{channels} && bias.element() == element)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the bias is ", reference::Name(bias.element()), " ",
                                                 reference::ToString(bias.shape()), ", ", reference::Name(element), " ",
                                                 channels, " is expected"));
}

absl::Status CheckSpatialRank(const Value& input, const Value& filter) {
  if (input.rank() != filter.rank() || input.rank() < 3) {
    return ShapeError(absl::StrCat("input ", reference::ToString(input.shape()), " and filter ",
                                   reference::ToString(filter.shape()),
                                   " must have the same number of dimensions, at least 3"));
  }
  if (input.rank() > 5) {
    return Unsupported(absl::StrCat(input.rank() - 2, " spatial dimensions"), "1 to 3 spatial dimensions");
  }
  return absl::OkStatus();
}

absl::StatusOr<Results> ImportConv(Node& n) {
  RETURN_IF_ERROR(n.RequireSameElement(0, 1));
  ASSIGN_OR_RETURN(Value result, Convolve(n, n.In(0), n.In(1), n.In(2), n.In(0).element()));
  return Results{result};
}

// Padding of a transposed convolution so that the output has the sizes asked for. What doesn't divide evenly goes to
// the end for SAME_UPPER, to the beginning otherwise.
void PadForSizes(Window& window, absl::Span<const int64_t> spatial, absl::Span<const int64_t> output_padding,
                 absl::Span<const int64_t> sizes) {
  const size_t rank = window.rank();
  for (size_t i = 0; i < rank; ++i) {
    const int64_t full = (spatial[i] - 1) * window.strides[i] + output_padding[i] + window.extent(i);
    const int64_t total = std::max<int64_t>(0, full - sizes[i]);
    window.pads[i] = window.auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    window.pads[rank + i] = total - window.pads[i];
  }
}

absl::StatusOr<Results> ImportConvTranspose(Node& n) {
  const Value& input = n.In(0);
  const Value& filter = n.In(1);
  RETURN_IF_ERROR(n.RequireSameElement(0, 1));
  RETURN_IF_ERROR(CheckSpatialRank(input, filter));
  const size_t rank = static_cast<size_t>(input.rank()) - 2;
  const int64_t group = n.Int("group", 1);
  if (group < 1 || input.dim(1) != filter.dim(0) || input.dim(1) % group != 0) {
    return ShapeError(absl::StrCat("input ", reference::ToString(input.shape()), ", filter ",
                                   reference::ToString(filter.shape()), " and group ", group,
                                   " don't fit: the filter needs the input's channels, a multiple of group"));
  }
  ASSIGN_OR_RETURN(Window window,
                   ReadWindow(n, rank, std::vector<int64_t>(filter.shape().begin() + 2, filter.shape().end())));
  const std::vector<int64_t> output_padding = n.Ints("output_padding", std::vector<int64_t>(rank, 0));
  std::vector<int64_t> sizes = n.Ints("output_shape");
  if (output_padding.size() != rank || (!sizes.empty() && sizes.size() != rank)) {
    return absl::InvalidArgumentError(absl::StrCat("output_padding and output_shape need ", rank, " entries"));
  }
  const absl::Span<const int64_t> spatial = absl::MakeConstSpan(input.shape()).subspan(2);
  const bool same = window.auto_pad == "SAME_UPPER" || window.auto_pad == "SAME_LOWER";
  for (size_t i = 0; i < rank; ++i) {
    if (output_padding[i] < 0 || output_padding[i] >= std::max(window.strides[i], window.dilations[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("output_padding ", output_padding[i], " must be smaller than the stride or the dilation"));
    }
    if (same && sizes.size() < rank) sizes.push_back(spatial[i] * window.strides[i]);
  }
  if (!sizes.empty()) {
    PadForSizes(window, spatial, output_padding, sizes);
  } else {
    for (size_t i = 0; i < rank; ++i) {
      sizes.push_back((spatial[i] - 1) * window.strides[i] + output_padding[i] + window.extent(i) - window.pads[i] -
                      window.pads[rank + i]);
    }
  }
  Shape shape{input.dim(0), filter.dim(1) * group};
  for (int64_t size : sizes) {
    if (size < 1) return ShapeError(absl::StrCat("the output would have a dimension of ", size));
    shape.push_back(size);
  }
  RETURN_IF_ERROR(CheckBias(n.In(2), shape[1], input.element()));
  return Results{
      n.b.Emit("conv_transpose",
               {{"strides", window.strides}, {"pads", window.pads}, {"dilations", window.dilations}, {"group", group}},
               {input, filter, n.In(2)}, {input.element(), std::move(shape)})};
}

}  // namespace

absl::StatusOr<Value> Convolve(Node& n, const Value& input, const Value& filter, const Value& bias,
                               reference::ElementType result) {
  RETURN_IF_ERROR(CheckSpatialRank(input, filter));
  const int64_t group = n.Int("group", 1);
  if (group < 1 || filter.dim(0) % group != 0 || input.dim(1) != filter.dim(1) * group) {
    return ShapeError(absl::StrCat("input ", reference::ToString(input.shape()), ", filter ",
                                   reference::ToString(filter.shape()), " and group ", group,
                                   " don't fit: the input needs group x ", filter.dim(1),
                                   " channels, the filter a multiple of group outputs"));
  }
  RETURN_IF_ERROR(CheckBias(bias, filter.dim(0), result));
  ASSIGN_OR_RETURN(Window window, ReadWindow(n, static_cast<size_t>(input.rank()) - 2,
                                             std::vector<int64_t>(filter.shape().begin() + 2, filter.shape().end())));
  ASSIGN_OR_RETURN(Shape sizes,
                   SlidingSizes(window, absl::MakeConstSpan(input.shape()).subspan(2), /*ceil_mode=*/false));
  Shape shape{input.dim(0), filter.dim(0)};
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  return n.b.Emit(
      "conv", {{"strides", window.strides}, {"pads", window.pads}, {"dilations", window.dilations}, {"group", group}},
      {input, filter, bias}, {result, std::move(shape)});
}

Family ConvolutionFamily() {
  static const std::vector<Operator> operators = {
      {"Conv", {1, 11, 22}, 2, 3, ImportConv},
      {"ConvTranspose", {1, 11, 22}, 2, 3, ImportConvTranspose},
  };
  return {"convolution", operators};
}

}  // namespace aot::import::onnx
