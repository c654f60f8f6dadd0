#include "compiler/import/onnx/node.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/shape_error.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::Tensor;

bool HoldsValue(const AttributeProto& attribute, AttributeProto::AttributeType type) {
  switch (type) {
    case AttributeProto::FLOAT:
      return attribute.has_f();
    case AttributeProto::INT:
      return attribute.has_i();
    case AttributeProto::STRING:
      return attribute.has_s();
    default:
      return true;  // lists: an empty one leaves no trace on the wire
  }
}

// The attribute's type. IR version 1 had no such field: the value says it.
int TypeOf(const AttributeProto& attribute, AttributeProto::AttributeType wanted) {
  if (attribute.has_type() && attribute.type() != AttributeProto::UNDEFINED) return attribute.type();
  return HoldsValue(attribute, wanted) ? wanted : AttributeProto::UNDEFINED;
}

}  // namespace

absl::Status Unsupported(absl::string_view reason, absl::string_view supported) {
  return absl::UnimplementedError(UnsupportedText(reason, supported));
}

const AttributeProto* Node::Find(absl::string_view name) const {
  for (const AttributeProto& attribute : proto_.attribute()) {
    if (attribute.name() != name) continue;
    if (attribute.ref_attr_name().empty()) return &attribute;
    auto caller = caller_attributes_.find(attribute.ref_attr_name());
    return caller == caller_attributes_.end() ? nullptr : caller->second;
  }
  return nullptr;
}

const AttributeProto* Node::Typed(absl::string_view name, AttributeProto::AttributeType type,
                                  absl::string_view type_name) {
  const AttributeProto* attribute = Find(name);
  if (!attribute) return nullptr;
  if (TypeOf(*attribute, type) == type) return attribute;
  attribute_status_.Update(absl::InvalidArgumentError(
      absl::StrCat("attribute ", Quoted(name), " has the wrong type; it must be ", type_name)));
  return nullptr;
}

int64_t Node::Int(absl::string_view name, int64_t otherwise) {
  const AttributeProto* attribute = Typed(name, AttributeProto::INT, "an integer");
  return attribute ? attribute->i() : otherwise;
}

double Node::Float(absl::string_view name, double otherwise) {
  const AttributeProto* attribute = Typed(name, AttributeProto::FLOAT, "a float");
  return attribute ? static_cast<double>(attribute->f()) : otherwise;
}

std::string Node::String(absl::string_view name, absl::string_view otherwise) {
  const AttributeProto* attribute = Typed(name, AttributeProto::STRING, "a string");
  return attribute ? attribute->s() : std::string(otherwise);
}

std::vector<int64_t> Node::Ints(absl::string_view name, std::vector<int64_t> otherwise) {
  const AttributeProto* attribute = Typed(name, AttributeProto::INTS, "a list of integers");
  if (!attribute) return otherwise;
  return {attribute->ints().begin(), attribute->ints().end()};
}

std::vector<double> Node::Floats(absl::string_view name) {
  const AttributeProto* attribute = Typed(name, AttributeProto::FLOATS, "a list of floats");
  if (!attribute) return {};
  return {attribute->floats().begin(), attribute->floats().end()};
}

std::vector<std::string> Node::Strings(absl::string_view name) {
  const AttributeProto* attribute = Typed(name, AttributeProto::STRINGS, "a list of strings");
  if (!attribute) return {};
  return {attribute->strings().begin(), attribute->strings().end()};
}

absl::StatusOr<Tensor> Node::TensorAttribute(const AttributeProto& attribute) const {
  return ReadTensor(attribute.t(), storage_);
}

absl::StatusOr<Tensor> Node::SparseTensorAttribute(const AttributeProto& attribute) const {
  return ReadSparseTensor(attribute.sparse_tensor(), storage_);
}

