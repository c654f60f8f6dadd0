#include "clients/tensor_io/onnx_value.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "clients/tensor_io/onnx_tensor.h"

namespace aot::clients {
namespace {

namespace pb = ::aot::onnx;

template <typename Message>
absl::StatusOr<Message> Parse(absl::string_view bytes, absl::string_view where, absl::string_view what) {
  Message message;
  if (bytes.size() <= INT32_MAX && message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return message;
  return absl::InvalidArgumentError(absl::StrCat(where, ": the bytes aren't ", what));
}

absl::Status Append(const pb::TensorProto& proto, absl::string_view where, OnnxValue* value) {
  absl::StatusOr<NamedTensor> tensor = ParseOnnxTensor(proto.SerializeAsString(), where);
  if (!tensor.ok()) return tensor.status();
  value->tensors.push_back(std::move(tensor->tensor));
  return absl::OkStatus();
}

absl::StatusOr<OnnxValue> FromSequence(const pb::SequenceProto& sequence, absl::string_view where) {
  if (sequence.sequence_values_size() > 0 || sequence.optional_values_size() > 0) {
    return absl::UnimplementedError(absl::StrCat(where, ": a sequence of other values than tensors"));
  }
  OnnxValue value;
  for (const pb::TensorProto& tensor : sequence.tensor_values()) {
    if (absl::Status status = Append(tensor, where, &value); !status.ok()) return status;
  }
  return value;
}

absl::StatusOr<OnnxValue> FromOptional(const pb::OptionalProto& optional, bool of_sequence, absl::string_view where) {
  if (of_sequence && optional.has_sequence_value()) return FromSequence(optional.sequence_value(), where);
  OnnxValue value;
  if (!of_sequence && optional.has_tensor_value()) {
    absl::Status status = Append(optional.tensor_value(), where, &value);
    if (!status.ok()) return status;
    return value;
  }
  if (optional.has_tensor_value() || optional.has_sequence_value() || optional.has_optional_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": the optional holds another kind of value than the model states"));
  }
  value.present = false;
  return value;
}

}  // namespace

const pb::TypeProto::Tensor* TensorTypeWithin(const pb::TypeProto& type) {
  const pb::TypeProto* inner = &type;
  if (inner->has_optional_type()) inner = &inner->optional_type().elem_type();
  if (inner->has_sequence_type()) inner = &inner->sequence_type().elem_type();
  return inner->has_tensor_type() ? &inner->tensor_type() : nullptr;
}

bool IsSequence(const pb::TypeProto& type) {
  return (type.has_optional_type() ? type.optional_type().elem_type() : type).has_sequence_type();
}

absl::StatusOr<OnnxValue> ParseOnnxValue(absl::string_view bytes, const pb::TypeProto& type, absl::string_view where) {
  if (TensorTypeWithin(type) == nullptr) {
    return absl::UnimplementedError(absl::StrCat(where, ": neither a tensor nor a sequence or an optional of tensors"));
  }
  if (type.has_optional_type()) {
    auto optional = Parse<pb::OptionalProto>(bytes, where, "an OptionalProto");
    if (!optional.ok()) return optional.status();
    return FromOptional(*optional, IsSequence(type), where);
  }
  if (type.has_sequence_type()) {
    auto sequence = Parse<pb::SequenceProto>(bytes, where, "a SequenceProto");
    if (!sequence.ok()) return sequence.status();
    return FromSequence(*sequence, where);
  }
  absl::StatusOr<NamedTensor> tensor = ParseOnnxTensor(bytes, where);
  if (!tensor.ok()) return tensor.status();
  OnnxValue value;
  value.tensors.push_back(std::move(tensor->tensor));
  return value;
}

std::vector<std::string> TensorNames(const std::string& name, const pb::TypeProto& type, size_t count) {
  if (!IsSequence(type)) return std::vector<std::string>(count, name);
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(absl::StrCat(name, "[", i, "]"));
  return names;
}

}  // namespace aot::clients
