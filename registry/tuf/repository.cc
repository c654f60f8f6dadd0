#include "registry/tuf/repository.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "registry/digest.h"
#include "registry/fs/durable.h"
#include "registry/tuf/target.h"
#include "runtime/ota/metadata_limits.h"

namespace aot::registry::tuf {
namespace {

constexpr char kTimestampFile[] = "timestamp.json";
constexpr uint64_t kMaxMetadata = 64 * 1024 * 1024;
// Old snapshots and targets stay this many versions for clients that are in the middle of an update.
constexpr uint64_t kKeptVersions = 16;
// From then on Refresh complains when the root key isn't there.
constexpr absl::Duration kRootWarning = absl::Hours(24 * 30);

std::string FileName(Role role, uint64_t version) {
  return role == Role::kTimestamp ? kTimestampFile : absl::StrCat(version, ".", Name(role), ".json");
}

// What a device takes of a role's file.
size_t MaxBytes(Role role) {
  switch (role) {
    case Role::kRoot:
      return ota::kMaxRootBytes;
    case Role::kTargets:
      return ota::kMaxTargetsBytes;
    case Role::kSnapshot:
      return ota::kMaxSnapshotBytes;
    case Role::kTimestamp:
      break;
  }
  return ota::kMaxTimestampBytes;
}

// As a device counts them.
size_t CountValues(const Json& json) {
  size_t count = 1;
  if (json.is_structured()) {
    for (const Json& child : json) count += CountValues(child);
  }
  return count;
}

// `percent` of what devices take is the most that the file may have. The signatures add a dozen values.
absl::Status CheckSize(Role role, const Json& body, size_t bytes, size_t percent) {
  const size_t values = CountValues(body) + 12;
  if (bytes <= MaxBytes(role) / 100 * percent && values <= ota::kMaxMetadataValues / 100 * percent) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat(Name(role), " metadata of ", bytes, " bytes and ", values, " values; devices take ", MaxBytes(role),
                   " bytes and ", ota::kMaxMetadataValues, " values: withdraw models that no device needs"));
}

// Four fifths: time to do something about it.
constexpr size_t kWarningPercent = 80;

struct VersionedName {
  Role role;
  uint64_t version;
};

// "12.targets.json"; false for other names, also for numbers that aren't written in their one form.
bool ParseName(absl::string_view name, VersionedName& result) {
  size_t dot = name.find('.');
  if (dot == absl::string_view::npos || !absl::SimpleAtoi(name.substr(0, dot), &result.version)) return false;
  absl::StatusOr<Role> role = RoleFromName(absl::StripSuffix(name.substr(dot + 1), ".json"));
  if (!role.ok() || *role == Role::kTimestamp) return false;
  result.role = *role;
  return name == FileName(*role, result.version);
}

}  // namespace

Repository::Repository(std::string directory, KeyStore keys, const Lifetimes& lifetimes,
                       std::function<absl::Time()> now)
    : directory_(std::move(directory)), keys_(std::move(keys)), lifetimes_(lifetimes), now_(std::move(now)) {}

absl::StatusOr<std::unique_ptr<Repository>> Repository::Open(const std::string& directory, KeyStore keys,
                                                             const Lifetimes& lifetimes,
                                                             std::function<absl::Time()> now) {
  if (absl::Status s = fs::MakeDirectories(directory, 0755); !s.ok()) return s;
  std::unique_ptr<Repository> repository(new Repository(directory, std::move(keys), lifetimes, std::move(now)));
  absl::MutexLock lock(&repository->write_mutex_);
  if (absl::Status s = repository->Initialise(); !s.ok()) return s;
  if (absl::Status s = repository->Load(); !s.ok()) return s;
  if (absl::Status s = repository->RemoveLeftovers(); !s.ok()) return s;
  if (absl::Status s = repository->RemoveReplacedKeys(); !s.ok()) return s;
  return repository;
}

