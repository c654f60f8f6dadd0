#include "clients/tensor_io/onnx_tensor.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "third_party/onnx/onnx.pb.h"

namespace aot::clients {
namespace {

namespace pb = ::aot::onnx;
using reference::ElementType;
using reference::Tensor;

// onnx.proto allows any rank; nothing real goes beyond a few.
constexpr int kMaxRank = 64;

absl::Status Bad(absl::string_view where, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": not a usable ONNX tensor: ", what));
}

int BitsPerElement(ElementType type) {
  switch (type) {
    case ElementType::kUint4:
    case ElementType::kInt4:
    case ElementType::kFloat4E2M1:
      return 4;
    case ElementType::kUint2:
    case ElementType::kInt2:
      return 2;
    default:
      return reference::StorageBits(type);
  }
}

bool IsSignedSubByte(ElementType type) { return type == ElementType::kInt4 || type == ElementType::kInt2; }

// Spreads 2- and 4-bit values, packed from the low bits up, to one byte each (signed ones with their sign).
void Unpack(absl::string_view packed, int bits, bool is_signed, absl::Span<uint8_t> out) {
  const int per_byte = 8 / bits;
  for (size_t i = 0; i < out.size(); ++i) {
    int shift = static_cast<int>(i % per_byte) * bits;
    uint8_t value = (static_cast<uint8_t>(packed[i / per_byte]) >> shift) & ((1 << bits) - 1);
    if (is_signed && (value >> (bits - 1)) != 0) value |= static_cast<uint8_t>(0xff << bits);
    out[i] = value;
  }
}

std::string Pack(absl::Span<const uint8_t> values, int bits) {
  const size_t per_byte = 8 / bits;
  std::string packed((values.size() + per_byte - 1) / per_byte, '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    packed[i / per_byte] |= static_cast<char>((values[i] & ((1 << bits) - 1)) << ((i % per_byte) * bits));
  }
  return packed;
}

// Copies a typed field, which ONNX widens to at least 32 bits an element, to the tensor's own width: on a little-endian
// machine the low bytes.
template <typename Field>
absl::Status CopyField(const Field& field, absl::string_view where, Tensor* tensor) {
  if (field.size() != tensor->size()) {
    return Bad(where, absl::StrCat("shape ", reference::ToString(tensor->shape()), " but ", field.size(), " values"));
  }
  const size_t width = static_cast<size_t>(reference::StorageBits(tensor->element())) / 8;
  uint8_t* out = tensor->mutable_bytes().data();
  for (const auto& value : field) {
    memcpy(out, &value, width);
    out += width;
  }
  return absl::OkStatus();
}

absl::Status CopyRaw(absl::string_view raw, absl::string_view where, Tensor* tensor) {
  const int bits = BitsPerElement(tensor->element());
  const uint64_t count = static_cast<uint64_t>(tensor->size());
  const uint64_t want = bits >= 8 ? count * (bits / 8) : (count + 8 / bits - 1) / (8 / bits);
  if (raw.size() != want) {
    return Bad(where,
               absl::StrCat("shape ", reference::ToString(tensor->shape()), " of ", reference::Name(tensor->element()),
                            " takes ", want, " bytes of raw_data, it has ", raw.size()));
  }
  if (bits < 8) {
    Unpack(raw, bits, IsSignedSubByte(tensor->element()), tensor->mutable_bytes());
  } else if (!raw.empty()) {
    memcpy(tensor->mutable_bytes().data(), raw.data(), raw.size());
  }
  return absl::OkStatus();
}

absl::Status CopyTypedField(const pb::TensorProto& proto, absl::string_view where, Tensor* tensor) {
  const int bits = BitsPerElement(tensor->element());
  switch (tensor->element()) {
    case ElementType::kFloat32:
      return CopyField(proto.float_data(), where, tensor);
    case ElementType::kFloat64:
      return CopyField(proto.double_data(), where, tensor);
    case ElementType::kInt64:
      return CopyField(proto.int64_data(), where, tensor);
    case ElementType::kUint32:
    case ElementType::kUint64:
      return CopyField(proto.uint64_data(), where, tensor);
    default:
      break;
  }
  if (bits >= 8) return CopyField(proto.int32_data(), where, tensor);
  std::string packed;  // an int32 holds one byte of packed values
  for (int32_t value : proto.int32_data()) packed.push_back(static_cast<char>(value));
  return CopyRaw(packed, where, tensor);
}

}  // namespace

absl::StatusOr<NamedTensor> ParseOnnxTensor(absl::string_view bytes, absl::string_view where) {
  pb::TensorProto proto;
  if (bytes.size() > INT32_MAX || !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Bad(where, "the bytes aren't a TensorProto");
  }
  if (proto.data_type() <= 0 || proto.data_type() > static_cast<int>(ElementType::kInt2)) {
    return Bad(where,
               absl::StrCat("data_type ", proto.data_type(), "; a sequence, a map or an optional is not a tensor"));
  }
  reference::TensorType type;
  type.element = static_cast<ElementType>(proto.data_type());
  if (type.element == ElementType::kComplex64 || type.element == ElementType::kComplex128) {
    return absl::UnimplementedError(absl::StrCat(where, ": complex numbers are not supported"));
  }
  if (proto.data_location() == pb::TensorProto::EXTERNAL) {
    return absl::UnimplementedError(absl::StrCat(where, ": external data in a tensor file; store the values in it"));
  }
  if (proto.dims_size() > kMaxRank) return Bad(where, absl::StrCat(proto.dims_size(), " dimensions"));
  type.shape.assign(proto.dims().begin(), proto.dims().end());
  std::optional<int64_t> count = reference::ElementCount(type.shape);
  // A tensor is never larger than its file by more than the packing of its values: check before memory is taken.
  if (!count || static_cast<uint64_t>(*count) > bytes.size() * 4) {
    return Bad(where,
               absl::StrCat("shape ", reference::ToString(type.shape), " in a file of ", bytes.size(), " bytes"));
  }
  NamedTensor result;
  result.name = proto.name();
  result.tensor = Tensor(type);
  absl::Status status;
  if (type.element == ElementType::kString) {
    if (proto.string_data_size() != *count) return Bad(where, absl::StrCat(proto.string_data_size(), " strings"));
    result.tensor.strings =
        std::make_shared<std::vector<std::string>>(proto.string_data().begin(), proto.string_data().end());
  } else if (proto.has_raw_data()) {
    status = CopyRaw(proto.raw_data(), where, &result.tensor);
  } else {
    status = CopyTypedField(proto, where, &result.tensor);
  }
  if (!status.ok()) return status;
  return result;
}

absl::StatusOr<std::string> SerializeOnnxTensor(absl::string_view name, const Tensor& tensor) {
  pb::TensorProto proto;
  for (int64_t dim : tensor.shape()) proto.add_dims(dim);
  proto.set_data_type(static_cast<int>(tensor.element()));
  proto.set_name(std::string(name));
  const int bits = BitsPerElement(tensor.element());
  if (tensor.element() == ElementType::kString) {
    for (const std::string& text : *tensor.strings) proto.add_string_data(text);
  } else if (bits < 8) {
    proto.set_raw_data(Pack(tensor.bytes(), bits));
  } else {
    proto.set_raw_data(tensor.bytes().data(), tensor.bytes().size());
  }
  std::string bytes;
  if (tensor.bytes().size() > INT32_MAX || !proto.SerializeToString(&bytes)) {
    return absl::InvalidArgumentError("a tensor of 2 GiB and more doesn't fit a .pb file; write .npy or .raw");
  }
  return bytes;
}

}  // namespace aot::clients
