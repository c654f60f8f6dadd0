// Softmax, LogSoftmax and Hardmax.
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::Shape;

absl::StatusOr<Results> ImportSoftmax(Node& n) {
  const Value& x = n.In(0);
  std::string name = "softmax";
  if (n.op() == "LogSoftmax") name = "log_softmax";
  if (n.op() == "Hardmax") name = "hardmax";
  if (n.version() >= 13) {
    ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", -1), x.rank()));
    return Results{n.b.Unary(std::move(name), x, {{"axis", axis}})};
  }
  // Before opset 13 all dimensions from axis on count as one.
  const int64_t given = n.Int("axis", 1);
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(given, x.rank() + (given == x.rank() ? 1 : 0)));
  if (axis == x.rank() - 1) return Results{n.b.Unary(std::move(name), x, {{"axis", axis}})};
  const auto dims = absl::MakeConstSpan(x.shape());
  Shape flat{Elements(dims.first(static_cast<size_t>(axis))), Elements(dims.subspan(static_cast<size_t>(axis)))};
  const Value result = n.b.Unary(std::move(name), n.b.Reshape(x, flat), {{"axis", int64_t{1}}});
  return Results{n.b.Reshape(result, x.shape())};
}

}  // namespace

Family SoftmaxFamily() {
  static const std::vector<Operator> operators = {
      {"Hardmax", {1, 11, 13}, 1, 1, ImportSoftmax},
      {"LogSoftmax", {1, 11, 13}, 1, 1, ImportSoftmax},
      {"Softmax", {1, 11, 13}, 1, 1, ImportSoftmax},
  };
  return {"softmax", operators};
}

}  // namespace aot::import::onnx