// Does what is missing of the first start; nothing when timestamp.json is there, because it is written last.
absl::Status Repository::Initialise() {
  absl::StatusOr<std::vector<std::string>> names = fs::ListDirectory(directory_);
  if (!names.ok()) return names.status();
  auto has = [&](absl::string_view name) { return std::find(names->begin(), names->end(), name) != names->end(); };
  if (has(kTimestampFile)) return absl::OkStatus();
  for (const std::string& name : *names) {
    VersionedName versioned;
    if (ParseName(name, versioned) && versioned.version > 1) {
      return absl::DataLossError(
          absl::StrCat(directory_, " has ", name, " but no ", kTimestampFile, "; restore the directory from a backup"));
    }
  }
  if (!has(FileName(Role::kRoot, 1))) {
    std::map<Role, PublicKey> keys;
    for (Role role : kRoles) {
      absl::StatusOr<SigningKey> key = keys_.LoadOrCreate(role);
      if (!key.ok()) return key.status();
      keys[role] = key->public_key();
    }
    Json root = RootBody(1, now_() + lifetimes_.root, keys);
    absl::StatusOr<std::string> file = Sign(root, Role::kRoot, root, nullptr);
    if (!file.ok()) return file.status();
    if (absl::Status s = Write(FileName(Role::kRoot, 1), *file); !s.ok()) return s;
  }
  absl::StatusOr<std::string> file = Read(FileName(Role::kRoot, 1));
  if (!file.ok()) return file.status();
  absl::StatusOr<Json> root = tuf::Open(*file, FileName(Role::kRoot, 1), Role::kRoot, nullptr);
  if (!root.ok()) return root.status();
  return WriteFirstMetadata(*root);
}

absl::Status Repository::WriteFirstMetadata(const Json& root) {
  // Version 0 of everything has never been published; Advance makes version 1 of it.
  State empty;
  empty.bodies[Role::kRoot] = root;
  empty.bodies[Role::kTargets] = TargetsBody(0, absl::UnixEpoch(), Json::object());
  empty.bodies[Role::kSnapshot] = SnapshotBody(0, absl::UnixEpoch(), Json::object());
  empty.bodies[Role::kTimestamp] = TimestampBody(0, absl::UnixEpoch(), Json::object());
  Publish(std::move(empty));
  return Advance(Depth::kTargets, nullptr, nullptr);
}

absl::Status Repository::Load() {
  absl::StatusOr<std::vector<std::string>> names = fs::ListDirectory(directory_);
  if (!names.ok()) return names.status();
  uint64_t newest_root = 0;
  for (const std::string& name : *names) {
    VersionedName versioned;
    if (ParseName(name, versioned) && versioned.role == Role::kRoot) {
      newest_root = std::max(newest_root, versioned.version);
    }
  }
  State loaded;
  std::string root_name = FileName(Role::kRoot, newest_root);
  absl::StatusOr<std::string> file = Read(root_name);
  if (!file.ok()) return absl::DataLossError(absl::StrCat("no root metadata: ", file.status().message()));
  absl::StatusOr<Json> root = tuf::Open(*file, absl::StrCat(directory_, "/", root_name), Role::kRoot, nullptr);
  if (!root.ok()) return root.status();

  absl::StatusOr<std::string> timestamp_file = Read(kTimestampFile);
  if (!timestamp_file.ok()) return timestamp_file.status();
  absl::StatusOr<Json> timestamp =
      tuf::Open(*timestamp_file, absl::StrCat(directory_, "/", kTimestampFile), Role::kTimestamp, &*root);
  if (!timestamp.ok()) return timestamp.status();
  absl::StatusOr<Json> snapshot = ReadNamed("snapshot.json", Role::kSnapshot, *root, (*timestamp)["meta"]);
  if (!snapshot.ok()) return snapshot.status();
  absl::StatusOr<Json> targets = ReadNamed("targets.json", Role::kTargets, *root, (*snapshot)["meta"]);
  if (!targets.ok()) return targets.status();

  loaded.timestamp_file = std::move(*timestamp_file);
  loaded.bodies[Role::kRoot] = std::move(*root);
  loaded.bodies[Role::kTimestamp] = std::move(*timestamp);
  loaded.bodies[Role::kSnapshot] = std::move(*snapshot);
  loaded.bodies[Role::kTargets] = std::move(*targets);
  Publish(std::move(loaded));
  return absl::OkStatus();
}

