#include "compiler/reference/tensor.h"

#include <sys/mman.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "compiler/reference/float_formats.h"

namespace aot::reference {
namespace {

struct TypeFacts {
  const char* name;
  int storage_bits;
  char kind;  // 'f'loat, 's'igned, 'u'nsigned, 'b'ool, 'o'ther
};

// Indexed by ElementType.
constexpr TypeFacts kTypes[] = {
    {"undefined", 0, 'o'},      {"float32", 32, 'f'},     {"uint8", 8, 'u'},          {"int8", 8, 's'},
    {"uint16", 16, 'u'},        {"int16", 16, 's'},       {"int32", 32, 's'},         {"int64", 64, 's'},
    {"string", 0, 'o'},         {"bool", 8, 'b'},         {"float16", 16, 'f'},       {"float64", 64, 'f'},
    {"uint32", 32, 'u'},        {"uint64", 64, 'u'},      {"complex64", 64, 'o'},     {"complex128", 128, 'o'},
    {"bfloat16", 16, 'f'},      {"float8e4m3fn", 8, 'f'}, {"float8e4m3fnuz", 8, 'f'}, {"float8e5m2", 8, 'f'},
    {"float8e5m2fnuz", 8, 'f'}, {"uint4", 8, 'u'},        {"int4", 8, 's'},           {"float4e2m1", 8, 'f'},
    {"float8e8m0", 8, 'f'},     {"uint2", 8, 'u'},        {"int2", 8, 's'},
};

const TypeFacts& FactsOf(ElementType type) {
  size_t index = static_cast<size_t>(type);
  return kTypes[index < std::size(kTypes) ? index : 0];
}

template <class T>
T Read(const uint8_t* bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes + index * static_cast<int64_t>(sizeof(T)), sizeof value);
  return value;
}

template <class T>
void Write(uint8_t* bytes, int64_t index, T value) {
  std::memcpy(bytes + index * static_cast<int64_t>(sizeof(T)), &value, sizeof value);
}

// Large tensors have pages of their own: what is given back doesn't stay with the allocator, in pieces that fit
// nothing.
std::shared_ptr<uint8_t> ZeroedBytes(size_t bytes) {
  constexpr size_t kLarge = 1 << 20;
  if (bytes >= kLarge) {
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) {
      return std::shared_ptr<uint8_t>(static_cast<uint8_t*>(pages), [bytes](uint8_t* start) { munmap(start, bytes); });
    }
  }
  return std::shared_ptr<uint8_t>(new uint8_t[bytes](), std::default_delete<uint8_t[]>());
}

}  // namespace

absl::string_view Name(ElementType type) { return FactsOf(type).name; }
int StorageBits(ElementType type) { return FactsOf(type).storage_bits; }
bool IsFloat(ElementType type) { return FactsOf(type).kind == 'f'; }
bool IsSignedInteger(ElementType type) { return FactsOf(type).kind == 's'; }
bool IsUnsignedInteger(ElementType type) { return FactsOf(type).kind == 'u'; }

std::optional<int64_t> ElementCount(absl::Span<const int64_t> shape) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(count, size, &count)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : count;
}

std::string ToString(absl::Span<const int64_t> shape) {
  if (shape.empty()) return "scalar";
  std::string text = absl::StrCat(shape[0]);
  for (int64_t size : shape.subspan(1)) absl::StrAppend(&text, "x", size);
  return text;
}

Tensor::Tensor(TensorType type) : type_(std::move(type)), count_(ElementCount(type_.shape).value_or(0)) {
  if (type_.element == ElementType::kString) {
    strings = std::make_shared<std::vector<std::string>>(static_cast<size_t>(count_));
    return;
  }
  size_t bytes = static_cast<size_t>(count_) * static_cast<size_t>(StorageBits(type_.element) / 8);
  std::shared_ptr<uint8_t> storage = ZeroedBytes(bytes);
  bytes_ = absl::MakeConstSpan(storage.get(), bytes);
  owner_ = std::move(storage);
}

