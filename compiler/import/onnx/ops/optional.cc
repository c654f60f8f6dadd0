// Optionals: values that hold a tensor, a sequence, or nothing. Which of these it is, is known while importing, so
// nothing of them is left in the function.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;

absl::StatusOr<Results> ImportOptional(Node& n) {
  if (n.Has(0)) {
    if (n.In(0).kind() != Value::Kind::kOptional) return Results{Builder::Optional(n.In(0))};
    return absl::InvalidArgumentError("input 0 is an optional; an optional holds a tensor or a sequence");
  }
  // Without an input, a type says what isn't there.
  const AttributeProto* type = n.Find("type");
  if (!type || !type->has_tp()) return absl::InvalidArgumentError("without an input it needs the attribute type");
  if (!type->tp().has_tensor_type() && !type->tp().has_sequence_type()) {
    return absl::InvalidArgumentError("attribute type must be the type of a tensor or a sequence");
  }
  return Results{Builder::Optional(Value())};
}

// A tensor or a sequence in the place of an optional is one that is there.
absl::StatusOr<Results> ImportOptionalHasElement(Node& n) {
  const bool has = n.Has(0) && (n.In(0).kind() != Value::Kind::kOptional || !n.In(0).elements().empty());
  return Results{n.b.Scalar(ElementType::kBool, has ? 1 : 0)};
}

absl::StatusOr<Results> ImportOptionalGetElement(Node& n) {
  if (n.In(0).kind() != Value::Kind::kOptional) return Results{n.In(0)};
  if (!n.In(0).elements().empty()) return Results{n.In(0).elements().front()};
  return absl::InvalidArgumentError("the optional has no element; OptionalHasElement tells");
}

}  // namespace

Family OptionalFamily() {
  static const std::vector<Operator> operators = {
      {"Optional", {15}, 0, 1, ImportOptional, true},
      {"OptionalGetElement", {15, 18}, 1, 1, ImportOptionalGetElement, true},
      {"OptionalHasElement", {15, 18}, 0, 1, ImportOptionalHasElement, true},
  };
  return {"optionals", operators};
}

}  // namespace aot::import::onnx