absl::StatusOr<Json> Repository::ReadNamed(const std::string& name, Role role, const Json& root,
                                           const Json& meta) const {
  if (!meta.contains(name) || !meta[name].is_object() || !meta[name].contains("version") ||
      !meta[name]["version"].is_number_unsigned()) {
    return absl::DataLossError(absl::StrCat(directory_, ": the metadata doesn't name ", name));
  }
  std::string versioned = absl::StrCat(meta[name]["version"].get<uint64_t>(), ".", name);
  absl::StatusOr<std::string> file = Read(versioned);
  if (!file.ok()) return absl::DataLossError(file.status().message());
  if (meta[name] != MetaOf(meta[name]["version"].get<uint64_t>(), *file)) {
    return absl::DataLossError(absl::StrCat(directory_, "/", versioned,
                                            " has another length or digest than was signed; restore it from a backup"));
  }
  return tuf::Open(*file, absl::StrCat(directory_, "/", versioned), role, &root);
}

absl::Status Repository::RemoveLeftovers() {
  absl::StatusOr<std::vector<std::string>> names = fs::ListDirectory(directory_);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    VersionedName versioned;
    bool old_temporary = absl::EndsWith(name, fs::kTemporarySuffix);
    bool unused = false;
    // Every root stays: clients walk the whole chain.
    if (ParseName(name, versioned) && versioned.role != Role::kRoot) {
      uint64_t current = version(versioned.role);
      unused = versioned.version > current || versioned.version + kKeptVersions < current;
    }
    if (old_temporary || unused) {
      if (absl::Status s = fs::Unlink(absl::StrCat(directory_, "/", name)); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

absl::Status Repository::RemoveReplacedKeys() {
  const Json root = state()->bodies.at(Role::kRoot);
  if (VersionOf(root) == 1) return absl::OkStatus();
  // Only what an earlier root trusted: a key that no root knows may belong to a newer backup of this directory.
  const std::string name = FileName(Role::kRoot, VersionOf(root) - 1);
  absl::StatusOr<std::string> file = Read(name);
  if (!file.ok()) return absl::DataLossError(file.status().message());
  absl::StatusOr<Json> before = tuf::Open(*file, absl::StrCat(directory_, "/", name), Role::kRoot, nullptr);
  if (!before.ok()) return before.status();
  for (Role role : kRoles) {
    absl::StatusOr<std::string> old_id = KeyIdOf(*before, role), new_id = KeyIdOf(root, role);
    if (!old_id.ok() || !new_id.ok() || *old_id == *new_id) continue;
    if (absl::Status s = keys_.Remove(role, *old_id); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status Repository::Advance(Depth depth, const Json* targets, const SecondSigner* second) {
  std::shared_ptr<const State> current = state();
  State next = *current;
  const Json& root = next.bodies[Role::kRoot];
  const absl::Time now = now_();
  if (ExpiresOf(root) <= now) {
    return absl::FailedPreconditionError(
        absl::StrCat("root expired on ", root["expires"].get<std::string>(),
                     ": clients would refuse everything; make the root key available and let it be signed again"));
  }
  auto next_version = [&](Role role) { return VersionOf(current->bodies.at(role)) + 1; };

  // All is signed before anything is written: a missing key must not leave half of it.
  std::vector<std::pair<std::string, std::string>> files;
  auto renew = [&](Role role, Json body) -> absl::Status {
    absl::StatusOr<std::string> file = Sign(body, role, root, second);
    if (!file.ok()) return file.status();
    if (absl::Status s = CheckSize(role, body, file->size(), 100); !s.ok()) return s;
    files.emplace_back(FileName(role, VersionOf(body)), std::move(*file));
    next.bodies[role] = std::move(body);
    return absl::OkStatus();
  };
  if (depth == Depth::kTargets) {
    uint64_t version = next_version(Role::kTargets);
    const Json& content = targets ? *targets : current->bodies.at(Role::kTargets)["targets"];
    if (absl::Status s = renew(Role::kTargets, TargetsBody(version, now + lifetimes_.targets, content)); !s.ok())
      return s;
  }
  if (depth != Depth::kTimestamp) {
    uint64_t version = next_version(Role::kSnapshot);
    Json meta = depth == Depth::kTargets ? MetaOf(VersionOf(next.bodies[Role::kTargets]), files.back().second)
                                         : current->bodies.at(Role::kSnapshot)["meta"]["targets.json"];
    if (absl::Status s = renew(Role::kSnapshot, SnapshotBody(version, now + lifetimes_.snapshot, meta)); !s.ok())
      return s;
  }
  Json meta = depth != Depth::kTimestamp ? MetaOf(VersionOf(next.bodies[Role::kSnapshot]), files.back().second)
                                         : current->bodies.at(Role::kTimestamp)["meta"]["snapshot.json"];
  uint64_t version = next_version(Role::kTimestamp);
  if (absl::Status s = renew(Role::kTimestamp, TimestampBody(version, now + lifetimes_.timestamp, meta)); !s.ok())
    return s;

  for (const auto& [name, file] : files) {
    if (absl::Status s = Write(name, file); !s.ok()) {
      // The rename of timestamp may have happened all the same: memory follows what clients see.
      Load().IgnoreError();
      return s;
    }
  }
  next.timestamp_file = std::move(files.back().second);
  Publish(std::move(next));
  return absl::OkStatus();
}

absl::StatusOr<std::string> Repository::Sign(const Json& body, Role role, const Json& root,
                                             const SecondSigner* second) const {
  absl::StatusOr<std::string> id = KeyIdOf(root, role);
  if (!id.ok()) return id.status();
  absl::StatusOr<SigningKey> key = keys_.Load(role, *id);
  if (!key.ok()) return key.status();
  std::vector<const SigningKey*> signers = {&*key};
  if (second != nullptr && second->role == role) signers.push_back(second->key);
  return Seal(body, signers);
}

absl::StatusOr<uint64_t> Repository::UpdateTargets(const std::function<absl::Status(Json&)>& edit) {
  absl::MutexLock lock(&write_mutex_);
  Json targets = state()->bodies.at(Role::kTargets)["targets"];
  if (absl::Status s = edit(targets); !s.ok()) return s;
  if (absl::Status s = Advance(Depth::kTargets, &targets, nullptr); !s.ok()) return s;
  // Tidying up after the fact: its failure is not the publication's.
  RemoveLeftovers().IgnoreError();
  return version(Role::kTargets);
}

absl::Status Repository::Refresh() {
  absl::MutexLock lock(&write_mutex_);
  absl::Time now = now_();
  auto due = [&](Role role) { return expires(role) - now < LifetimeOf(role) / 2; };
  absl::Status first;
  auto note = [&](const absl::Status& s) {
    first.Update(s);
    return s.ok();
  };
  if (due(Role::kRoot)) {
    absl::StatusOr<std::map<Role, PublicKey>> keys = KeysOf(state()->bodies.at(Role::kRoot));
    absl::Status status = keys.ok() ? WriteRoot(*keys, nullptr) : keys.status();
    // An absent root key is how it should be, until the time gets short.
    bool early = absl::IsFailedPrecondition(status) && expires(Role::kRoot) - now > kRootWarning;
    if (!early) {
      note(status.ok()
               ? status
               : absl::Status(status.code(), absl::StrCat("root expires on ",
                                                          absl::FormatTime(expires(Role::kRoot), absl::UTCTimeZone()),
                                                          " and can't be signed again: ", status.message())));
    }
  }
  if (due(Role::kTargets) && note(Advance(Depth::kTargets, nullptr, nullptr))) return first;
  if (due(Role::kSnapshot) && note(Advance(Depth::kSnapshot, nullptr, nullptr))) return first;
  if (due(Role::kTimestamp)) note(Advance(Depth::kTimestamp, nullptr, nullptr));
  const std::shared_ptr<const State> current = state();
  for (Role role : {Role::kRoot, Role::kTargets}) {  // those that grow
    const Json& body = current->bodies.at(role);
    absl::StatusOr<std::string> file = Read(FileName(role, VersionOf(body)));
    if (note(file.status())) note(CheckSize(role, body, file->size(), kWarningPercent));
  }
  return first;
}

absl::Status Repository::RotateKey(Role role) {
  absl::MutexLock lock(&write_mutex_);
  const Json root = state()->bodies.at(Role::kRoot);
  absl::StatusOr<std::map<Role, PublicKey>> keys = KeysOf(root);
  if (!keys.ok()) return keys.status();
  // Before anything changes: can root sign at all?
  if (absl::StatusOr<SigningKey> key = keys_.Load(Role::kRoot, (*keys)[Role::kRoot].KeyId()); !key.ok()) {
    return key.status();
  }
  absl::StatusOr<SigningKey> fresh = keys_.Create(role);
  if (!fresh.ok()) return fresh.status();
  std::string old_id = (*keys)[role].KeyId();
  SecondSigner second{role, &*fresh};
  absl::Status status;
  if (role != Role::kRoot) {
    Depth depth = role == Role::kTargets    ? Depth::kTargets
                  : role == Role::kSnapshot ? Depth::kSnapshot
                                            : Depth::kTimestamp;
    status = Advance(depth, nullptr, &second);
  }
  (*keys)[role] = fresh->public_key();
  if (status.ok()) status = WriteRoot(*keys, &second);
  // Which key is trusted now decides which one goes; after an error that may still be the old one.
  absl::StatusOr<std::string> trusted = KeyIdOf(state()->bodies.at(Role::kRoot), role);
  if (trusted.ok()) {
    std::string unused = *trusted == old_id ? fresh->public_key().KeyId() : old_id;
    status.Update(keys_.Remove(role, unused));
  }
  return status;
}

absl::Status Repository::WriteRoot(const std::map<Role, PublicKey>& keys, const SecondSigner* second) {
  State next = *state();
  const Json old_root = next.bodies[Role::kRoot];
  Json root = RootBody(VersionOf(old_root) + 1, now_() + lifetimes_.root, keys);
  // Signed by the keys of the old root and of the new one, as clients walk from the one to the other.
  absl::StatusOr<std::string> file = Sign(root, Role::kRoot, old_root, second);
  if (!file.ok()) return file.status();
  if (absl::Status s = CheckSize(Role::kRoot, root, file->size(), 100); !s.ok()) return s;
  if (absl::Status s = Write(FileName(Role::kRoot, VersionOf(root)), *file); !s.ok()) {
    Load().IgnoreError();
    return s;
  }
  next.bodies[Role::kRoot] = std::move(root);
  Publish(std::move(next));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ReleaseRecord>> Repository::CurrentReleases() const {
  std::shared_ptr<const State> current = state();
  const Json& targets = current->bodies.at(Role::kTargets)["targets"];
  std::vector<ReleaseRecord> releases;
  for (auto it = targets.begin(); it != targets.end(); ++it) {
    absl::StatusOr<ReleaseRecord> release = ReleaseOf(it.key(), it.value());
    if (!release.ok()) return release.status();
    releases.push_back(std::move(*release));
  }
  return releases;
}

absl::StatusOr<std::string> Repository::ReadMetadata(absl::string_view name) const {
  if (name == kTimestampFile) return state()->timestamp_file;
  VersionedName versioned;
  if (!ParseName(name, versioned) || versioned.version == 0 || versioned.version > version(versioned.role)) {
    return absl::NotFoundError("no such object");
  }
  absl::StatusOr<std::string> file = Read(std::string(name));
  if (absl::IsNotFound(file.status())) return absl::NotFoundError("no such object");
  return file;
}

absl::StatusOr<std::string> Repository::CurrentRoot() const {
  return Read(FileName(Role::kRoot, version(Role::kRoot)));
}

uint64_t Repository::version(Role role) const { return VersionOf(state()->bodies.at(role)); }

absl::Time Repository::expires(Role role) const { return ExpiresOf(state()->bodies.at(role)); }

absl::Status Repository::Write(const std::string& name, absl::string_view file) const {
  return fs::WriteFile(absl::StrCat(directory_, "/", name), file, 0644);
}

absl::StatusOr<std::string> Repository::Read(const std::string& name) const {
  return fs::ReadFile(absl::StrCat(directory_, "/", name), kMaxMetadata);
}

absl::Duration Repository::LifetimeOf(Role role) const {
  switch (role) {
    case Role::kRoot:
      return lifetimes_.root;
    case Role::kTargets:
      return lifetimes_.targets;
    case Role::kSnapshot:
      return lifetimes_.snapshot;
    case Role::kTimestamp:
      break;
  }
  return lifetimes_.timestamp;
}

std::shared_ptr<const Repository::State> Repository::state() const {
  absl::MutexLock lock(&state_mutex_);
  return state_;
}

void Repository::Publish(State state) {
  auto shared = std::make_shared<const State>(std::move(state));
  absl::MutexLock lock(&state_mutex_);
  state_ = std::move(shared);
}

}  // namespace aot::registry::tuf
