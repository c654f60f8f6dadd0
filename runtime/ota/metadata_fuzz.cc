// Fuzzes the reader of signed metadata: JSON, its canonical form, the four roles and the rules by which one file may
// take another's place.
//
// An input is a sequence of lines. Each is read as a metadata file as it is; then each is taken as the signed part of
// the next file of an update (root, root, timestamp, snapshot, targets, delegated targets) and signed here with a key
// that the corpus knows, because no mutation would get past the signatures otherwise.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <sodium.h>

#include "runtime/ota/canonical_json.h"
#include "runtime/ota/delegation.h"
#include "runtime/ota/metadata.h"
#include "runtime/ota/signatures.h"
#include "runtime/ota/target_description.h"
#include "runtime/ota/trusted_set.h"
#include "runtime/ota/utc_time.h"

namespace aot::ota {
namespace {

// The time at which the updates of the corpus happen.
constexpr int64_t kNow = 1700000000;

void Check(const Status& status) {
  if (!status.ok() && status.message().empty()) abort();
}

// What canonical JSON promises: another reading and writing changes nothing.
void CheckCanonical(const cJSON* value) {
  const std::string once = CanonicalJson(value);
  // A control character stands for itself in canonical JSON, which no JSON parser has to read.
  for (char c : once) {
    if (static_cast<uint8_t>(c) < 0x20) return;
  }
  JsonTree tree;
  if (!ParseJson(once, &tree).ok()) return;  // deeper or larger values have no second chance
  if (CanonicalJson(tree.get()) != once) abort();
}

void ReadFile(const std::string& bytes) {
  Envelope envelope;
  Check(ParseEnvelope(bytes, "file", &envelope));
  JsonTree tree;
  if (ParseJson(bytes, &tree).ok()) CheckCanonical(tree.get());
  if (envelope.signed_part == nullptr) return;
  Root root;
  Timestamp timestamp;
  Snapshot snapshot;
  const Status as_root = ParseRoot(envelope, &root);
  Check(as_root);
  Check(ParseTimestamp(envelope, &timestamp));
  Check(ParseSnapshot(envelope, &snapshot));
  if (as_root.ok()) {
    for (const auto& [name, role] : root.roles) Check(VerifySignatures(envelope, root.keys, role, name));
  }
  Targets targets;
  if (!ParseTargets(std::move(envelope), &targets).ok()) return;
  for (const cJSON* file = targets.files->child; file != nullptr; file = file->next) {
    TargetFile found;
    if (!FindTargetFile(targets, file->string, &found).ok()) continue;
    RolesForTarget(targets, file->string);
    TargetDescription description;
    const Status described = ParseTargetDescription(file->string, found, &description);
    Check(described);
    if (described.ok()) Check(CheckManifest(description, bytes));
  }
  for (const Delegation& delegation : targets.delegations) {
    if (FindDelegatedKeys(targets, delegation.role) == nullptr) abort();
  }
}

// The file that has `part` as its signed part, signed by the corpus's key: Ed25519 from a seed of zeros.
std::string Sign(const std::string& part) {
  JsonTree tree;
  if (!ParseJson(part, &tree).ok()) return part;
  const std::string canonical = CanonicalJson(tree.get());
  static const unsigned char seed[crypto_sign_SEEDBYTES] = {};
  unsigned char public_key[crypto_sign_PUBLICKEYBYTES], secret_key[crypto_sign_SECRETKEYBYTES];
  crypto_sign_seed_keypair(public_key, secret_key, seed);
  unsigned char signature[crypto_sign_BYTES];
  crypto_sign_detached(signature, nullptr, reinterpret_cast<const unsigned char*>(canonical.data()), canonical.size(),
                       secret_key);
  char hex[2 * crypto_sign_BYTES + 1];
  sodium_bin2hex(hex, sizeof hex, signature, sizeof signature);
  return "{\"signatures\":[{\"keyid\":\"k\",\"sig\":\"" + std::string(hex) + "\"}],\"signed\":" + part + "}";
}

void Update(const std::vector<std::string>& parts) {
  TrustedSet trusted(kNow);
  auto part = [&](size_t i) { return Sign(i < parts.size() ? parts[i] : std::string("{}")); };
  const Status first = trusted.SetRoot(part(0));
  Check(first);
  if (!first.ok()) return;
  Check(trusted.UpdateRoot(part(1)));
  Check(trusted.FinishRoot());
  bool unchanged = false;
  const Status timestamp = trusted.UpdateTimestamp(part(2), &unchanged);
  Check(timestamp);
  if (!timestamp.ok()) return;
  Check(trusted.FinishTimestamp());
  Check(trusted.UpdateTimestamp(part(2), &unchanged));
  const Status snapshot = trusted.UpdateSnapshot(part(3));
  Check(snapshot);
  if (!snapshot.ok()) return;
  const Status targets = trusted.UpdateTargets(part(4), "targets", "root");
  Check(targets);
  if (!targets.ok()) return;
  for (const Delegation& delegation : trusted.targets("targets", "root")->delegations) {
    Check(trusted.UpdateTargets(part(5), delegation.role, "targets"));
  }
}

}  // namespace
}  // namespace aot::ota

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int initialised = sodium_init();
  if (initialised < 0) abort();
  const std::string input(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> lines(1);
  for (char c : input) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back().push_back(c);
    }
  }
  for (const std::string& line : lines) aot::ota::ReadFile(line);
  aot::ota::ReadFile(input);
  aot::ota::Update(lines);
  int64_t seconds = 0;
  if (aot::ota::ParseUtcTime(lines.front(), &seconds) && aot::ota::FormatUtcTime(seconds) != lines.front()) abort();
  return 0;
}
