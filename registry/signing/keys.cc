#include "registry/signing/keys.h"

#include <sodium.h>
#include <string.h>

#include "absl/strings/str_cat.h"
#include "registry/digest.h"
#include "registry/signing/canonical_json.h"

namespace aot::registry {
namespace {

using Json = nlohmann::json;

static_assert(crypto_sign_PUBLICKEYBYTES == 32 && crypto_sign_SECRETKEYBYTES == 64 && crypto_sign_SEEDBYTES == 32,
              "the sizes of keys.h are Ed25519's");

std::string ToHex(const uint8_t* data, size_t size) {
  std::string hex(size * 2 + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), data, size);
  hex.resize(size * 2);
  return hex;
}

bool FromHex(absl::string_view hex, uint8_t* out, size_t size) {
  size_t length = 0;
  const char* end = nullptr;
  return hex.size() == size * 2 && sodium_hex2bin(out, size, hex.data(), hex.size(), nullptr, &length, &end) == 0 &&
         length == size && end == hex.data() + hex.size();
}

// The string member `name`, or an empty text.
std::string Member(const Json& object, const char* name) {
  if (!object.is_object()) return "";
  auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

absl::Status StartSodium() {
  if (sodium_init() < 0) return absl::InternalError("libsodium can't start: the system gives no random numbers");
  return absl::OkStatus();
}

const unsigned char* Bytes(absl::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

}  // namespace

Json PublicKey::ToJson() const {
  return Json{
      {"keytype", "ed25519"}, {"scheme", "ed25519"}, {"keyval", {{"public", ToHex(bytes.data(), bytes.size())}}}};
}

absl::StatusOr<PublicKey> PublicKey::FromJson(const Json& key) {
  PublicKey result;
  if (Member(key, "keytype") != "ed25519" || Member(key, "scheme") != "ed25519") {
    return absl::InvalidArgumentError("a key is not of type and scheme ed25519");
  }
  if (!key.contains("keyval") || !FromHex(Member(key["keyval"], "public"), result.bytes.data(), result.bytes.size())) {
    return absl::InvalidArgumentError("a key's keyval.public is not 64 hexadecimal digits");
  }
  return result;
}

std::string PublicKey::KeyId() const {
  // A key object has only ASCII strings: it always has a canonical form.
  return Digest::Of(CanonicalJson(ToJson()).value()).Hex();
}

bool PublicKey::Verify(absl::string_view message, absl::string_view signature) const {
  uint8_t raw[crypto_sign_BYTES];
  if (!FromHex(signature, raw, sizeof(raw))) return false;
  return crypto_sign_verify_detached(raw, Bytes(message), message.size(), bytes.data()) == 0;
}

absl::StatusOr<SigningKey> SigningKey::Generate() {
  if (absl::Status s = StartSodium(); !s.ok()) return s;
  SigningKey key;
  crypto_sign_keypair(key.public_.bytes.data(), key.secret_.data());
  return key;
}

absl::StatusOr<SigningKey> SigningKey::FromFileText(const std::string& text) {
  if (absl::Status s = StartSodium(); !s.ok()) return s;
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  absl::StatusOr<PublicKey> announced = PublicKey::FromJson(json);
  if (!announced.ok()) return announced.status();
  uint8_t seed[crypto_sign_SEEDBYTES];
  std::string hex = Member(json["keyval"], "private");
  bool good = FromHex(hex, seed, sizeof(seed));
  sodium_memzero(hex.data(), hex.size());
  if (!good) return absl::InvalidArgumentError("keyval.private is not 64 hexadecimal digits");
  SigningKey key;
  crypto_sign_seed_keypair(key.public_.bytes.data(), key.secret_.data(), seed);
  sodium_memzero(seed, sizeof(seed));
  if (key.public_.bytes != announced->bytes) {
    return absl::InvalidArgumentError("keyval.public doesn't belong to keyval.private");
  }
  return key;
}

std::string SigningKey::ToFileText() const {
  Json json = public_.ToJson();
  json["keyval"]["private"] = ToHex(secret_.data(), crypto_sign_SEEDBYTES);
  return json.dump(2) + "\n";
}

SigningKey::SigningKey(SigningKey&& other) noexcept { *this = std::move(other); }

SigningKey& SigningKey::operator=(SigningKey&& other) noexcept {
  if (this != &other) {
    public_ = other.public_;
    secret_ = other.secret_;
    sodium_memzero(other.secret_.data(), other.secret_.size());
  }
  return *this;
}

SigningKey::~SigningKey() { sodium_memzero(secret_.data(), secret_.size()); }

std::string SigningKey::Sign(absl::string_view message) const {
  uint8_t signature[crypto_sign_BYTES];
  crypto_sign_detached(signature, nullptr, Bytes(message), message.size(), secret_.data());
  return ToHex(signature, sizeof(signature));
}

}  // namespace aot::registry
