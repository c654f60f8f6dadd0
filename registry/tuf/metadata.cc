#include "registry/tuf/metadata.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "registry/digest.h"
#include "registry/signing/canonical_json.h"

namespace aot::registry::tuf {
namespace {

constexpr char kTimeFormat[] = "%Y-%m-%dT%H:%M:%SZ";

Json Body(Role role, uint64_t version, absl::Time expires) {
  return Json{{"_type", std::string(Name(role))},
              {"spec_version", std::string(kSpecVersion)},
              {"version", version},
              {"expires", absl::FormatTime(kTimeFormat, expires, absl::UTCTimeZone())}};
}

absl::Status Damaged(const std::string& what, absl::string_view fault) {
  return absl::DataLossError(absl::StrCat(what, ": ", fault, "; restore the repository's directory from a backup"));
}

// How many different keys of the role have signed `message`. One key under two ids counts once.
absl::StatusOr<int> CountSignatures(const Json& signatures, const Json& keys, const Json& key_ids,
                                    absl::string_view message) {
  std::set<std::string> trusted;
  for (const Json& id : key_ids) trusted.insert(id.get<std::string>());
  std::set<std::array<uint8_t, 32>> signers;
  for (const Json& signature : signatures) {
    if (!signature.is_object() || !signature.contains("keyid") || !signature["keyid"].is_string() ||
        !signature.contains("sig") || !signature["sig"].is_string()) {
      return absl::DataLossError("a signature is malformed");
    }
    std::string id = signature["keyid"].get<std::string>();
    if (trusted.count(id) == 0 || !keys.contains(id)) continue;
    absl::StatusOr<PublicKey> key = PublicKey::FromJson(keys[id]);
    if (!key.ok()) return key.status();
    if (key->Verify(message, signature["sig"].get_ref<const std::string&>())) signers.insert(key->bytes);
  }
  return static_cast<int>(signers.size());
}

// The role's object in a root body: {"keyids": [...], "threshold": N}.
absl::StatusOr<Json> RoleObject(const Json& root, Role role) {
  std::string name(Name(role));
  if (!root.contains("keys") || !root["keys"].is_object() || !root.contains("roles") || !root["roles"].is_object() ||
      !root["roles"].contains(name)) {
    return absl::DataLossError(absl::StrCat("root has no role ", name));
  }
  const Json& object = root["roles"][name];
  bool good = object.is_object() && object.contains("keyids") && object["keyids"].is_array() &&
              object.contains("threshold") && object["threshold"].is_number_integer() &&
              object["threshold"].get<int64_t>() >= 1;
  for (size_t i = 0; good && i < object["keyids"].size(); ++i) good = object["keyids"][i].is_string();
  if (!good) return absl::DataLossError(absl::StrCat("root's role ", name, " is malformed"));
  return object;
}

}  // namespace

Json RootBody(uint64_t version, absl::Time expires, const std::map<Role, PublicKey>& keys) {
  Json body = Body(Role::kRoot, version, expires);
  body["consistent_snapshot"] = true;
  body["keys"] = Json::object();
  body["roles"] = Json::object();
  for (const auto& [role, key] : keys) {
    std::string id = key.KeyId();
    body["keys"][id] = key.ToJson();
    body["roles"][std::string(Name(role))] = Json{{"keyids", Json::array({id})}, {"threshold", 1}};
  }
  return body;
}

Json TargetsBody(uint64_t version, absl::Time expires, Json targets) {
  Json body = Body(Role::kTargets, version, expires);
  body["targets"] = std::move(targets);
  return body;
}

Json SnapshotBody(uint64_t version, absl::Time expires, Json meta) {
  Json body = Body(Role::kSnapshot, version, expires);
  body["meta"] = Json{{"targets.json", std::move(meta)}};
  return body;
}

Json TimestampBody(uint64_t version, absl::Time expires, Json meta) {
  Json body = Body(Role::kTimestamp, version, expires);
  body["meta"] = Json{{"snapshot.json", std::move(meta)}};
  return body;
}

Json MetaOf(uint64_t version, absl::string_view file) {
  return Json{{"version", version}, {"length", file.size()}, {"hashes", {{"sha256", Digest::Of(file).Hex()}}}};
}

absl::StatusOr<std::string> Seal(const Json& body, const std::vector<const SigningKey*>& signers) {
  absl::StatusOr<std::string> message = CanonicalJson(body);
  if (!message.ok()) return message.status();
  Json signatures = Json::array();
  for (const SigningKey* key : signers) {
    signatures.push_back(Json{{"keyid", key->public_key().KeyId()}, {"sig", key->Sign(*message)}});
  }
  return CanonicalJson(Json{{"signatures", std::move(signatures)}, {"signed", body}});
}

absl::StatusOr<Json> Open(absl::string_view file, const std::string& what, Role role, const Json* root) {
  Json envelope = Json::parse(file.begin(), file.end(), nullptr, /*allow_exceptions=*/false);
  if (!envelope.is_object() || !envelope.contains("signed") || !envelope["signed"].is_object() ||
      !envelope.contains("signatures") || !envelope["signatures"].is_array()) {
    return Damaged(what, "not a signed JSON object");
  }
  Json body = envelope["signed"];
  if (!body.contains("_type") || body["_type"] != std::string(Name(role))) {
    return Damaged(what, absl::StrCat("not of type ", Name(role)));
  }
  if (!body.contains("version") || !body["version"].is_number_integer() || body["version"].get<int64_t>() < 1) {
    return Damaged(what, "version is not a positive integer");
  }
  if (!body.contains("expires") || !body["expires"].is_string() || ExpiresOf(body) == absl::InfinitePast()) {
    return Damaged(what, "expires is not a time of the form YYYY-MM-DDTHH:MM:SSZ");
  }
  const char* content = role == Role::kRoot ? "roles" : role == Role::kTargets ? "targets" : "meta";
  if (!body.contains(content) || !body[content].is_object()) {
    return Damaged(what, absl::StrCat("has no object ", content));
  }
  const Json& authority = root == nullptr ? body : *root;
  absl::StatusOr<Json> role_object = RoleObject(authority, role);
  if (!role_object.ok()) return Damaged(what, role_object.status().message());
  absl::StatusOr<std::string> message = CanonicalJson(body);
  if (!message.ok()) return Damaged(what, message.status().message());
  absl::StatusOr<int> count =
      CountSignatures(envelope["signatures"], authority["keys"], (*role_object)["keyids"], *message);
  if (!count.ok()) return Damaged(what, count.status().message());
  if (*count < (*role_object)["threshold"].get<int64_t>()) {
    return Damaged(
        what, absl::StrCat(*count, " valid signatures; root asks for ", (*role_object)["threshold"].get<int64_t>()));
  }
  return body;
}

uint64_t VersionOf(const Json& body) { return body["version"].get<uint64_t>(); }

absl::Time ExpiresOf(const Json& body) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(kTimeFormat, body["expires"].get_ref<const std::string&>(), absl::UTCTimeZone(), &time,
                       &error)) {
    return absl::InfinitePast();
  }
  return time;
}

absl::StatusOr<std::string> KeyIdOf(const Json& root, Role role) {
  absl::StatusOr<Json> object = RoleObject(root, role);
  if (!object.ok()) return object.status();
  if ((*object)["keyids"].size() != 1) {
    return absl::DataLossError(absl::StrCat("root gives role ", Name(role), " ", (*object)["keyids"].size(),
                                            " keys; this repository uses one"));
  }
  return (*object)["keyids"][0].get<std::string>();
}

absl::StatusOr<std::map<Role, PublicKey>> KeysOf(const Json& root) {
  std::map<Role, PublicKey> keys;
  for (Role role : kRoles) {
    absl::StatusOr<std::string> id = KeyIdOf(root, role);
    if (!id.ok()) return id.status();
    if (!root["keys"].contains(*id)) return absl::DataLossError(absl::StrCat("root doesn't hold its key ", *id));
    absl::StatusOr<PublicKey> key = PublicKey::FromJson(root["keys"][*id]);
    if (!key.ok()) return key.status();
    keys[role] = *key;
  }
  return keys;
}

}  // namespace aot::registry::tuf
