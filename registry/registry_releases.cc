// Releases: the row, the signature and the row again, so that a kill between any two leaves one or the other.
//
//   1. rows of the release, pending: from now on its blobs are kept and served
//   2. targets, snapshot, timestamp: the rename of timestamp.json is the commit
//   3. Reconcile: pending rows that the signed metadata names become current, others go
//
// Opening the registry does step 3, so it completes or undoes whatever was interrupted. If step 3 fails while the
// process lives, the next publication and Maintain do it first.
#include <set>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "registry/names.h"
#include "registry/registry_impl.h"
#include "registry/tuf/target.h"

namespace aot::registry {
namespace {

constexpr size_t kMaxText = 256;  // of a triple or a CPU feature
constexpr size_t kMaxFeatures = 256;
// The largest integer that every JSON reader keeps exactly.
constexpr uint64_t kMaxInteger = (uint64_t{1} << 53) - 1;

absl::Status CheckText(absl::string_view what, absl::string_view text) {
  bool printable = !text.empty() && text.size() <= kMaxText;
  for (char c : text) printable = printable && c > ' ' && c < 0x7f;
  if (printable) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " \"", absl::CHexEscape(text.substr(0, 80)), "\" is not 1 to ",
                                                 kMaxText, " printable ASCII characters"));
}

