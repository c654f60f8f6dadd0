// Little-endian bytes, appended.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"

namespace aot::emit {

class ByteWriter {
 public:
  void U32(uint32_t value) { Integer(value, 4); }
  void U64(uint64_t value) { Integer(value, 8); }
  void I64(int64_t value) { Integer(static_cast<uint64_t>(value), 8); }
  void F64(double value) {
    uint64_t bits;
    static_assert(sizeof bits == sizeof value, "double is IEEE binary64");
    std::memcpy(&bits, &value, sizeof bits);
    U64(bits);
  }
  void Bytes(absl::string_view bytes) { bytes_.append(bytes.data(), bytes.size()); }
  void PadTo(size_t alignment) { bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment); }

  size_t size() const { return bytes_.size(); }
  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  void Integer(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  }
  std::string bytes_;
};

}  // namespace aot::emit
