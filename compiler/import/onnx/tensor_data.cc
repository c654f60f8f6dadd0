#include "compiler/import/onnx/tensor_data.h"

#include <cstring>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/status_macros.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Tensor;
using reference::TensorType;

// The largest tensor that a sparse one may expand to.
constexpr int64_t kMostSparseElements = int64_t{1} << 28;

// Bits of one element in raw_data, where types below 8 bits are packed (unlike in a Tensor).
int PackedBits(ElementType element) {
  switch (element) {
    case ElementType::kInt4:
    case ElementType::kUint4:
    case ElementType::kFloat4E2M1:
      return 4;
    case ElementType::kInt2:
    case ElementType::kUint2:
      return 2;
    default:
      return reference::StorageBits(element);
  }
}

// One element a byte; signed types with their sign extended. The first element is in the lowest bits.
Tensor Unpack(TensorType type, absl::Span<const uint8_t> packed) {
  const int bits = PackedBits(type.element);
  const int per_byte = 8 / bits;
  const bool is_signed = reference::IsSignedInteger(type.element);
  Tensor tensor(std::move(type));
  absl::Span<uint8_t> bytes = tensor.mutable_bytes();
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int shift = static_cast<int>(i % per_byte) * bits;
    uint8_t value = static_cast<uint8_t>(packed[i / per_byte] >> shift) & static_cast<uint8_t>((1 << bits) - 1);
    if (is_signed && (value >> (bits - 1)) != 0) value |= static_cast<uint8_t>(0xFF << bits);
    bytes[i] = value;
  }
  return tensor;
}

// Bytes as they stand in raw_data or an external blob.
absl::StatusOr<Tensor> FromRaw(TensorType type, int64_t count, absl::Span<const uint8_t> raw,
                               std::shared_ptr<const void> owner) {
  const int bits = PackedBits(type.element);
  const int64_t need = bits >= 8 ? count * (bits / 8) : (count * bits + 7) / 8;
  if (static_cast<int64_t>(raw.size()) != need) {
    return absl::InvalidArgumentError(absl::StrCat(raw.size(), " bytes of data, ", reference::Name(type.element), " ",
                                                   reference::ToString(type.shape), " takes ", need));
  }
  if (bits < 8) return Unpack(std::move(type), raw);
  return Tensor(std::move(type), std::move(owner), raw);
}

template <typename Field>
absl::StatusOr<Tensor> FromField(TensorType type, int64_t need, const Field& field, absl::string_view name,
                                 std::shared_ptr<const void> owner) {
  if (field.size() != need) {
    return absl::InvalidArgumentError(absl::StrCat(field.size(), " entries in ", name, ", ",
                                                   reference::Name(type.element), " ", reference::ToString(type.shape),
                                                   " takes ", need));
  }
  absl::Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(field.data()),
                                  static_cast<size_t>(field.size()) * sizeof(*field.data()));
  return Tensor(std::move(type), std::move(owner), bytes);
}

// Types that share int32_data (and uint32 in uint64_data): the low bits of each entry.
template <typename Field>
absl::StatusOr<Tensor> FromWiderField(TensorType type, int64_t count, const Field& field, absl::string_view name) {
  const int bits = PackedBits(type.element);
  const int64_t need = bits >= 8 ? count : (count * bits + 7) / 8;
  if (field.size() != need) {
    return absl::InvalidArgumentError(absl::StrCat(field.size(), " entries in ", name, ", ",
                                                   reference::Name(type.element), " ", reference::ToString(type.shape),
                                                   " takes ", need));
  }
  if (bits < 8) {
    std::vector<uint8_t> packed(field.begin(), field.end());
    return Unpack(std::move(type), packed);
  }
  const size_t width = static_cast<size_t>(bits) / 8;
  const bool is_bool = type.element == ElementType::kBool;
  Tensor tensor(std::move(type));
  uint8_t* out = tensor.mutable_bytes().data();
  for (auto entry : field) {
    const uint64_t value = is_bool ? static_cast<uint64_t>(entry != 0) : static_cast<uint64_t>(entry);
    std::memcpy(out, &value, width);  // the host is little-endian
    out += width;
  }
  return tensor;
}

