// For tests: a second, independent reading of the specification's client workflow, on libsodium and nlohmann-json
// alone. It shares no code with the repository.
#pragma once

#include <gtest/gtest.h>
#include <sodium.h>

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "nlohmann/json.hpp"

namespace aot::registry::tuf {

class TestClient {
 public:
  using Json = nlohmann::json;
  // Gives the file at a path below /tuf/, or nothing when there is none.
  using Fetch = std::function<std::optional<std::string>(const std::string& path)>;

  // Starts from root version `trusted`.
  TestClient(Fetch fetch, const std::string& now, int trusted = 1)
      : fetch_(std::move(fetch)), now_(now), version_(trusted) {}

  // The client workflow, section 5. Throws std::runtime_error with what was wrong.
  void Update() {
    if (root_.is_null()) {
      root_ = Parse(Need(std::to_string(version_) + ".root.json"))["signed"];
    }
    for (;;) {
      std::optional<std::string> file = fetch_(std::to_string(root_["version"].get<int>() + 1) + ".root.json");
      if (!file) break;
      Json next = Parse(*file);
      Check(next, "root", root_);
      Check(next, "root", next["signed"]);
      Expect(next["signed"]["version"] == root_["version"].get<int>() + 1, "root version");
      root_ = next["signed"];
    }
    Expect(root_["expires"].get<std::string>() > now_, "root expired");
    Expect(root_["consistent_snapshot"] == true, "consistent snapshots");

    Json timestamp = Signed(Need("timestamp.json"), "timestamp", nullptr);
    Expect(timestamp["version"] >= timestamp_version_, "timestamp rollback");
    Json snapshot_meta = timestamp["meta"]["snapshot.json"];
    std::string prefix = std::to_string(snapshot_meta["version"].get<int>());
    Json snapshot = Signed(Need(prefix + ".snapshot.json"), "snapshot", &snapshot_meta);
    Json targets_meta = snapshot["meta"]["targets.json"];
    prefix = std::to_string(targets_meta["version"].get<int>());
    targets_ = Signed(Need(prefix + ".targets.json"), "targets", &targets_meta);
    Expect(targets_["version"] >= targets_version_, "targets rollback");
    timestamp_version_ = timestamp["version"];
    targets_version_ = targets_["version"];
  }

  const Json& root() const { return root_; }
  const Json& targets() const { return targets_["targets"]; }
  int targets_version() const { return targets_version_; }
  int timestamp_version() const { return timestamp_version_; }

  // Where a consistent snapshot keeps a target.
  std::string TargetUrl(const std::string& path) const {
    size_t slash = path.rfind('/');
    return "targets/" + path.substr(0, slash + 1) + targets()[path]["hashes"]["sha256"].get<std::string>() + "." +
           path.substr(slash + 1);
  }
  static std::string Sha256(const std::string& data) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(hash, reinterpret_cast<const unsigned char*>(data.data()), data.size());
    return Hex(hash, sizeof(hash));
  }

 private:
  static void Expect(bool condition, const std::string& what) {
    if (!condition) throw std::runtime_error(what);
  }
  static std::string Hex(const unsigned char* data, size_t size) {
    std::string hex(2 * size + 1, '\0');
    sodium_bin2hex(hex.data(), hex.size(), data, size);
    hex.pop_back();
    return hex;
  }
  static std::string Raw(const std::string& hex) {
    std::string raw(hex.size() / 2, '\0');
    size_t length = 0;
    Expect(sodium_hex2bin(reinterpret_cast<unsigned char*>(raw.data()), raw.size(), hex.data(), hex.size(), nullptr,
                          &length, nullptr) == 0 &&
               length == raw.size(),
           "hexadecimal");
    return raw;
  }
  static Json Parse(const std::string& file) { return Json::parse(file); }

  std::string Need(const std::string& name) const {
    std::optional<std::string> file = fetch_(name);
    Expect(file.has_value(), "missing " + name);
    return *file;
  }

  // No string of this repository has a character that plain JSON writes in another way than canonical JSON does, so
  // the compact dump of nlohmann-json, sorted by name, is the canonical form.
  static void Check(const Json& envelope, const std::string& role, const Json& root) {
    std::string message = envelope["signed"].dump();
    Expect(envelope["signed"]["_type"] == role, role + " type");
    Expect(envelope["signed"]["spec_version"] == "1.0.31", role + " spec_version");
    const Json& authority = root["roles"][role];
    std::set<std::string> good;
    for (const Json& signature : envelope["signatures"]) {
      std::string id = signature["keyid"];
      bool trusted = false;
      for (const Json& key_id : authority["keyids"]) trusted = trusted || key_id == id;
      if (!trusted) continue;
      const Json& key = root["keys"][id];
      Expect(Sha256(key.dump()) == id, "key id");
      std::string raw_key = Raw(key["keyval"]["public"]);
      std::string raw_signature = Raw(signature["sig"]);
      Expect(raw_key.size() == 32 && raw_signature.size() == 64, "sizes");
      if (crypto_sign_verify_detached(reinterpret_cast<const unsigned char*>(raw_signature.data()),
                                      reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                                      reinterpret_cast<const unsigned char*>(raw_key.data())) == 0) {
        good.insert(raw_key);
      }
    }
    int threshold = authority["threshold"];
    Expect(threshold >= 1 && static_cast<int>(good.size()) >= threshold, role + " signatures");
  }

  Json Signed(const std::string& file, const std::string& role, const Json* meta) const {
    if (meta != nullptr) {
      Expect((*meta)["length"] == file.size(), role + " length");
      Expect((*meta)["hashes"]["sha256"] == Sha256(file), role + " digest");
    }
    Json envelope = Parse(file);
    Check(envelope, role, root_);
    const Json& body = envelope["signed"];
    if (meta != nullptr) Expect((*meta)["version"] == body["version"], role + " version");
    Expect(body["expires"].get<std::string>() > now_, role + " expired");
    return body;
  }

  const Fetch fetch_;
  const std::string now_;
  const int version_;
  Json root_, targets_;
  int timestamp_version_ = 0, targets_version_ = 0;
};

}  // namespace aot::registry::tuf
