#include "runtime/ota/signatures.h"

#include <algorithm>
#include <set>

namespace aot::ota {
namespace {

std::set<PublicKey> KeysOf(const Keyring& keys, const RoleKeys& role) {
  std::set<PublicKey> out;
  for (const std::string& id : role.key_ids) {
    const auto key = keys.find(id);
    if (key != keys.end()) out.insert(key->second);
  }
  return out;
}

}  // namespace

Status VerifySignatures(const Envelope& envelope, const Keyring& keys, const RoleKeys& role, const std::string& where) {
  if (role.threshold < 1) return Status(Code::kSignature, where + ": a threshold below 1 trusts anybody");
  std::set<PublicKey> signers;
  for (const Signature& signature : envelope.signatures) {
    if (std::find(role.key_ids.begin(), role.key_ids.end(), signature.key_id) == role.key_ids.end()) continue;
    const auto key = keys.find(signature.key_id);
    uint8_t bytes[crypto_sign_BYTES];
    if (key == keys.end() || !DecodeHex(signature.hex, bytes, sizeof(bytes))) continue;
    if (crypto_sign_verify_detached(bytes, reinterpret_cast<const uint8_t*>(envelope.canonical.data()),
                                    envelope.canonical.size(), key->second.bytes.data()) == 0)
      signers.insert(key->second);
  }
  if (signers.size() >= static_cast<uint64_t>(role.threshold)) return Status();
  return Status(Code::kSignature, where + ": " + std::to_string(signers.size()) + " good signatures by the role's " +
                                      std::to_string(role.key_ids.size()) + " keys, " + std::to_string(role.threshold) +
                                      " needed");
}

bool SameRoleKeys(const Root& a, const Root& b, const std::string& role) {
  const auto in_a = a.roles.find(role);
  const auto in_b = b.roles.find(role);
  if (in_a == a.roles.end() || in_b == b.roles.end()) return false;
  return in_a->second.threshold == in_b->second.threshold &&
         KeysOf(a.keys, in_a->second) == KeysOf(b.keys, in_b->second);
}

}  // namespace aot::ota
