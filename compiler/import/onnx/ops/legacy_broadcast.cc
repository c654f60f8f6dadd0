#include "compiler/import/onnx/ops/legacy_broadcast.h"

#include "absl/strings/str_cat.h"

namespace aot::import::onnx {

absl::StatusOr<Value> LegacyBroadcast(Node& n) {
  const Value& a = n.In(0);
  const Value& rhs = n.In(1);
  if (n.opset() >= 7) return rhs;
  if (!n.Flag("broadcast", false)) {
    if (a.shape() == rhs.shape()) return rhs;
    return absl::InvalidArgumentError(absl::StrCat("shapes ", reference::ToString(a.shape()), " and ",
                                                   reference::ToString(rhs.shape()),
                                                   " differ; before opset 7 that needs the attribute broadcast=1"));
  }
  if (rhs.rank() > a.rank()) return absl::InvalidArgumentError("the second input has more dimensions than the first");
  // Without an axis the last dimensions match, as in NumPy.
  if (!n.HasAttribute("axis")) return rhs;
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", 0), a.rank() + 1));
  if (axis + rhs.rank() > a.rank()) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " leaves no room for the ", rhs.rank(), " dimensions of the second input"));
  }
  reference::Shape shape = rhs.shape();
  shape.resize(static_cast<size_t>(a.rank() - axis), 1);
  return n.b.Reshape(rhs, std::move(shape));
}

}  // namespace aot::import::onnx
