// Ed25519 keys as TUF writes them. The secret stays inside SigningKey and is wiped when it goes.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace aot::registry {

struct PublicKey {
  std::array<uint8_t, 32> bytes{};

  // {"keytype": "ed25519", "scheme": "ed25519", "keyval": {"public": hex}}
  nlohmann::json ToJson() const;
  // INVALID_ARGUMENT: another type, or malformed.
  static absl::StatusOr<PublicKey> FromJson(const nlohmann::json& key);
  // SHA-256 of the canonical form of ToJson, in hexadecimal.
  std::string KeyId() const;
  // `signature`: 128 hexadecimal digits.
  bool Verify(absl::string_view message, absl::string_view signature) const;
};

// Move-only. Const calls from any thread.
class SigningKey {
 public:
  SigningKey() = default;
  // INTERNAL: libsodium can't start (no source of randomness).
  static absl::StatusOr<SigningKey> Generate();
  // The content of a key file. INVALID_ARGUMENT: malformed, or public and private part don't belong together.
  static absl::StatusOr<SigningKey> FromFileText(const std::string& text);
  std::string ToFileText() const;

  SigningKey(SigningKey&& other) noexcept;
  SigningKey& operator=(SigningKey&& other) noexcept;
  ~SigningKey();

  const PublicKey& public_key() const { return public_; }
  // The signature of the message, in hexadecimal.
  std::string Sign(absl::string_view message) const;

 private:
  PublicKey public_;
  std::array<uint8_t, 64> secret_{};  // seed and public key, as libsodium keeps them
};

}  // namespace aot::registry
