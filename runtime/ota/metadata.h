// TUF metadata (specification 1.0.x, section 4) as values. Parsing checks form only; who signed it, and whether it may
// replace what is trusted, is decided in signatures.h and trusted_set.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/ota/digest.h"
#include "runtime/ota/json.h"
#include "runtime/ota/status.h"

namespace aot::ota {

struct PublicKey {
  std::array<uint8_t, crypto_sign_PUBLICKEYBYTES> bytes{};
  bool operator==(const PublicKey& other) const { return bytes == other.bytes; }
  bool operator<(const PublicKey& other) const { return bytes < other.bytes; }
};

// Ed25519 keys by key id. Keys of other types are left out: they can't count towards a threshold here.
using Keyring = std::map<std::string, PublicKey>;

// Who may sign a role, and how many of them must. threshold >= 1, key ids are distinct.
struct RoleKeys {
  std::vector<std::string> key_ids;
  int64_t threshold = 0;
};

struct Signature {
  std::string key_id;
  std::string hex;
};

// A metadata file taken apart: what the signatures are over, and the tree they vouch for.
struct Envelope {
  JsonTree tree;
  const cJSON* signed_part = nullptr;  // into tree
  std::string canonical;               // canonical JSON of signed_part
  std::vector<Signature> signatures;   // distinct key ids
};

// What each role's signed part has.
struct Header {
  int64_t version = 0;
  int64_t expires = 0;  // seconds since 1970, UTC
};

// What timestamp and snapshot say of another metadata file.
struct MetaFile {
  int64_t version = 0;
  std::optional<int64_t> length;
  std::optional<Digest> sha256;
};

struct Root {
  Header header;
  bool consistent_snapshot = false;
  Keyring keys;
  std::map<std::string, RoleKeys> roles;  // root, timestamp, snapshot, targets at least
};

struct Timestamp {
  Header header;
  MetaFile snapshot;
};

struct Snapshot {
  Header header;
  std::map<std::string, MetaFile> meta;  // by file name, "targets.json" at least
};

struct Delegation {
  std::string role;
  RoleKeys keys;
  bool terminating = false;
  std::vector<std::string> paths;          // patterns
  std::vector<std::string> path_prefixes;  // hexadecimal prefixes of SHA-256 of the target path
};

// Hash bins (TAP 15): 2^bit_length roles "<name_prefix>-<bin>".
struct SuccinctRoles {
  RoleKeys keys;
  int bit_length = 0;  // 1..32
  std::string name_prefix;
};

struct TargetFile {
  int64_t length = 0;
  Digest sha256;
  const cJSON* custom = nullptr;  // an object or nullptr; lives as long as the Targets it came from
};

struct Targets {
  Header header;
  Envelope envelope;  // owns the tree that `files` points into
  const cJSON* files = nullptr;
  Keyring keys;  // of the delegations
  std::vector<Delegation> delegations;
  std::optional<SuccinctRoles> succinct;
};

// Takes bytes apart. `where` names the file in errors.
Status ParseEnvelope(std::string_view bytes, const std::string& where, Envelope* out);

// Each checks _type and spec_version (1.x) and ignores members it does not know.
Status ParseRoot(const Envelope& envelope, Root* out);
Status ParseTimestamp(const Envelope& envelope, Timestamp* out);
Status ParseSnapshot(const Envelope& envelope, Snapshot* out);
Status ParseTargets(Envelope envelope, Targets* out);

// The entry of one target path, kNotFound when the file lists none.
Status FindTargetFile(const Targets& targets, const std::string& path, TargetFile* out);

}  // namespace aot::ota
