#include "compiler/reference/call.h"

#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

const Tensor& EmptyTensor() {
  static const Tensor* const kEmpty = new Tensor(TensorType{ElementType::kFloat32, {0}});
  return *kEmpty;
}

}  // namespace

void Call::Record(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

const Tensor& Call::Operand(int index, absl::string_view operand_name) {
  const Tensor* operand = OptionalOperand(index);
  if (!Require(operand != nullptr, "operand ", index, " (", operand_name, ") is missing")) return EmptyTensor();
  return *operand;
}

const Tensor* Call::OptionalOperand(int index) const {
  return index < operand_count() ? operands_[static_cast<size_t>(index)] : nullptr;
}

const TensorType& Call::Result(int index) {
  if (!Require(index < result_count(), "needs ", index + 1, " result types, has ", result_count())) {
    return EmptyTensor().type();
  }
  return operation_.results[static_cast<size_t>(index)];
}

const Attribute* Call::Find(absl::string_view attribute) const {
  auto found = operation_.attributes.find(std::string(attribute));
  return found == operation_.attributes.end() ? nullptr : &found->second;
}

template <class T>
T Call::Get(absl::string_view attribute, absl::string_view kind) {
  const Attribute* found = Find(attribute);
  if (!Require(found != nullptr, "attribute ", attribute, " is missing")) return T{};
  const T* value = std::get_if<T>(found);
  if (!Require(value != nullptr, "attribute ", attribute, " is not ", kind)) return T{};
  return *value;
}

bool Call::Flag(absl::string_view attribute) { return Find(attribute) != nullptr && Get<bool>(attribute, "a boolean"); }
int64_t Call::Int(absl::string_view attribute) { return Get<int64_t>(attribute, "an integer"); }
double Call::Float(absl::string_view attribute) { return Get<double>(attribute, "a float"); }
std::string Call::String(absl::string_view attribute) { return Get<std::string>(attribute, "a string"); }
std::vector<double> Call::Floats(absl::string_view attribute) {
  return Get<std::vector<double>>(attribute, "a list of floats");
}
std::vector<int64_t> Call::Ints(absl::string_view attribute) {
  return Get<std::vector<int64_t>>(attribute, "a list of integers");
}

std::vector<int64_t> Call::Ints(absl::string_view attribute, size_t count) {
  std::vector<int64_t> values = Ints(attribute);
  if (!Require(values.size() == count, "attribute ", attribute, " has ", values.size(), " entries, needs ", count)) {
    values.assign(count, 0);
  }
  return values;
}

int64_t Call::Axis(absl::string_view attribute, const Tensor& tensor) {
  int64_t axis = Int(attribute), rank = static_cast<int64_t>(tensor.shape().size());
  bool inside = axis >= 0 && axis < rank;
  return Require(inside, attribute, " ", axis, " is outside a tensor of rank ", rank) ? axis : 0;
}

bool Call::RequireSupported(bool condition, ElementType type) {
  if (!condition)
    Record(absl::UnimplementedError(absl::StrCat(name(), ": no reference for element type ", Name(type))));
  return condition;
}

bool Call::RequireNumeric(const Tensor& tensor) {
  return RequireSupported(ComputeTypeOf(tensor.element()) != Compute::kNone, tensor.element());
}

bool Call::RequireShape(absl::string_view what, absl::Span<const int64_t> actual, absl::Span<const int64_t> expected) {
  return Require(actual == expected, what, " has shape ", ToString(actual), ", needs ", ToString(expected));
}

bool Call::RequireElement(absl::string_view what, ElementType actual, ElementType expected) {
  return Require(actual == expected, what, " has element type ", Name(actual), ", needs ", Name(expected));
}

}  // namespace aot::reference