absl::StatusOr<Tensor> FromExternal(TensorType type, int64_t count, const TensorProto& proto,
                                    const TensorStorage& storage) {
  const std::string* location = nullptr;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  for (const auto& entry : proto.external_data()) {
    uint64_t number = 0;
    const bool is_number = absl::SimpleAtoi(entry.value(), &number);
    if (entry.key() == "location") {
      location = &entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      if (!is_number) {
        return absl::InvalidArgumentError(absl::StrCat("external data: ", entry.key(), " is ", Quoted(entry.value()),
                                                       ", a number of bytes is expected"));
      }
      if (entry.key() == "offset") {
        offset = number;
      } else {
        length = number;
      }
    }
  }
  if (!location) return absl::InvalidArgumentError("external data without a location");
  auto blob =
      storage.external ? storage.external->find(*location) : std::map<std::string, std::string>::const_iterator();
  if (!storage.external || blob == storage.external->end()) {
    return absl::InvalidArgumentError(absl::StrCat("external data ", Quoted(*location),
                                                   " were not given: supply them under that name with the model"));
  }
  const uint64_t size = blob->second.size();
  if (offset > size || length.value_or(0) > size - offset) {
    return absl::InvalidArgumentError(absl::StrCat("external data ", Quoted(*location), ": offset ", offset,
                                                   " and length ", length.value_or(0), " are outside its ", size,
                                                   " bytes"));
  }
  absl::Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(blob->second.data()) + offset,
                                  length.value_or(size - offset));
  auto tensor = FromRaw(std::move(type), count, bytes, nullptr);
  if (!tensor.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("external data ", Quoted(*location), ": ", tensor.status().message()));
  }
  return tensor;
}

absl::StatusOr<Tensor> ReadUnnamed(const TensorProto& proto, const TensorStorage& storage) {
  TensorType type;
  ASSIGN_OR_RETURN(type.element, ToElementType(proto.data_type()));
  if (proto.has_segment())
    return absl::InvalidArgumentError("segmented tensors are not accepted: no writer makes them");
  type.shape.assign(proto.dims().begin(), proto.dims().end());
  RETURN_IF_ERROR(CheckShape(type.element, type.shape));
  const int64_t count = *reference::ElementCount(type.shape);
  if (proto.data_location() == TensorProto::EXTERNAL) return FromExternal(std::move(type), count, proto, storage);
  if (proto.has_raw_data()) {
    absl::Span<const uint8_t> raw(reinterpret_cast<const uint8_t*>(proto.raw_data().data()), proto.raw_data().size());
    return FromRaw(std::move(type), count, raw, storage.owner);
  }
  switch (type.element) {
    case ElementType::kFloat32:
      return FromField(std::move(type), count, proto.float_data(), "float_data", storage.owner);
    case ElementType::kComplex64:
      return FromField(std::move(type), 2 * count, proto.float_data(), "float_data", storage.owner);
    case ElementType::kFloat64:
      return FromField(std::move(type), count, proto.double_data(), "double_data", storage.owner);
    case ElementType::kComplex128:
      return FromField(std::move(type), 2 * count, proto.double_data(), "double_data", storage.owner);
    case ElementType::kInt64:
      return FromField(std::move(type), count, proto.int64_data(), "int64_data", storage.owner);
    case ElementType::kUint64:
      return FromField(std::move(type), count, proto.uint64_data(), "uint64_data", storage.owner);
    case ElementType::kInt32:
      return FromField(std::move(type), count, proto.int32_data(), "int32_data", storage.owner);
    case ElementType::kUint32:
      return FromWiderField(std::move(type), count, proto.uint64_data(), "uint64_data");
    default:
      return FromWiderField(std::move(type), count, proto.int32_data(), "int32_data");
  }
}

absl::Status Named(const absl::Status& status, absl::string_view name) {
  return absl::Status(status.code(), absl::StrCat("tensor ", Quoted(name), ": ", status.message()));
}

}  // namespace

