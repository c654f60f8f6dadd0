#include "runtime/ota/metadata.h"

#include <algorithm>
#include <set>

#include "runtime/ota/canonical_json.h"
#include "runtime/ota/utc_time.h"

namespace aot::ota {
namespace {

Status Malformed(std::string message) { return Status(Code::kMalformed, std::move(message)); }

Status ParseHeader(const cJSON* part, const char* type, Header* out) {
  std::string text;
  AOT_OTA_RETURN_IF_ERROR(GetString(part, "_type", &text));
  if (text != type) return Malformed("_type is \"" + Printable(text) + "\", must be \"" + type + "\"");
  AOT_OTA_RETURN_IF_ERROR(GetString(part, "spec_version", &text));
  if (text != "1" && text.substr(0, 2) != "1.")
    return Malformed("spec_version is \"" + Printable(text) + "\", this client reads 1.x");
  AOT_OTA_RETURN_IF_ERROR(GetInteger(part, "version", 1, &out->version));
  AOT_OTA_RETURN_IF_ERROR(GetString(part, "expires", &text));
  if (!ParseUtcTime(text, &out->expires))
    return Malformed("expires is \"" + Printable(text) + "\", must be YYYY-MM-DDTHH:MM:SSZ");
  return Status();
}

Status ParseKeyring(const cJSON* part, Keyring* out) {
  const cJSON* keys = nullptr;
  AOT_OTA_RETURN_IF_ERROR(GetObject(part, "keys", &keys));
  for (const cJSON* key = keys->child; key != nullptr; key = key->next) {
    std::string type;
    std::string scheme;
    AOT_OTA_RETURN_IF_ERROR(GetString(key, "keytype", &type).At(Printable(key->string)));
    AOT_OTA_RETURN_IF_ERROR(GetString(key, "scheme", &scheme).At(Printable(key->string)));
    if (type != "ed25519" || scheme != "ed25519") continue;
    const cJSON* value = nullptr;
    std::string hex;
    PublicKey public_key;
    AOT_OTA_RETURN_IF_ERROR(GetObject(key, "keyval", &value).At(Printable(key->string)));
    AOT_OTA_RETURN_IF_ERROR(GetString(value, "public", &hex).At(Printable(key->string)));
    if (!DecodeHex(hex, public_key.bytes.data(), public_key.bytes.size()))
      return Malformed("key " + Printable(key->string) + ": keyval.public is not 64 hexadecimal digits");
    out->emplace(key->string, public_key);
  }
  return Status();
}

Status ParseRoleKeys(const cJSON* role, RoleKeys* out) {
  AOT_OTA_RETURN_IF_ERROR(GetStrings(role, "keyids", &out->key_ids));
  AOT_OTA_RETURN_IF_ERROR(GetInteger(role, "threshold", 1, &out->threshold));
  std::vector<std::string> sorted = out->key_ids;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return Malformed("keyids names a key twice");
  return Status();
}

Status ParseMetaFile(const cJSON* entry, MetaFile* out) {
  if (!cJSON_IsObject(entry)) return Malformed("not an object");
  AOT_OTA_RETURN_IF_ERROR(GetInteger(entry, "version", 1, &out->version));
  if (Find(entry, "length") != nullptr) {
    int64_t length = 0;
    AOT_OTA_RETURN_IF_ERROR(GetInteger(entry, "length", 0, &length));
    out->length = length;
  }
  if (Find(entry, "hashes") != nullptr) {
    const cJSON* hashes = nullptr;
    AOT_OTA_RETURN_IF_ERROR(GetObject(entry, "hashes", &hashes));
    // The version and the signature protect a file whose digests are all of other kinds.
    if (Find(hashes, "sha256") != nullptr) {
      Digest digest;
      AOT_OTA_RETURN_IF_ERROR(GetDigest(hashes, "sha256", &digest));
      out->sha256 = digest;
    }
  }
  return Status();
}

bool IsTopLevelRole(const std::string& name) {
  return name == "root" || name == "timestamp" || name == "snapshot" || name == "targets";
}

Status ParseDelegation(const cJSON* entry, Delegation* out) {
  AOT_OTA_RETURN_IF_ERROR(GetString(entry, "name", &out->role));
  if (out->role.empty() || IsTopLevelRole(out->role))
    return Malformed("a delegated role can't be named \"" + Printable(out->role) + "\"");
  AOT_OTA_RETURN_IF_ERROR(ParseRoleKeys(entry, &out->keys).At(Printable(out->role)));
  AOT_OTA_RETURN_IF_ERROR(GetBool(entry, "terminating", &out->terminating).At(Printable(out->role)));
  const bool has_paths = Find(entry, "paths") != nullptr;
  const bool has_prefixes = Find(entry, "path_hash_prefixes") != nullptr;
  if (has_paths == has_prefixes) return Malformed(Printable(out->role) + ": needs one of paths and path_hash_prefixes");
  return has_paths ? GetStrings(entry, "paths", &out->paths)
                   : GetStrings(entry, "path_hash_prefixes", &out->path_prefixes);
}

Status ParseSuccinct(const cJSON* entry, SuccinctRoles* out) {
  int64_t bits = 0;
  AOT_OTA_RETURN_IF_ERROR(ParseRoleKeys(entry, &out->keys));
  AOT_OTA_RETURN_IF_ERROR(GetInteger(entry, "bit_length", 1, &bits));
  if (bits > 32) return Malformed("bit_length is " + std::to_string(bits) + ", at most 32");
  out->bit_length = static_cast<int>(bits);
  return GetString(entry, "name_prefix", &out->name_prefix);
}

Status ParseDelegations(const cJSON* part, Targets* out) {
  if (Find(part, "delegations") == nullptr) return Status();
  const cJSON* delegations = nullptr;
  AOT_OTA_RETURN_IF_ERROR(GetObject(part, "delegations", &delegations));
  AOT_OTA_RETURN_IF_ERROR(ParseKeyring(delegations, &out->keys));
  const cJSON* succinct = Find(delegations, "succinct_roles");
  const cJSON* roles = Find(delegations, "roles");
  if ((succinct == nullptr) == (roles == nullptr)) return Malformed("delegations need one of roles and succinct_roles");
  if (succinct != nullptr) return ParseSuccinct(succinct, &out->succinct.emplace()).At("succinct_roles");
  AOT_OTA_RETURN_IF_ERROR(GetArray(delegations, "roles", &roles));
  std::set<std::string> names;
  for (const cJSON* entry = roles->child; entry != nullptr; entry = entry->next) {
    AOT_OTA_RETURN_IF_ERROR(ParseDelegation(entry, &out->delegations.emplace_back()).At("delegations"));
    if (!names.insert(out->delegations.back().role).second)
      return Malformed("delegations: role \"" + Printable(out->delegations.back().role) + "\" is there twice");
  }
  return Status();
}

}  // namespace

Status ParseEnvelope(std::string_view bytes, const std::string& where, Envelope* out) {
  AOT_OTA_RETURN_IF_ERROR(ParseJson(bytes, &out->tree).At(where));
  AOT_OTA_RETURN_IF_ERROR(GetObject(out->tree.get(), "signed", &out->signed_part).At(where));
  const cJSON* signatures = nullptr;
  AOT_OTA_RETURN_IF_ERROR(GetArray(out->tree.get(), "signatures", &signatures).At(where));
  std::set<std::string> seen;
  for (const cJSON* entry = signatures->child; entry != nullptr; entry = entry->next) {
    Signature signature;
    AOT_OTA_RETURN_IF_ERROR(GetString(entry, "keyid", &signature.key_id).At(where));
    AOT_OTA_RETURN_IF_ERROR(GetString(entry, "sig", &signature.hex).At(where));
    if (!seen.insert(signature.key_id).second)
      return Malformed(where + ": two signatures of key " + Printable(signature.key_id));
    out->signatures.push_back(std::move(signature));
  }
  out->canonical = CanonicalJson(out->signed_part);
  return Status();
}

Status ParseRoot(const Envelope& envelope, Root* out) {
  const cJSON* part = envelope.signed_part;
  AOT_OTA_RETURN_IF_ERROR(ParseHeader(part, "root", &out->header));
  if (Find(part, "consistent_snapshot") != nullptr)
    AOT_OTA_RETURN_IF_ERROR(GetBool(part, "consistent_snapshot", &out->consistent_snapshot));
  AOT_OTA_RETURN_IF_ERROR(ParseKeyring(part, &out->keys));
  const cJSON* roles = nullptr;
  AOT_OTA_RETURN_IF_ERROR(GetObject(part, "roles", &roles));
  for (const cJSON* role = roles->child; role != nullptr; role = role->next)
    AOT_OTA_RETURN_IF_ERROR(ParseRoleKeys(role, &out->roles[role->string]).At("role " + Printable(role->string)));
  for (const char* name : {"root", "timestamp", "snapshot", "targets"})
    if (out->roles.count(name) == 0) return Malformed(std::string("role ") + name + " is missing");
  return Status();
}

Status ParseTimestamp(const Envelope& envelope, Timestamp* out) {
  const cJSON* meta = nullptr;
  AOT_OTA_RETURN_IF_ERROR(ParseHeader(envelope.signed_part, "timestamp", &out->header));
  AOT_OTA_RETURN_IF_ERROR(GetObject(envelope.signed_part, "meta", &meta));
  return ParseMetaFile(Find(meta, "snapshot.json"), &out->snapshot).At("meta[\"snapshot.json\"]");
}

Status ParseSnapshot(const Envelope& envelope, Snapshot* out) {
  const cJSON* meta = nullptr;
  AOT_OTA_RETURN_IF_ERROR(ParseHeader(envelope.signed_part, "snapshot", &out->header));
  AOT_OTA_RETURN_IF_ERROR(GetObject(envelope.signed_part, "meta", &meta));
  for (const cJSON* entry = meta->child; entry != nullptr; entry = entry->next)
    AOT_OTA_RETURN_IF_ERROR(ParseMetaFile(entry, &out->meta[entry->string]).At("meta of " + Printable(entry->string)));
  if (out->meta.count("targets.json") == 0) return Malformed("meta has no \"targets.json\"");
  return Status();
}

Status ParseTargets(Envelope envelope, Targets* out) {
  out->envelope = std::move(envelope);
  const cJSON* part = out->envelope.signed_part;
  AOT_OTA_RETURN_IF_ERROR(ParseHeader(part, "targets", &out->header));
  AOT_OTA_RETURN_IF_ERROR(GetObject(part, "targets", &out->files));
  return ParseDelegations(part, out);
}

Status FindTargetFile(const Targets& targets, const std::string& path, TargetFile* out) {
  const cJSON* entry = Find(targets.files, path.c_str());
  if (entry == nullptr) return Status(Code::kNotFound, "no signed target \"" + Printable(path) + "\"");
  const cJSON* hashes = nullptr;
  AOT_OTA_RETURN_IF_ERROR(GetInteger(entry, "length", 0, &out->length).At(Printable(path)));
  AOT_OTA_RETURN_IF_ERROR(GetObject(entry, "hashes", &hashes).At(Printable(path)));
  AOT_OTA_RETURN_IF_ERROR(GetDigest(hashes, "sha256", &out->sha256).At(Printable(path) + ": hashes"));
  out->custom = Find(entry, "custom");
  if (out->custom != nullptr && !cJSON_IsObject(out->custom))
    return Malformed(Printable(path) + ": custom is not an object");
  return Status();
}

}  // namespace aot::ota
