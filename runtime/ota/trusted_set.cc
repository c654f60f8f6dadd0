#include "runtime/ota/trusted_set.h"

#include <utility>

#include "runtime/ota/delegation.h"
#include "runtime/ota/signatures.h"
#include "runtime/ota/utc_time.h"

namespace aot::ota {
namespace {

Status Rollback(const std::string& what, int64_t offered, int64_t trusted) {
  return Status(Code::kRollback, what + ": version " + std::to_string(offered) + " is below the trusted version " +
                                     std::to_string(trusted));
}

// Length and digest of a file against what another metadata file says of it.
Status CheckMetaFile(std::string_view bytes, const MetaFile& meta, const std::string& what) {
  if (meta.length && static_cast<uint64_t>(*meta.length) != bytes.size())
    return Status(Code::kDigest, what + ": " + std::to_string(bytes.size()) + " bytes, signed length is " +
                                     std::to_string(*meta.length));
  if (meta.sha256) {
    const Digest digest = Sha256Of(bytes);
    if (digest != *meta.sha256)
      return Status(Code::kDigest, what + ": sha256 is " + digest.Hex() + ", signed is " + meta.sha256->Hex());
  }
  return Status();
}

}  // namespace

Status TrustedSet::CheckExpiry(const Header& header, const std::string& what) const {
  if (header.expires > now_) return Status();
  return Status(Code::kExpired, what + ": version " + std::to_string(header.version) + " expired at " +
                                    FormatUtcTime(header.expires) + ", the update started at " + FormatUtcTime(now_) +
                                    " by this device's clock");
}

Status TrustedSet::SetRoot(std::string_view bytes) {
  Envelope envelope;
  Root root;
  AOT_OTA_RETURN_IF_ERROR(ParseEnvelope(bytes, "trusted root", &envelope));
  AOT_OTA_RETURN_IF_ERROR(ParseRoot(envelope, &root).At("trusted root"));
  AOT_OTA_RETURN_IF_ERROR(VerifySignatures(envelope, root.keys, root.roles["root"], "trusted root"));
  root_ = std::move(root);
  return Status();
}

Status TrustedSet::UpdateRoot(std::string_view bytes) {
  const std::string what = std::to_string(root_->header.version + 1) + ".root.json";
  Envelope envelope;
  Root root;
  AOT_OTA_RETURN_IF_ERROR(ParseEnvelope(bytes, what, &envelope));
  AOT_OTA_RETURN_IF_ERROR(ParseRoot(envelope, &root).At(what));
  AOT_OTA_RETURN_IF_ERROR(
      VerifySignatures(envelope, root_->keys, root_->roles["root"], what + " by the keys of the trusted root"));
  AOT_OTA_RETURN_IF_ERROR(VerifySignatures(envelope, root.keys, root.roles["root"], what + " by its own keys"));
  if (root.header.version != root_->header.version + 1)
    return Status(Code::kRollback, what + ": holds version " + std::to_string(root.header.version) + ", must be " +
                                       std::to_string(root_->header.version + 1));
  root_ = std::move(root);
  return Status();
}

Status TrustedSet::FinishRoot() const { return CheckExpiry(root_->header, "root.json"); }

Status TrustedSet::UpdateTimestamp(std::string_view bytes, bool* unchanged) {
  *unchanged = false;
  Envelope envelope;
  Timestamp timestamp;
  AOT_OTA_RETURN_IF_ERROR(ParseEnvelope(bytes, "timestamp.json", &envelope));
  AOT_OTA_RETURN_IF_ERROR(VerifySignatures(envelope, root_->keys, root_->roles.at("timestamp"), "timestamp.json"));
  AOT_OTA_RETURN_IF_ERROR(ParseTimestamp(envelope, &timestamp).At("timestamp.json"));
  if (timestamp_) {
    if (timestamp.header.version < timestamp_->header.version)
      return Rollback("timestamp.json", timestamp.header.version, timestamp_->header.version);
    if (timestamp.header.version == timestamp_->header.version) {
      *unchanged = true;
      return Status();
    }
    if (timestamp.snapshot.version < timestamp_->snapshot.version)
      return Rollback("timestamp.json: snapshot.json", timestamp.snapshot.version, timestamp_->snapshot.version);
  }
  timestamp_ = std::move(timestamp);
  return Status();
}

Status TrustedSet::FinishTimestamp() const { return CheckExpiry(timestamp_->header, "timestamp.json"); }

Status TrustedSet::ParseSignedSnapshot(std::string_view bytes, Snapshot* out) const {
  Envelope envelope;
  AOT_OTA_RETURN_IF_ERROR(ParseEnvelope(bytes, "snapshot.json", &envelope));
  AOT_OTA_RETURN_IF_ERROR(VerifySignatures(envelope, root_->keys, root_->roles.at("snapshot"), "snapshot.json"));
  return ParseSnapshot(envelope, out).At("snapshot.json");
}

Status TrustedSet::SeedSnapshot(std::string_view bytes) {
  Snapshot snapshot;
  AOT_OTA_RETURN_IF_ERROR(ParseSignedSnapshot(bytes, &snapshot));
  snapshot_ = std::move(snapshot);
  return Status();
}

Status TrustedSet::UpdateSnapshot(std::string_view bytes) {
  AOT_OTA_RETURN_IF_ERROR(CheckMetaFile(bytes, timestamp_->snapshot, "snapshot.json"));
  Snapshot snapshot;
  AOT_OTA_RETURN_IF_ERROR(ParseSignedSnapshot(bytes, &snapshot));
  if (snapshot.header.version != timestamp_->snapshot.version)
    return Status(Code::kRollback, "snapshot.json: version " + std::to_string(snapshot.header.version) +
                                       ", the timestamp says " + std::to_string(timestamp_->snapshot.version));
  if (snapshot_) {
    for (const auto& [name, trusted] : snapshot_->meta) {
      const auto offered = snapshot.meta.find(name);
      if (offered == snapshot.meta.end())
        return Status(Code::kRollback,
                      "snapshot.json: " + Printable(name) + " is missing, the trusted snapshot lists it");
      if (offered->second.version < trusted.version)
        return Rollback("snapshot.json: " + Printable(name), offered->second.version, trusted.version);
    }
  }
  AOT_OTA_RETURN_IF_ERROR(CheckExpiry(snapshot.header, "snapshot.json"));
  snapshot_ = std::move(snapshot);
  return Status();
}

Status TrustedSet::MetaOf(const std::string& role, MetaFile* out) const {
  const auto meta = snapshot_->meta.find(role + ".json");
  if (meta == snapshot_->meta.end())
    return Status(Code::kMissingMetadata, "snapshot.json: does not list " + Printable(role) + ".json");
  *out = meta->second;
  return Status();
}

Status TrustedSet::DelegationKeys(const std::string& role, const std::string& delegator, const Keyring** keys,
                                  const RoleKeys** role_keys) const {
  if (delegator == "root") {
    *keys = &root_->keys;
    *role_keys = &root_->roles.at("targets");
    return Status();
  }
  // Any verified copy of the delegator will do: all hold the same bytes (UpdateTargets).
  for (const auto& [edge, targets] : targets_) {
    if (edge.second != delegator) continue;
    *keys = &targets.keys;
    *role_keys = FindDelegatedKeys(targets, role);
    if (*role_keys != nullptr) return Status();
  }
  return Status(Code::kMissingMetadata, Printable(delegator) + ".json: delegates nothing to " + Printable(role));
}

Status TrustedSet::UpdateTargets(std::string_view bytes, const std::string& role, const std::string& delegator) {
  const std::string what = Printable(role) + ".json (delegated by " + Printable(delegator) + ")";
  MetaFile meta;
  AOT_OTA_RETURN_IF_ERROR(MetaOf(role, &meta));
  AOT_OTA_RETURN_IF_ERROR(CheckMetaFile(bytes, meta, what));
  const Keyring* keys = nullptr;
  const RoleKeys* role_keys = nullptr;
  AOT_OTA_RETURN_IF_ERROR(DelegationKeys(role, delegator, &keys, &role_keys));
  Envelope envelope;
  Targets targets;
  AOT_OTA_RETURN_IF_ERROR(ParseEnvelope(bytes, what, &envelope));
  AOT_OTA_RETURN_IF_ERROR(VerifySignatures(envelope, *keys, *role_keys, what));
  AOT_OTA_RETURN_IF_ERROR(ParseTargets(std::move(envelope), &targets).At(what));
  if (targets.header.version != meta.version)
    return Status(Code::kRollback, what + ": version " + std::to_string(targets.header.version) +
                                       ", the snapshot says " + std::to_string(meta.version));
  AOT_OTA_RETURN_IF_ERROR(CheckExpiry(targets.header, what));
  const Digest digest = Sha256Of(bytes);
  const auto first = contents_.emplace(role, digest).first;
  if (first->second != digest)
    return Status(Code::kDigest, what + ": sha256 is " + digest.Hex() + ", under another delegator it was " +
                                     first->second.Hex() + " in this update");
  targets_[{delegator, role}] = std::move(targets);
  return Status();
}

const Targets* TrustedSet::targets(const std::string& role, const std::string& delegator) const {
  const auto found = targets_.find({delegator, role});
  return found == targets_.end() ? nullptr : &found->second;
}

}  // namespace aot::ota