absl::Status CheckRequest(const PublishRequest& request) {
  if (absl::Status s = CheckName("channel", request.channel); !s.ok()) return s;
  if (absl::Status s = CheckName("model", request.model); !s.ok()) return s;
  if (request.artifacts.empty() || request.artifacts.size() > kMaxArtifactsOfRelease) {
    return absl::InvalidArgumentError(
        absl::StrCat("a release has 1 to ", kMaxArtifactsOfRelease, " artifacts, not ", request.artifacts.size()));
  }
  std::set<std::string> targets;
  for (const ReleaseArtifact& a : request.artifacts) {
    if (absl::Status s = CheckName("target", a.target); !s.ok()) return s;
    if (!targets.insert(a.target).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("target ", a.target, " is named twice; a release has one artifact for each"));
    }
    if (absl::Status s = CheckText("triple", a.triple); !s.ok()) return s;
    if (a.abi == 0 || a.format == 0 || a.arena_size > kMaxInteger) {
      return absl::InvalidArgumentError(absl::StrCat("target ", a.target, " has ABI version ", a.abi,
                                                     ", format version ", a.format, " and arena size ", a.arena_size,
                                                     "; versions start at 1, sizes end at 2^53 - 1"));
    }
    if (a.cpu_features.size() > kMaxFeatures) {
      return absl::InvalidArgumentError(
          absl::StrCat("target ", a.target, " has more than ", kMaxFeatures, " CPU features"));
    }
    for (const std::string& feature : a.cpu_features) {
      if (absl::Status s = CheckText("CPU feature", feature); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ReleaseRecord>> RegistryImpl::PrepareRelease(const PublishRequest& request, uint64_t release,
                                                                        std::vector<BlobPin>& pins) {
  std::vector<ReleaseRecord> rows;
  for (const ReleaseArtifact& a : request.artifacts) {
    absl::StatusOr<ArtifactRecord> artifact = index_->GetArtifact(a.key);
    if (!artifact.ok()) return artifact.status();
    if (artifact->target != a.target) {
      return absl::InvalidArgumentError(
          absl::StrCat("artifact ", a.key.Hex(), " was compiled for ", artifact->target, ", not for ", a.target));
    }
    for (const BlobRef& ref : {artifact->manifest, artifact->code, artifact->weights}) {
      pins.push_back(blobs_->Pin(ref.digest));
      // What is signed is what is on the disk now, byte for byte.
      absl::Status s = blobs_->Open(ref, Verify::kAlways).status();
      if (absl::IsNotFound(s)) {
        return absl::DataLossError(absl::StrCat("artifact ", a.key.Hex(), ": its stored bytes are damaged or gone (",
                                                s.message(), "); compile it again"));
      }
      if (!s.ok()) return s;
    }
    ReleaseRecord row;
    row.channel = request.channel;
    row.model = request.model;
    row.target = a.target;
    row.release = release;
    row.artifact = a.key;
    row.manifest = artifact->manifest;
    row.code = artifact->code;
    row.weights = artifact->weights;
    row.created = options_.now();
    rows.push_back(std::move(row));
  }
  return rows;
}

absl::StatusOr<PublishResult> RegistryImpl::Publish(const PublishRequest& request) {
  if (absl::Status s = CheckRequest(request); !s.ok()) return s;
  absl::MutexLock lock(&publish_mutex_);
  if (absl::Status s = Reconcile(); !s.ok()) return s;
  absl::StatusOr<uint64_t> release = index_->NextRelease(request.channel, request.model);
  if (!release.ok()) return release.status();
  std::vector<BlobPin> pins;
  absl::StatusOr<std::vector<ReleaseRecord>> rows = PrepareRelease(request, *release, pins);
  if (!rows.ok()) return rows.status();
  rows_agree_ = false;
  if (absl::Status s = index_->AddPending(*rows); !s.ok()) return s;
  absl::StatusOr<uint64_t> version = repository_->UpdateTargets([&](tuf::Json& targets) {
    for (size_t i = 0; i < rows->size(); ++i) {
      const ReleaseRecord& row = (*rows)[i];
      targets[tuf::TargetPath(row.channel, row.model, row.target)] = tuf::TargetObject(row, request.artifacts[i]);
    }
    return absl::OkStatus();
  });
  absl::Status reconciled = Reconcile();
  if (!version.ok()) return version.status();
  if (!reconciled.ok()) {
    return absl::Status(reconciled.code(),
                        absl::StrCat("release ", *release, " of ", request.channel, "/", request.model,
                                     " is published, but not written down yet (the next publication "
                                     "or upkeep does it): ",
                                     reconciled.message()));
  }
  return PublishResult{*release, *version};
}

absl::Status RegistryImpl::Withdraw(absl::string_view channel, absl::string_view model) {
  if (absl::Status s = CheckName("channel", channel); !s.ok()) return s;
  if (absl::Status s = CheckName("model", model); !s.ok()) return s;
  absl::MutexLock lock(&publish_mutex_);
  if (absl::Status s = Reconcile(); !s.ok()) return s;
  rows_agree_ = false;
  std::string prefix = absl::StrCat(channel, "/", model, "/");
  absl::Status status = repository_
                            ->UpdateTargets([&](tuf::Json& targets) -> absl::Status {
                              size_t before = targets.size();
                              for (auto it = targets.begin(); it != targets.end();) {
                                it = absl::StartsWith(it.key(), prefix) ? targets.erase(it) : std::next(it);
                              }
                              if (targets.size() < before) return absl::OkStatus();
                              return absl::NotFoundError(absl::StrCat("channel ", channel, " has no model ", model));
                            })
                            .status();
  absl::Status reconciled = Reconcile();
  return status.ok() ? reconciled : status;
}

absl::Status RegistryImpl::CatchUp() {
  absl::MutexLock lock(&publish_mutex_);
  return Reconcile();
}

absl::Status RegistryImpl::SetReleaseFloor() {
  // Each release of a model took a version of the targets, and the first version was empty.
  const uint64_t version = repository_->version(Role::kTargets);
  return version > 1 ? index_->SetReleaseFloor(version - 1) : absl::OkStatus();
}

absl::Status RegistryImpl::Reconcile() {
  if (rows_agree_) return absl::OkStatus();
  absl::StatusOr<std::vector<ReleaseRecord>> releases = repository_->CurrentReleases();
  if (!releases.ok()) return releases.status();
  // A time for rows that have to be restored because the database was lost; the others keep theirs.
  for (ReleaseRecord& release : *releases) release.created = options_.now();
  absl::Status status = index_->Reconcile(*releases);
  rows_agree_ = status.ok();
  return status;
}

absl::StatusOr<std::vector<ReleaseRecord>> RegistryImpl::ListReleases(absl::string_view channel,
                                                                      absl::string_view model) {
  return index_->ListReleases(channel, model);
}

absl::Status RegistryImpl::RotateKey(Role role) { return repository_->RotateKey(role); }

absl::StatusOr<std::string> RegistryImpl::TrustedRoot() { return repository_->CurrentRoot(); }

absl::StatusOr<RepositoryObject> RegistryImpl::Resolve(absl::string_view path) {
  RepositoryObject object;
  object.immutable = true;
  if (absl::ConsumePrefix(&path, "/tuf/targets/")) {
    absl::StatusOr<tuf::ManifestPath> parsed = tuf::ParseManifestPath(path);
    if (!parsed.ok()) return parsed.status();
    absl::StatusOr<BlobRef> ref =
        index_->FindReleasedManifest(parsed->channel, parsed->model, parsed->target, parsed->digest);
    if (!ref.ok()) return ref.status();
    object.blob = *ref;
    return object;
  }
  if (absl::ConsumePrefix(&path, "/blobs/sha256/")) {
    absl::StatusOr<Digest> digest = Digest::FromHex(path);
    if (!digest.ok()) return absl::NotFoundError("no such object");
    absl::StatusOr<BlobRef> ref = index_->FindReleasedBlob(*digest);
    if (!ref.ok()) return ref.status();
    object.blob = *ref;
    return object;
  }
  if (absl::ConsumePrefix(&path, "/tuf/")) {
    absl::StatusOr<std::string> file = repository_->ReadMetadata(path);
    if (!file.ok()) return file.status();
    object.metadata = std::move(*file);
    object.immutable = path != "timestamp.json";
    return object;
  }
  return absl::NotFoundError("no such object");
}

}  // namespace aot::registry
