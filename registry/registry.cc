#include "registry/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "registry/blobs/file_blob_store.h"
#include "registry/gc.h"
#include "registry/names.h"
#include "registry/registry_impl.h"
#include "registry/signing/key_store.h"

namespace aot::registry {
namespace {

constexpr size_t kCopyChunk = 1 << 20;

// Held by the process until it ends, however it ends.
absl::StatusOr<fs::File> LockDirectory(const std::string& data_dir) {
  std::string path = absl::StrCat(data_dir, "/lock");
  absl::StatusOr<fs::File> file = fs::Create(path, 0, 0600);
  if (!file.ok()) return file;
  if (flock(file->fd(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK) return fs::ErrnoStatus(errno, "lock", path);
  return absl::FailedPreconditionError(
      absl::StrCat("another process uses ", data_dir, "; stop it or name another data directory"));
}

// Stores a part, leaving it pinned by what is added to `pins` and `writers`.
absl::StatusOr<BlobRef> StorePart(BlobStore& blobs, const PartSource& source, std::vector<BlobPin>& pins,
                                  std::vector<std::unique_ptr<BlobWriter>>& writers) {
  if (const auto* bytes = std::get_if<absl::string_view>(&source)) {
    pins.push_back(blobs.Pin(Digest::Of(*bytes)));
    return PutBytes(blobs, *bytes);
  }
  const std::string& path = std::get<FilePath>(source).path;
  absl::StatusOr<fs::File> file = fs::OpenForReading(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<std::unique_ptr<BlobWriter>> writer = blobs.CreateBlob();
  if (!writer.ok()) return writer.status();
  std::string buffer(kCopyChunk, '\0');
  for (;;) {
    ssize_t n = read(file->fd(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fs::ErrnoStatus(errno, "read", path);
    if (n == 0) break;
    absl::Status s = (*writer)->Append(absl::string_view(buffer.data(), static_cast<size_t>(n)));
    if (!s.ok()) return s;
  }
  writers.push_back(std::move(*writer));
  return writers.back()->Commit();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Registry>> Registry::Open(const std::string& data_dir, const RegistryOptions& options) {
  if (absl::Status s = fs::MakeDirectories(data_dir, 0700); !s.ok()) return s;
  absl::StatusOr<fs::File> lock = LockDirectory(data_dir);
  if (!lock.ok()) return lock.status();
  absl::StatusOr<std::unique_ptr<BlobStore>> blobs = OpenFileBlobStore(absl::StrCat(data_dir, "/blobs"), options.blobs);
  if (!blobs.ok()) return blobs.status();
  absl::StatusOr<std::unique_ptr<Index>> index = OpenSqliteIndex(absl::StrCat(data_dir, "/index.db"));
  if (!index.ok()) return index.status();
  std::string key_dir = absl::StrCat(data_dir, "/keys");
  KeyStore keys(key_dir, options.root_key_dir.empty() ? key_dir : options.root_key_dir);
  tuf::Lifetimes lifetimes{options.expiry.root, options.expiry.targets, options.expiry.snapshot,
                           options.expiry.timestamp};
  absl::StatusOr<std::unique_ptr<tuf::Repository>> repository =
      tuf::Repository::Open(absl::StrCat(data_dir, "/tuf"), keys, lifetimes, options.now);
  if (!repository.ok()) return repository.status();
  auto registry = std::make_unique<RegistryImpl>(std::move(*lock), options, std::move(*blobs), std::move(*index),
                                                 std::move(*repository));
  if (absl::Status s = registry->SetReleaseFloor(); !s.ok()) return s;
  // A process may have been killed between signing a release and writing that down.
  if (absl::Status s = registry->CatchUp(); !s.ok()) return s;
  return std::unique_ptr<Registry>(std::move(registry));
}

absl::StatusOr<std::unique_ptr<BlobWriter>> RegistryImpl::OpenUpload(const BlobRef& announced) {
  return blobs_->OpenUpload(announced);
}

bool RegistryImpl::HasBlob(const BlobRef& ref) { return Exists(ref); }

BlobPin RegistryImpl::PinBlob(const Digest& digest) { return blobs_->Pin(digest); }

bool RegistryImpl::Exists(const BlobRef& ref) const {
  absl::StatusOr<uint64_t> size = blobs_->Stat(ref.digest);
  return size.ok() && *size == ref.size;
}

absl::Status RegistryImpl::StoreModel(const ModelRecord& model) {
  std::vector<std::pair<std::string, BlobRef>> needed = {{"the model file", model.blob}};
  for (const ExternalBlob& e : model.external) needed.emplace_back(absl::StrCat("external data ", e.name), e.blob);
  std::vector<BlobPin> pins;
  for (const auto& [what, ref] : needed) {
    pins.push_back(blobs_->Pin(ref.digest));
    if (!Exists(ref)) {
      return absl::FailedPreconditionError(absl::StrCat("blob ", ref.digest.Hex(), " of ", ref.size, " bytes (", what,
                                                        " of model ", model.digest.Hex(),
                                                        ") isn't stored; upload it first"));
    }
  }
  return index_->PutModel(model, options_.now());
}

absl::StatusOr<ModelRecord> RegistryImpl::FindModel(const Digest& digest) {
  absl::StatusOr<ModelRecord> model = index_->GetModel(digest);
  if (!model.ok()) return model;
  bool whole = Exists(model->blob) && std::all_of(model->external.begin(), model->external.end(),
                                                  [&](const ExternalBlob& e) { return Exists(e.blob); });
  if (!whole) {
    return absl::NotFoundError(
        absl::StrCat("a blob of model ", digest.Hex(), " is missing or was damaged; upload the model again"));
  }
  index_->NoteModelUse(digest, options_.now());
  return model;
}

absl::StatusOr<std::vector<ModelRecord>> RegistryImpl::ListModels() {
  if (absl::Status s = index_->FlushUses(); !s.ok()) return s;
  return index_->ListModels();
}

absl::Status RegistryImpl::DeleteModel(const Digest& digest) {
  absl::StatusOr<std::vector<BlobRef>> freed = index_->DeleteModel(digest, "deleted by request", options_.now());
  if (!freed.ok()) return freed.status();
  GcResult ignored;
  return DeleteUnreferenced(*index_, *blobs_, *freed, ignored);
}

absl::StatusOr<ArtifactRecord> RegistryImpl::PeekArtifact(const ArtifactKey& key) {
  absl::StatusOr<ArtifactRecord> row = index_->GetArtifact(key);
  if (row.ok() && !(Exists(row->manifest) && Exists(row->code) && Exists(row->weights))) {
    row = absl::NotFoundError(absl::StrCat("a blob of artifact ", key.Hex(), " is missing or was damaged"));
  }
  return row;
}

absl::StatusOr<ArtifactRecord> RegistryImpl::LookupArtifact(const ArtifactKey& key) {
  absl::StatusOr<ArtifactRecord> row = PeekArtifact(key);
  if (row.ok()) index_->NoteUse(key, options_.now());
  return row;
}

absl::StatusOr<ArtifactRecord> RegistryImpl::StoreArtifact(const ArtifactRecord& record, const ArtifactParts& parts) {
  if (absl::Status s = CheckName("target", record.target); !s.ok()) return s;
  std::vector<BlobPin> pins;
  std::vector<std::unique_ptr<BlobWriter>> writers;
  ArtifactRecord artifact = record;
  for (auto [source, ref] :
       {std::make_pair(&parts.manifest, &artifact.manifest), std::make_pair(&parts.code, &artifact.code),
        std::make_pair(&parts.weights, &artifact.weights)}) {
    absl::StatusOr<BlobRef> stored = StorePart(*blobs_, *source, pins, writers);
    if (!stored.ok()) return stored.status();
    *ref = *stored;
  }
  absl::MutexLock lock(&store_mutex_);
  absl::StatusOr<ArtifactRecord> old = index_->GetArtifact(record.key);
  if (!old.ok() && !absl::IsNotFound(old.status())) return old;
  if (old.ok()) {
    if (old->manifest == artifact.manifest && old->code == artifact.code && old->weights == artifact.weights)
      return old;
    if (Exists(old->manifest) && Exists(old->code) && Exists(old->weights)) {
      return absl::AlreadyExistsError(absl::StrCat(
          "artifact ", record.key.Hex(), " is stored with other bytes (manifest ", old->manifest.digest.Hex(), ", now ",
          artifact.manifest.digest.Hex(), "): the compiler gave two results for one key"));
    }
  }
  return index_->PutArtifact(artifact, options_.now());
}

absl::StatusOr<std::vector<ArtifactRecord>> RegistryImpl::ListArtifacts(const std::optional<Digest>& model) {
  if (absl::Status s = index_->FlushUses(); !s.ok()) return s;
  return index_->ListArtifacts(model);
}

absl::Status RegistryImpl::DeleteArtifact(const ArtifactKey& key) {
  absl::StatusOr<std::vector<BlobRef>> freed = index_->DeleteArtifact(key, "deleted by request", options_.now());
  if (!freed.ok()) return freed.status();
  GcResult ignored;
  return DeleteUnreferenced(*index_, *blobs_, *freed, ignored);
}

absl::StatusOr<std::unique_ptr<BlobReader>> RegistryImpl::OpenBlob(const BlobRef& ref, Verify verify) {
  return blobs_->Open(ref, verify);
}

absl::Status RegistryImpl::Maintain() {
  // Each as far as it gets; the first error is told.
  absl::Status status = CatchUp();
  status.Update(repository_->Refresh());
  status.Update(index_->FlushUses());
  status.Update(blobs_->DropStaleUploads());
  return status;
}

absl::StatusOr<GcResult> RegistryImpl::Gc(const GcRequest& request) {
  return CollectGarbage(*index_, *blobs_, request, options_.now());
}

absl::StatusOr<Statistics> RegistryImpl::GetStatistics() {
  absl::StatusOr<IndexCounts> counts = index_->Count();
  if (!counts.ok()) return counts.status();
  absl::StatusOr<BlobTotals> totals = blobs_->Totals();
  if (!totals.ok()) return totals.status();
  Statistics s;
  s.models = counts->models;
  s.artifacts = counts->artifacts;
  s.releases = counts->releases;
  s.blobs = totals->blobs;
  s.blob_bytes = totals->blob_bytes;
  s.upload_bytes = totals->upload_bytes;
  s.quarantine_bytes = totals->quarantine_bytes;
  s.quarantined = blobs_->quarantined();
  s.root_expires = repository_->expires(Role::kRoot);
  s.targets_expires = repository_->expires(Role::kTargets);
  s.snapshot_expires = repository_->expires(Role::kSnapshot);
  s.timestamp_expires = repository_->expires(Role::kTimestamp);
  s.root_version = repository_->version(Role::kRoot);
  s.targets_version = repository_->version(Role::kTargets);
  s.snapshot_version = repository_->version(Role::kSnapshot);
  s.timestamp_version = repository_->version(Role::kTimestamp);
  return s;
}

}  // namespace aot::registry