absl::Status CheckShape(ElementType element, absl::Span<const int64_t> shape) {
  if (shape.size() > kHighestRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor of ", shape.size(), " dimensions; at most ", kHighestRank, " are accepted"));
  }
  for (int64_t dim : shape) {
    if (dim < 0)
      return absl::InvalidArgumentError(absl::StrCat("a dimension of ", dim, " in ", reference::ToString(shape)));
  }
  const auto count = reference::ElementCount(shape);
  const int64_t width = std::max(1, reference::StorageBits(element) / 8);
  if (!count || *count > kMostTensorBytes / width) {
    return absl::InvalidArgumentError(absl::StrCat("a tensor of ", reference::ToString(shape), " ",
                                                   reference::Name(element), " elements is larger than ",
                                                   kMostTensorBytes, " bytes"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ElementType> ToElementType(int64_t onnx_data_type) {
  if (onnx_data_type == TensorProto::STRING) {
    return absl::UnimplementedError(UnsupportedText("string tensors", "numeric and boolean tensors"));
  }
  if (onnx_data_type <= TensorProto::UNDEFINED || onnx_data_type > TensorProto::INT2) {
    return absl::InvalidArgumentError(
        absl::StrCat("element type ", onnx_data_type, " does not exist; ONNX has 1 to ", int{TensorProto::INT2}));
  }
  return static_cast<ElementType>(onnx_data_type);
}

absl::StatusOr<Tensor> ReadTensor(const TensorProto& proto, const TensorStorage& storage) {
  auto tensor = ReadUnnamed(proto, storage);
  if (!tensor.ok()) return Named(tensor.status(), proto.name());
  return tensor;
}

absl::StatusOr<Tensor> ReadSparseTensor(const SparseTensorProto& proto, const TensorStorage& storage) {
  const std::string& name = proto.values().name();
  ASSIGN_OR_RETURN(Tensor values, ReadTensor(proto.values(), storage));
  ASSIGN_OR_RETURN(Tensor indices, ReadTensor(proto.indices(), storage));
  TensorType type{values.element(), reference::Shape(proto.dims().begin(), proto.dims().end())};
  absl::Status shape = CheckShape(type.element, type.shape);
  if (!shape.ok()) return Named(shape, name);
  const int64_t count = *reference::ElementCount(type.shape);
  const int64_t rank = static_cast<int64_t>(type.shape.size());
  const bool tuples = indices.shape().size() == 2;
  if (count > kMostSparseElements) {
    return Named(absl::InvalidArgumentError(absl::StrCat("a sparse tensor of ", count, " elements; at most ",
                                                         kMostSparseElements, " are accepted")),
                 name);
  }
  if (indices.element() != ElementType::kInt64 || values.shape().size() != 1 ||
      indices.size() != values.size() * (tuples ? rank : 1)) {
    return Named(absl::InvalidArgumentError("sparse indices must be int64, one position or index tuple for each value"),
                 name);
  }
  const size_t width = static_cast<size_t>(reference::StorageBits(type.element)) / 8;
  const reference::Shape dims = type.shape;
  Tensor dense(std::move(type));
  for (int64_t i = 0; i < values.size(); ++i) {
    int64_t position = tuples ? 0 : indices.GetInt(i);
    bool inside = position >= 0 && position < count;
    for (int64_t d = 0; tuples && d < rank; ++d) {
      const int64_t index = indices.GetInt(i * rank + d);
      inside = inside && index >= 0 && index < dims[static_cast<size_t>(d)];
      position = inside ? position * dims[static_cast<size_t>(d)] + index : 0;
    }
    if (!inside) {
      return Named(
          absl::InvalidArgumentError(absl::StrCat("sparse index ", i, " is outside of ", reference::ToString(dims))),
          name);
    }
    std::memcpy(dense.mutable_bytes().data() + static_cast<size_t>(position) * width,
                values.bytes().data() + static_cast<size_t>(i) * width, width);
  }
  return dense;
}

}  // namespace aot::import::onnx
