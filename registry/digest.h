// The types that name content: a SHA-256 digest, a digest with a length, and the key of an artifact. They are distinct
// types so that a model digest can't be passed where an artifact key is meant.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace aot::registry {

// A SHA-256 digest. A default-constructed one is all zeros and names nothing.
struct Digest {
  static constexpr size_t kSize = 32;
  std::array<uint8_t, kSize> bytes{};

  // Of `data`, computed here and now.
  static Digest Of(absl::string_view data);
  // From 64 lower-case hexadecimal digits. INVALID_ARGUMENT for anything else, upper case included: one digest has one
  // spelling, so that it can be a file name and part of an URL.
  static absl::StatusOr<Digest> FromHex(absl::string_view hex);
  // From exactly kSize raw bytes, as they are stored in the database. INVALID_ARGUMENT otherwise.
  static absl::StatusOr<Digest> FromBytes(absl::string_view raw);

  std::string Hex() const;
  absl::string_view Raw() const { return {reinterpret_cast<const char*>(bytes.data()), kSize}; }

  friend bool operator==(const Digest& a, const Digest& b) { return a.bytes == b.bytes; }
  friend bool operator!=(const Digest& a, const Digest& b) { return !(a == b); }
  friend bool operator<(const Digest& a, const Digest& b) { return a.bytes < b.bytes; }
  template <typename H>
  friend H AbslHashValue(H h, const Digest& d) {
    return H::combine_contiguous(std::move(h), d.bytes.data(), kSize);
  }
};

// Incremental SHA-256. Not thread-safe.
class DigestBuilder {
 public:
  DigestBuilder();
  void Append(absl::string_view data);
  // Gives the digest of everything appended; the builder must not be used afterwards.
  Digest Finish();

 private:
  // libsodium's crypto_hash_sha256_state; its size is checked where it is used.
  alignas(16) std::array<unsigned char, 128> state_;
};

// What a blob is: its digest and its length in bytes. Both are compared on every read.
struct BlobRef {
  Digest digest;
  uint64_t size = 0;

  static BlobRef Of(absl::string_view data) { return {Digest::Of(data), data.size()}; }
  friend bool operator==(const BlobRef& a, const BlobRef& b) { return a.digest == b.digest && a.size == b.size; }
  friend bool operator!=(const BlobRef& a, const BlobRef& b) { return !(a == b); }
};

// The key that the compiler gives a (model, target, options, compiler build): see compiler/pipeline.h.
struct ArtifactKey {
  Digest digest;

  static absl::StatusOr<ArtifactKey> FromHex(absl::string_view hex);
  std::string Hex() const { return digest.Hex(); }
  friend bool operator==(const ArtifactKey& a, const ArtifactKey& b) { return a.digest == b.digest; }
  friend bool operator!=(const ArtifactKey& a, const ArtifactKey& b) { return !(a == b); }
  friend bool operator<(const ArtifactKey& a, const ArtifactKey& b) { return a.digest < b.digest; }
  template <typename H>
  friend H AbslHashValue(H h, const ArtifactKey& k) {
    return H::combine(std::move(h), k.digest);
  }
};

}  // namespace aot::registry
