// The index of the registry: which models, artifacts and releases there are. The seam behind which SQLite, or later
// PostgreSQL, keeps the rows. It knows blobs by name only; whether they exist is its caller's question.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "registry/digest.h"
#include "registry/records.h"

namespace aot::registry {

// Something a collection may remove: an artifact that no release names, or a model without artifacts.
struct Candidate {
  enum class Kind { kArtifact, kModel };
  Kind kind;
  Digest id;
  absl::Time last_used;
  std::vector<BlobRef> blobs;
};

struct IndexCounts {
  uint64_t models = 0, artifacts = 0, releases = 0;
};

// Thread-safe. Every call is one transaction: all of it is durable when it returns OK, and none of it otherwise.
// Errors besides the ones named: DATA_LOSS (damaged database or disk), RESOURCE_EXHAUSTED (disk full),
// PERMISSION_DENIED (read-only), UNAVAILABLE (another process holds the database for long).
class Index {
 public:
  virtual ~Index() = default;

  // Inserts, or renames when the row exists and `model.name` isn't empty.
  virtual absl::Status PutModel(const ModelRecord& model, absl::Time now) = 0;
  // NOT_FOUND, with what a tombstone knows.
  virtual absl::StatusOr<ModelRecord> GetModel(const Digest& digest) = 0;
  virtual absl::StatusOr<std::vector<ModelRecord>> ListModels() = 0;
  // Deletes the row and those of its artifacts and gives their blobs. FAILED_PRECONDITION: a release names one.
  virtual absl::StatusOr<std::vector<BlobRef>> DeleteModel(const Digest& digest, absl::string_view reason,
                                                           absl::Time now) = 0;

  // From memory when the row was read before and the database hasn't changed; never waits for a writer.
  virtual absl::StatusOr<ArtifactRecord> GetArtifact(const ArtifactKey& key) = 0;
  // Inserts or replaces. FAILED_PRECONDITION: no such model. Gives the row as stored.
  virtual absl::StatusOr<ArtifactRecord> PutArtifact(const ArtifactRecord& artifact, absl::Time now) = 0;
  virtual absl::StatusOr<std::vector<ArtifactRecord>> ListArtifacts(const std::optional<Digest>& model) = 0;
  // As DeleteModel.
  virtual absl::StatusOr<std::vector<BlobRef>> DeleteArtifact(const ArtifactKey& key, absl::string_view reason,
                                                              absl::Time now) = 0;

  // Notes a use in memory; FlushUses writes all notes.
  virtual void NoteUse(const ArtifactKey& key, absl::Time now) = 0;
  virtual void NoteModelUse(const Digest& model, absl::Time now) = 0;
  virtual absl::Status FlushUses() = 0;

  // One more than the last release of the model in the channel; 1, or one more than the floor, for the first.
  virtual absl::StatusOr<uint64_t> NextRelease(absl::string_view channel, absl::string_view model) = 0;
  // To be called at each start, before anything else about releases. An index that knows of no release, new or lost,
  // gives no number up to `floor` from now on: devices may have seen it for a model that was withdrawn.
  virtual absl::Status SetReleaseFloor(uint64_t floor) = 0;
  // Rows of a release that is being signed: they protect its blobs from now on. NOT_FOUND: an artifact is gone.
  // ALREADY_EXISTS: there are rows of this release.
  virtual absl::Status AddPending(const std::vector<ReleaseRecord>& rows) = 0;
  // Makes the rows agree with the signed metadata: `signed_now` become current (inserted if unknown), other current
  // ones superseded, other pending ones deleted.
  virtual absl::Status Reconcile(const std::vector<ReleaseRecord>& signed_now) = 0;
  // Without pending ones. Empty: any.
  virtual absl::StatusOr<std::vector<ReleaseRecord>> ListReleases(absl::string_view channel,
                                                                  absl::string_view model) = 0;
  // Deletes all but the `keep` newest superseded releases of each (channel, model, target), and all of them where none
  // is current any more; gives how many.
  virtual absl::StatusOr<uint64_t> RetireReleases(uint32_t keep, absl::Time now) = 0;

  // The blob if a release names it, as any part or, in the second form, as the manifest of exactly this target.
  virtual absl::StatusOr<BlobRef> FindReleasedBlob(const Digest& digest) = 0;
  virtual absl::StatusOr<BlobRef> FindReleasedManifest(absl::string_view channel, absl::string_view model,
                                                       absl::string_view target, const Digest& digest) = 0;

  // Whether any row names the blob.
  virtual absl::StatusOr<bool> IsReferenced(const Digest& digest) = 0;
  // What may be collected now, the least recently used first.
  virtual absl::StatusOr<std::vector<Candidate>> ListCandidates() = 0;
  virtual absl::StatusOr<IndexCounts> Count() = 0;
};

// Opens or creates the database file. FAILED_PRECONDITION: its schema is newer than this build's, or it is another
// program's database. DATA_LOSS: it is damaged.
absl::StatusOr<std::unique_ptr<Index>> OpenSqliteIndex(const std::string& path);

}  // namespace aot::registry
