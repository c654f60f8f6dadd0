#include "compiler/import/onnx/select.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/node.h"
#include "compiler/import/onnx/status_macros.h"

namespace aot::import::onnx {
namespace {

std::string Form(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kTensor:
      return absl::StrCat(reference::Name(value.element()), " ", reference::ToString(value.shape()));
    case Value::Kind::kSequence:
      return absl::StrCat("a sequence of ", value.elements().size(), " tensors of ", reference::Name(value.element()));
    case Value::Kind::kOptional:
      break;
  }
  if (value.elements().empty()) return "an optional without an element";
  return absl::StrCat("an optional that holds ", Form(value.elements().front()));
}

bool HaveOneForm(const Value& a, const Value& b) {
  if (a.kind() != b.kind() || a.elements().size() != b.elements().size()) return false;
  if (a.is_tensor()) return a.type() == b.type();
  return a.kind() == Value::Kind::kOptional || a.element() == b.element();
}

}  // namespace

absl::StatusOr<Value> Select(Builder& builder, const Value& truth, const Value& a, const Value& b,
                             absl::string_view what, absl::string_view decider) {
  if (!HaveOneForm(a, b)) {
    return Unsupported(
        absl::StrCat(what, " is ", Form(a), " or ", Form(b), ", which only ", decider, " at run time decides"),
        a.is_tensor() && b.is_tensor() ? "one type and shape" : "one kind of value, with one number of elements");
  }
  if (a.is_tensor()) return builder.Where(truth, a, b);
  std::vector<Value> elements;
  for (size_t i = 0; i < a.elements().size(); ++i) {
    ASSIGN_OR_RETURN(Value element, Select(builder, truth, a.elements()[i], b.elements()[i],
                                           absl::StrCat("element ", i, " of ", what), decider));
    elements.push_back(std::move(element));
  }
  if (a.kind() == Value::Kind::kSequence) return builder.Sequence(a.element(), std::move(elements));
  return Builder::Optional(elements.empty() ? Value() : elements.front());
}

absl::StatusOr<Value> Poison(Builder& builder, const Value& like, const absl::Status& why) {
  if (like.is_tensor()) {
    if (!reference::IsFloat(like.element())) return why;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return builder.Broadcast(builder.Scalar(like.element(), nan), like.shape());
  }
  std::vector<Value> elements;
  for (const Value& element : like.elements()) {
    ASSIGN_OR_RETURN(Value poison, Poison(builder, element, why));
    elements.push_back(std::move(poison));
  }
  if (like.kind() == Value::Kind::kSequence) return builder.Sequence(like.element(), std::move(elements));
  return Builder::Optional(elements.empty() ? Value() : elements.front());
}

}  // namespace aot::import::onnx