Tensor::Tensor(TensorType type, std::shared_ptr<const void> owner, absl::Span<const uint8_t> bytes)
    : type_(std::move(type)), count_(ElementCount(type_.shape).value_or(0)), owner_(std::move(owner)), bytes_(bytes) {}

absl::Span<uint8_t> Tensor::mutable_bytes() {
  return absl::MakeSpan(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
}

double Tensor::GetFloat(int64_t index) const {
  const uint8_t* bytes = bytes_.data();
  switch (type_.element) {
    case ElementType::kFloat32:
      return Read<float>(bytes, index);
    case ElementType::kFloat64:
      return Read<double>(bytes, index);
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return DecodeFloat(type_.element, Read<uint16_t>(bytes, index));
    case ElementType::kUint64:
      return static_cast<double>(Read<uint64_t>(bytes, index));
    default:
      break;
  }
  if (IsFloat(type_.element)) return DecodeFloat(type_.element, bytes[index]);
  return static_cast<double>(GetInt(index));
}

int64_t Tensor::GetInt(int64_t index) const {
  const uint8_t* bytes = bytes_.data();
  switch (type_.element) {
    case ElementType::kInt8:
      return Read<int8_t>(bytes, index);
    case ElementType::kUint8:
      return bytes[index];
    case ElementType::kInt16:
      return Read<int16_t>(bytes, index);
    case ElementType::kUint16:
      return Read<uint16_t>(bytes, index);
    case ElementType::kInt32:
      return Read<int32_t>(bytes, index);
    case ElementType::kUint32:
      return Read<uint32_t>(bytes, index);
    case ElementType::kInt64:
    case ElementType::kUint64:
      return Read<int64_t>(bytes, index);
    case ElementType::kBool:
      return bytes[index] != 0;
    case ElementType::kUint4:
      return bytes[index] & 15;
    case ElementType::kInt4:
      return ((bytes[index] & 15) ^ 8) - 8;
    case ElementType::kUint2:
      return bytes[index] & 3;
    case ElementType::kInt2:
      return ((bytes[index] & 3) ^ 2) - 2;
    default:
      return 0;
  }
}

void Tensor::SetFloat(int64_t index, double value) {
  uint8_t* bytes = mutable_bytes().data();
  switch (type_.element) {
    case ElementType::kFloat32:
      return Write(bytes, index, static_cast<float>(value));
    case ElementType::kFloat64:
      return Write(bytes, index, value);
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return Write(bytes, index, static_cast<uint16_t>(EncodeFloat(type_.element, value, Overflow::kPropagate)));
    default:
      break;
  }
  if (IsFloat(type_.element)) {
    bytes[index] = static_cast<uint8_t>(EncodeFloat(type_.element, value, Overflow::kSaturate));
  }
}

void Tensor::SetInt(int64_t index, int64_t value) {
  uint8_t* bytes = mutable_bytes().data();
  switch (type_.element) {
    case ElementType::kInt8:
    case ElementType::kUint8:
      bytes[index] = static_cast<uint8_t>(value);
      return;
    case ElementType::kInt16:
    case ElementType::kUint16:
      return Write(bytes, index, static_cast<uint16_t>(value));
    case ElementType::kInt32:
    case ElementType::kUint32:
      return Write(bytes, index, static_cast<uint32_t>(value));
    case ElementType::kInt64:
    case ElementType::kUint64:
      return Write(bytes, index, value);
    case ElementType::kBool:
      bytes[index] = value != 0;
      return;
    case ElementType::kUint4:
      bytes[index] = static_cast<uint8_t>(value & 15);
      return;
    case ElementType::kInt4:
      bytes[index] = static_cast<uint8_t>(((value & 15) ^ 8) - 8);
      return;
    case ElementType::kUint2:
      bytes[index] = static_cast<uint8_t>(value & 3);
      return;
    case ElementType::kInt2:
      bytes[index] = static_cast<uint8_t>(((value & 3) ^ 2) - 2);
      return;
    default:
      return;
  }
}

}  // namespace aot::reference