absl::StatusOr<const Tensor*> Node::ConstantInput(size_t input, absl::string_view what) const {
  if (const Tensor* tensor = In(input).constant()) return tensor;
  return Unsupported(absl::StrCat("the result's dimensions depend on ", what, ", ",
                                  Quoted(proto_.input(static_cast<int>(input))), ", which is only known at run time"),
                     "constants and what follows from shapes");
}

absl::StatusOr<std::vector<int64_t>> Node::ConstantInts(size_t input, absl::string_view what) const {
  ASSIGN_OR_RETURN(const Tensor* tensor, ConstantInput(input, what));
  if (reference::IsFloat(tensor->element()) || tensor->shape().size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(what, " must be a list of integers, not ",
                                                   reference::Name(tensor->element()), " ",
                                                   reference::ToString(tensor->shape())));
  }
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor->size(); ++i) values.push_back(tensor->GetInt(i));
  return values;
}

absl::StatusOr<std::vector<double>> Node::ConstantFloats(size_t input, absl::string_view what) const {
  ASSIGN_OR_RETURN(const Tensor* tensor, ConstantInput(input, what));
  if (!reference::IsFloat(tensor->element()) || tensor->shape().size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(what, " must be a list of floats, not ",
                                                   reference::Name(tensor->element()), " ",
                                                   reference::ToString(tensor->shape())));
  }
  std::vector<double> values;
  for (int64_t i = 0; i < tensor->size(); ++i) values.push_back(tensor->GetFloat(i));
  return values;
}

absl::StatusOr<int64_t> Node::ConstantInt(size_t input, absl::string_view what) const {
  ASSIGN_OR_RETURN(std::vector<int64_t> values, ConstantInts(input, what));
  if (values.size() == 1) return values.front();
  return absl::InvalidArgumentError(absl::StrCat(what, " must be one integer, not ", values.size()));
}

absl::StatusOr<int64_t> Node::Axis(int64_t axis, int64_t rank, absl::string_view what) const {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  return ShapeError(absl::StrCat(what, " ", axis, " is outside of [", -rank, ", ", rank - 1, "]"));
}

absl::StatusOr<std::vector<int64_t>> Node::Axes(std::vector<int64_t> axes, int64_t rank) const {
  for (int64_t& axis : axes) {
    ASSIGN_OR_RETURN(axis, Axis(axis, rank));
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    return absl::InvalidArgumentError("an axis is given twice");
  }
  return axes;
}

absl::Status Node::RequireRank(size_t input, int64_t least, int64_t most) const {
  const int64_t rank = In(input).rank();
  if (rank >= least && rank <= most) return absl::OkStatus();
  return ShapeError(absl::StrCat("input ", input, " has ", rank, " dimensions (",
                                 reference::ToString(In(input).shape()), "), ", least == most ? "" : "at least ",
                                 rank < least || least == most ? least : most, " are expected"));
}

absl::Status Node::RequireSameElement(size_t a, size_t b) const {
  if (In(a).element() == In(b).element()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("inputs ", a, " and ", b, " must have one element type, not ",
                                                 reference::Name(In(a).element()), " and ",
                                                 reference::Name(In(b).element())));
}

absl::Status Node::RequireFloat(size_t input) const {
  if (reference::IsFloat(In(input).element())) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("input ", input, " is ", reference::Name(In(input).element()), ", a float type is expected"));
}

absl::Status Node::RequireBroadcast(absl::Span<const int64_t> a, absl::Span<const int64_t> b) const {
  if (BroadcastShape(a, b)) return absl::OkStatus();
  return ShapeError(
      absl::StrCat("shapes ", reference::ToString(a), " and ", reference::ToString(b), " don't broadcast"));
}

absl::StatusOr<Value> Node::Broadcasting(std::string name, const Value& a, const Value& c,
                                         reference::Attributes attributes) {
  RETURN_IF_ERROR(RequireBroadcast(a.shape(), c.shape()));
  return b.Binary(std::move(name), a, c, std::move(attributes));
}

}  // namespace aot::import::onnx
