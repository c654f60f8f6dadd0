#include "compiler/import/onnx/ops/window.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/onnx/shape_error.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

// Far above any real window; products of two such numbers and a dimension stay within 64 bits.
constexpr int64_t kLargest = int64_t{1} << 30;

absl::Status CheckList(const std::vector<int64_t>& values, absl::string_view name, size_t count, int64_t least) {
  if (values.size() != count) {
    return absl::InvalidArgumentError(
        absl::StrCat("the attribute ", name, " has ", values.size(), " entries, ", count, " are expected"));
  }
  for (int64_t value : values) {
    if (value < least || value > kLargest) {
      return absl::InvalidArgumentError(absl::StrCat("the attribute ", name, " has an entry ", value,
                                                     ", it must be in [", least, ", ", kLargest, "]"));
    }
  }
  return absl::OkStatus();
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

absl::StatusOr<Window> ReadWindow(Node& n, size_t spatial_rank, std::vector<int64_t> kernel) {
  Window window;
  window.kernel = n.Ints("kernel_shape", kernel);
  if (window.kernel.empty() && spatial_rank > 0)
    return absl::InvalidArgumentError("the attribute kernel_shape is missing");
  window.strides = n.Ints("strides", std::vector<int64_t>(spatial_rank, 1));
  window.dilations = n.Ints("dilations", std::vector<int64_t>(spatial_rank, 1));
  window.pads = n.Ints("pads", std::vector<int64_t>(2 * spatial_rank, 0));
  window.auto_pad = n.String("auto_pad", "NOTSET");
  RETURN_IF_ERROR(CheckList(window.kernel, "kernel_shape", spatial_rank, 1));
  RETURN_IF_ERROR(CheckList(window.strides, "strides", spatial_rank, 1));
  RETURN_IF_ERROR(CheckList(window.dilations, "dilations", spatial_rank, 1));
  if (!kernel.empty() && kernel != window.kernel) {
    return absl::InvalidArgumentError(absl::StrCat("the attribute kernel_shape is ", absl::StrJoin(window.kernel, "x"),
                                                   ", the filter's kernel ", absl::StrJoin(kernel, "x")));
  }
  if (window.auto_pad != "NOTSET" && window.auto_pad != "VALID" && window.auto_pad != "SAME_UPPER" &&
      window.auto_pad != "SAME_LOWER") {
    return absl::InvalidArgumentError(absl::StrCat("the attribute auto_pad is ", Quoted(window.auto_pad),
                                                   "; it must be NOTSET, VALID, SAME_UPPER or SAME_LOWER"));
  }
  // Many exporters write pads of zeros beside auto_pad, which wins.
  if (window.auto_pad != "NOTSET") window.pads.assign(2 * spatial_rank, 0);
  RETURN_IF_ERROR(CheckList(window.pads, "pads", 2 * spatial_rank, 0));
  return window;
}

absl::StatusOr<reference::Shape> SlidingSizes(Window& window, absl::Span<const int64_t> spatial, bool ceil_mode) {
  const size_t rank = window.rank();
  reference::Shape sizes;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t in = spatial[i], stride = window.strides[i], extent = window.extent(i);
    int64_t& begin = window.pads[i];
    int64_t& end = window.pads[rank + i];
    if (window.auto_pad == "SAME_UPPER" || window.auto_pad == "SAME_LOWER") {
      const int64_t out = CeilDiv(in, stride);
      const int64_t total = std::max<int64_t>(0, (out - 1) * stride + extent - in);
      begin = window.auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      end = total - begin;
      sizes.push_back(out);
      continue;
    }
    const int64_t room = in + begin + end - extent;
    if (room < 0) {
      return ShapeError(absl::StrCat("the window of ", extent, " elements is larger than the padded input of ",
                                     in + begin + end, " in spatial dimension ", i));
    }
    int64_t out = (ceil_mode ? CeilDiv(room, stride) : room / stride) + 1;
    // No window starts in the padding at the end.
    if (ceil_mode && (out - 1) * stride >= in + begin) --out;
    sizes.push_back(out);
  }
  return sizes;
}

}  // namespace aot::import::onnx
