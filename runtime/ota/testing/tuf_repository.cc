#include "runtime/ota/testing/tuf_repository.h"

#include <sodium.h>

namespace aot::ota {
namespace {

using nlohmann::json;

std::string Hex(const std::string& bytes) {
  std::string out(bytes.size() * 2 + 1, '\0');
  sodium_bin2hex(out.data(), out.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  out.pop_back();
  return out;
}

// For the strings of these tests (no control characters) nlohmann's compact dump, which sorts keys, is canonical JSON.
std::string Canonical(const json& value) { return value.dump(); }

json Header(const char* type, const TufRepository::Role& role) {
  return {{"_type", type}, {"spec_version", "1.0.31"}, {"version", role.version}, {"expires", role.expires}};
}

json MetaEntry(int64_t version, const std::string& bytes) {
  return {{"version", version}, {"length", bytes.size()}, {"hashes", {{"sha256", Sha256HexForTest(bytes)}}}};
}

json RoleJson(const TufRepository::Role& role) {
  json ids = json::array();
  for (const TestKey& key : role.keys) ids.push_back(key.id);
  return {{"keyids", ids}, {"threshold", role.threshold}};
}

}  // namespace

std::string Sha256HexForTest(const std::string& bytes) {
  std::string digest(crypto_hash_sha256_BYTES, '\0');
  crypto_hash_sha256(reinterpret_cast<unsigned char*>(digest.data()),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  return Hex(digest);
}

TestKey MakeTestKey() {
  TestKey key;
  key.public_key.resize(crypto_sign_PUBLICKEYBYTES);
  key.secret_key.resize(crypto_sign_SECRETKEYBYTES);
  crypto_sign_keypair(reinterpret_cast<unsigned char*>(key.public_key.data()),
                      reinterpret_cast<unsigned char*>(key.secret_key.data()));
  key.json = {{"keytype", "ed25519"}, {"scheme", "ed25519"}, {"keyval", {{"public", Hex(key.public_key)}}}};
  key.id = Sha256HexForTest(Canonical(key.json));
  return key;
}

TufRepository::TufRepository(HttpServer* server) : server_(server) {
  for (Role* role : {&root, &timestamp, &snapshot, &targets}) role->keys.push_back(MakeTestKey());
}

json TufRepository::KeysJson(const std::vector<TestKey>& keys) const {
  json out = json::object();
  for (const TestKey& key : keys) out[key.id] = key.json;
  return out;
}

std::string TufRepository::Sign(const json& part, const std::vector<TestKey>& keys) const {
  const std::string canonical = Canonical(part);
  json signatures = json::array();
  for (const TestKey& key : keys) {
    std::string signature(crypto_sign_BYTES, '\0');
    crypto_sign_detached(reinterpret_cast<unsigned char*>(signature.data()), nullptr,
                         reinterpret_cast<const unsigned char*>(canonical.data()), canonical.size(),
                         reinterpret_cast<const unsigned char*>(key.secret_key.data()));
    signatures.push_back({{"keyid", key.id}, {"sig", Hex(signature)}});
  }
  // Indented: the client must sign over its own canonical form, not over the bytes of the file.
  return json{{"signed", part}, {"signatures", signatures}}.dump(1);
}

void TufRepository::Put(const std::string& path, const std::string& bytes) {
  if (server_ != nullptr) server_->Put(path, bytes);
}

void TufRepository::PutMetadata(const std::string& name, int64_t version, const std::string& bytes) {
  Put("/tuf/" + (consistent_snapshot ? std::to_string(version) + "." : "") + name + ".json", bytes);
}

void TufRepository::PublishRoot() {
  ++root.version;
  json part = Header("root", root);
  part["consistent_snapshot"] = consistent_snapshot;
  part["keys"] = json::object();
  for (const Role* role : {&root, &timestamp, &snapshot, &targets}) part["keys"].update(KeysJson(role->keys));
  part["roles"] = {{"root", RoleJson(root)},
                   {"timestamp", RoleJson(timestamp)},
                   {"snapshot", RoleJson(snapshot)},
                   {"targets", RoleJson(targets)}};
  std::vector<TestKey> signers = root.keys;
  for (const TestKey& old : last_root_keys_) {
    bool there = false;
    for (const TestKey& key : root.keys) there = there || key.id == old.id;
    if (!there) signers.push_back(old);
  }
  const std::string bytes = Sign(part, signers);
  Put("/tuf/" + std::to_string(root.version) + ".root.json", bytes);
  if (first_root_.empty()) first_root_ = bytes;
  last_root_keys_ = root.keys;
}

void TufRepository::AddTarget(const std::string& path, const std::string& bytes, const json& custom) {
  const std::string digest = Sha256HexForTest(bytes);
  targets_json[path] = {{"length", bytes.size()}, {"hashes", {{"sha256", digest}}}};
  if (!custom.is_null()) targets_json[path]["custom"] = custom;
  const size_t name = path.rfind('/') + 1;
  Put("/tuf/targets/" + path.substr(0, name) + (consistent_snapshot ? digest + "." : "") + path.substr(name), bytes);
}

std::string TufRepository::PublishDelegated(Delegation* delegation) {
  ++delegation->role.version;
  json part = Header("targets", delegation->role);
  part["targets"] = delegation->targets;
  if (!delegation->delegations.is_null()) part["delegations"] = delegation->delegations;
  const std::string bytes = Sign(part, delegation->role.keys);
  PutMetadata(delegation->name, delegation->role.version, bytes);
  return bytes;
}

void TufRepository::Publish() {
  json meta = json::object();
  for (Delegation& delegation : unlisted) {
    const std::string bytes = PublishDelegated(&delegation);
    meta[delegation.name + ".json"] = MetaEntry(delegation.role.version, bytes);
    if (!snapshot_digests) meta[delegation.name + ".json"] = {{"version", delegation.role.version}};
  }

  ++targets.version;
  json part = Header("targets", targets);
  part["targets"] = targets_json;
  if (!delegations.empty()) {
    part["delegations"] = {{"keys", json::object()}, {"roles", json::array()}};
    for (Delegation& delegation : delegations) {
      json role = RoleJson(delegation.role);
      role["name"] = delegation.name;
      role["paths"] = delegation.paths;
      role["terminating"] = delegation.terminating;
      part["delegations"]["keys"].update(KeysJson(delegation.role.keys));
      part["delegations"]["roles"].push_back(role);
      const std::string bytes = PublishDelegated(&delegation);
      meta[delegation.name + ".json"] = MetaEntry(delegation.role.version, bytes);
    }
  }
  const std::string targets_bytes = Sign(part, targets.keys);
  PutMetadata("targets", targets.version, targets_bytes);
  meta["targets.json"] = MetaEntry(targets.version, targets_bytes);
  for (const auto& [name, unused] : omit) meta.erase(name);

  ++snapshot.version;
  json snapshot_part = Header("snapshot", snapshot);
  snapshot_part["meta"] = meta;
  const std::string snapshot_bytes = Sign(snapshot_part, snapshot.keys);
  PutMetadata("snapshot", snapshot.version, snapshot_bytes);
  snapshot_entry = MetaEntry(snapshot.version, snapshot_bytes);
  PublishTimestamp();
}

void TufRepository::PublishTimestamp() {
  ++timestamp.version;
  json part = Header("timestamp", timestamp);
  part["meta"] = {{"snapshot.json", snapshot_entry}};
  Put("/tuf/timestamp.json", Sign(part, timestamp.keys));
}

}  // namespace aot::ota
