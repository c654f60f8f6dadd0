// A tiny TUF repository for tests, written against the specification with libsodium and nlohmann-json alone: it shares
// no code with the client that it tests. What it publishes goes to an HttpServer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/ota/testing/http_server.h"

namespace aot::ota {

struct TestKey {
  std::string public_key;  // raw
  std::string secret_key;  // raw
  nlohmann::json json;
  std::string id;
};

TestKey MakeTestKey();
std::string Sha256HexForTest(const std::string& bytes);

class TufRepository {
 public:
  struct Role {
    std::vector<TestKey> keys;
    int threshold = 1;
    int64_t version = 0;
    std::string expires = "2099-01-01T00:00:00Z";
  };
  struct Delegation {
    std::string name;
    std::vector<std::string> paths;
    bool terminating = false;
    Role role = {};
    nlohmann::json targets = nlohmann::json::object();
    nlohmann::json delegations = nullptr;  // of its own; null: none
  };

  // One key for each role, nothing published. Without a server it only signs.
  explicit TufRepository(HttpServer* server);

  // Signs and publishes the next root with the present roles; signed by the keys of the last one as well.
  void PublishRoot();
  // Adds a target and its bytes; it appears with the next Publish.
  void AddTarget(const std::string& path, const std::string& bytes, const nlohmann::json& custom = nullptr);
  // Signs and publishes new versions of targets (and of delegated roles), snapshot and timestamp.
  void Publish();
  // Only a new timestamp, over a snapshot entry that the caller may have changed.
  void PublishTimestamp();

  std::string FirstRoot() const { return first_root_; }
  std::string Sign(const nlohmann::json& part, const std::vector<TestKey>& keys) const;
  nlohmann::json KeysJson(const std::vector<TestKey>& keys) const;

  Role root, timestamp, snapshot, targets;
  nlohmann::json targets_json = nlohmann::json::object();
  std::vector<Delegation> delegations;  // of the top-level targets role
  std::vector<Delegation> unlisted;     // published and in the snapshot, but delegated by others
  std::map<std::string, int64_t> omit;  // names left out of the snapshot
  nlohmann::json snapshot_entry;        // what the timestamp says
  bool consistent_snapshot = true;
  bool snapshot_digests = true;  // lengths and digests of delegated roles in the snapshot

 private:
  void Put(const std::string& path, const std::string& bytes);
  void PutMetadata(const std::string& name, int64_t version, const std::string& bytes);
  std::string PublishDelegated(Delegation* delegation);

  HttpServer* server_;
  std::vector<TestKey> last_root_keys_;
  std::string first_root_;
};

}  // namespace aot::ota
