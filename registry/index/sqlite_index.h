// The index in SQLite: one connection that writes, one that answers lookups, each behind its own lock, so that in WAL
// mode a lookup never waits for a commit. The implementation has one file for each kind of row.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "registry/index/database.h"
#include "registry/index/index.h"

namespace aot::registry {

class SqliteIndex : public Index {
 public:
  SqliteIndex(std::unique_ptr<Database> writer, std::unique_ptr<Database> reader)
      : db_(std::move(writer)), lookup_(std::move(reader)) {}
  ~SqliteIndex() override;

  absl::Status PutModel(const ModelRecord& model, absl::Time now) override;
  absl::StatusOr<ModelRecord> GetModel(const Digest& digest) override;
  absl::StatusOr<std::vector<ModelRecord>> ListModels() override;
  absl::StatusOr<std::vector<BlobRef>> DeleteModel(const Digest& digest, absl::string_view reason,
                                                   absl::Time now) override;

  absl::StatusOr<ArtifactRecord> GetArtifact(const ArtifactKey& key) override;
  absl::StatusOr<ArtifactRecord> PutArtifact(const ArtifactRecord& artifact, absl::Time now) override;
  absl::StatusOr<std::vector<ArtifactRecord>> ListArtifacts(const std::optional<Digest>& model) override;
  absl::StatusOr<std::vector<BlobRef>> DeleteArtifact(const ArtifactKey& key, absl::string_view reason,
                                                      absl::Time now) override;

  void NoteUse(const ArtifactKey& key, absl::Time now) override;
  void NoteModelUse(const Digest& model, absl::Time now) override;
  absl::Status FlushUses() override;

  absl::StatusOr<uint64_t> NextRelease(absl::string_view channel, absl::string_view model) override;
  absl::Status SetReleaseFloor(uint64_t floor) override;
  absl::Status AddPending(const std::vector<ReleaseRecord>& rows) override;
  absl::Status Reconcile(const std::vector<ReleaseRecord>& signed_now) override;
  absl::StatusOr<std::vector<ReleaseRecord>> ListReleases(absl::string_view channel, absl::string_view model) override;
  absl::StatusOr<uint64_t> RetireReleases(uint32_t keep, absl::Time now) override;
  absl::StatusOr<BlobRef> FindReleasedBlob(const Digest& digest) override;
  absl::StatusOr<BlobRef> FindReleasedManifest(absl::string_view channel, absl::string_view model,
                                               absl::string_view target, const Digest& digest) override;

  absl::StatusOr<bool> IsReferenced(const Digest& digest) override;
  absl::StatusOr<std::vector<Candidate>> ListCandidates() override;
  absl::StatusOr<IndexCounts> Count() override;

 private:
  // Of a release row; the numbers are stored.
  enum State : int64_t { kPending = 0, kCurrent = 1, kSuperseded = 2 };

  absl::Status WriteUses(const absl::flat_hash_map<ArtifactKey, absl::Time>& artifacts,
                         const absl::flat_hash_map<Digest, absl::Time>& models);
  absl::Status LoadExternal(ModelRecord& model) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::vector<ExternalBlob>> ReadExternal(const Digest& model) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // FAILED_PRECONDITION naming the release when one uses the artifact.
  absl::Status CheckUnreleased(const ArtifactKey& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status InsertRelease(const ReleaseRecord& row, State state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Bury(const char* kind, const std::string& id, absl::string_view reason, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // NOT_FOUND with the tombstone's reason and time if there is one.
  absl::Status Missing(const char* kind, const std::string& id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  std::unique_ptr<Database> db_ ABSL_PT_GUARDED_BY(mutex_);

  // Rows by key as of `cached_version_`; PRAGMA data_version tells when another connection has committed since.
  absl::Mutex lookup_mutex_;
  std::unique_ptr<Database> lookup_ ABSL_PT_GUARDED_BY(lookup_mutex_);
  int64_t cached_version_ ABSL_GUARDED_BY(lookup_mutex_) = -1;
  absl::flat_hash_map<ArtifactKey, ArtifactRecord> cache_ ABSL_GUARDED_BY(lookup_mutex_);

  absl::Mutex uses_mutex_;
  absl::flat_hash_map<ArtifactKey, absl::Time> artifact_uses_ ABSL_GUARDED_BY(uses_mutex_);
  absl::flat_hash_map<Digest, absl::Time> model_uses_ ABSL_GUARDED_BY(uses_mutex_);
};

// Column list and reader of an artifact's row, in one order.
#define AOT_ARTIFACT_COLUMNS                                                                                 \
  "key, model, target, options, compiler, manifest, manifest_size, code, code_size, weights, weights_size, " \
  "compile_us, created_us, last_used_us"
ArtifactRecord ReadArtifact(const Statement& row);

}  // namespace aot::registry
