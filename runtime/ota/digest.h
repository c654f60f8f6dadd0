// SHA-256 digests and hexadecimal, over libsodium.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <sodium.h>

namespace aot::ota {

// A SHA-256. Ordered, so that it can be a key of a map; Hex() is safe as a file name.
struct Digest {
  std::array<uint8_t, crypto_hash_sha256_BYTES> bytes{};

  std::string Hex() const;
  bool operator==(const Digest& other) const { return bytes == other.bytes; }
  bool operator!=(const Digest& other) const { return bytes != other.bytes; }
  bool operator<(const Digest& other) const { return bytes < other.bytes; }
};

// Of bytes that arrive in pieces.
class Sha256 {
 public:
  Sha256() { crypto_hash_sha256_init(&state_); }
  void Update(const void* data, size_t size) {
    crypto_hash_sha256_update(&state_, static_cast<const unsigned char*>(data), size);
  }
  // To be called once.
  Digest Final();

 private:
  crypto_hash_sha256_state state_;
};

Digest Sha256Of(std::string_view bytes);

// Decodes exactly `size` bytes of hexadecimal, of either case. False where text is of another length or not
// hexadecimal.
bool DecodeHex(std::string_view text, uint8_t* out, size_t size);
std::string EncodeHex(const uint8_t* bytes, size_t size);
bool ParseDigest(std::string_view text, Digest* out);

}  // namespace aot::ota
