#include "registry/digest.h"

#include <sodium.h>
#include <string.h>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace aot::registry {
namespace {

using State = crypto_hash_sha256_state;

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Digest Digest::Of(absl::string_view data) {
  Digest digest;
  crypto_hash_sha256(digest.bytes.data(), reinterpret_cast<const unsigned char*>(data.data()), data.size());
  return digest;
}

absl::StatusOr<Digest> Digest::FromHex(absl::string_view hex) {
  Digest digest;
  bool good = hex.size() == 2 * kSize;
  for (size_t i = 0; good && i < kSize; ++i) {
    int high = HexValue(hex[2 * i]);
    int low = HexValue(hex[2 * i + 1]);
    good = high >= 0 && low >= 0;
    digest.bytes[i] = static_cast<uint8_t>(high * 16 + low);
  }
  if (!good) {
    // The text may come from anywhere: shown in part and escaped.
    return absl::InvalidArgumentError(absl::StrCat("\"", absl::CHexEscape(hex.substr(0, 80)),
                                                   "\" is not a SHA-256 digest of 64 lower-case hexadecimal digits"));
  }
  return digest;
}

absl::StatusOr<Digest> Digest::FromBytes(absl::string_view raw) {
  if (raw.size() != kSize) {
    return absl::InvalidArgumentError(absl::StrCat("a SHA-256 digest has 32 bytes, not ", raw.size()));
  }
  Digest digest;
  memcpy(digest.bytes.data(), raw.data(), kSize);
  return digest;
}

std::string Digest::Hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex(2 * kSize, '0');
  for (size_t i = 0; i < kSize; ++i) {
    hex[2 * i] = kDigits[bytes[i] >> 4];
    hex[2 * i + 1] = kDigits[bytes[i] & 15];
  }
  return hex;
}

DigestBuilder::DigestBuilder() {
  static_assert(sizeof(State) <= sizeof(state_), "state_ must hold libsodium's SHA-256 state");
  crypto_hash_sha256_init(reinterpret_cast<State*>(state_.data()));
}

void DigestBuilder::Append(absl::string_view data) {
  crypto_hash_sha256_update(reinterpret_cast<State*>(state_.data()),
                            reinterpret_cast<const unsigned char*>(data.data()), data.size());
}

Digest DigestBuilder::Finish() {
  Digest digest;
  crypto_hash_sha256_final(reinterpret_cast<State*>(state_.data()), digest.bytes.data());
  return digest;
}

absl::StatusOr<ArtifactKey> ArtifactKey::FromHex(absl::string_view hex) {
  absl::StatusOr<Digest> digest = Digest::FromHex(hex);
  if (!digest.ok()) return digest.status();
  return ArtifactKey{*digest};
}

}  // namespace aot::registry
