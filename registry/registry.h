// The registry: models, artifacts and releases in one data directory, as the server sees them.
//
//   data_dir/
//     lock            held while a process uses the directory
//     index.db        SQLite (docs/formats/database.md)
//     blobs/          content-addressed files
//     keys/           private keys of the TUF roles, mode 0600
//     tuf/            signed metadata (docs/formats/repository.md)
//
// A row vouches for blobs that are durable before it is written, and is returned only while they exist: what was
// damaged or deleted by hand is NOT_FOUND and can simply be stored again. Killing the process at any moment loses at
// most the call that was running; the next Open finds a consistent state.
//
// Thread-safe. One process at a time uses a directory. Errors of the disk: RESOURCE_EXHAUSTED (full), DATA_LOSS (I/O
// error, damaged database), PERMISSION_DENIED (not ours, read-only); these can come from every call and are not
// repeated below.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "registry/blobs/blob_store.h"
#include "registry/digest.h"
#include "registry/records.h"
#include "registry/signing/role.h"

namespace aot::registry {

// How long each role's signature is valid. Half of it is left when Maintain signs again.
struct Expiry {
  absl::Duration timestamp = absl::Hours(24);
  absl::Duration snapshot = absl::Hours(24 * 7);
  absl::Duration targets = absl::Hours(24 * 90);
  absl::Duration root = absl::Hours(24 * 365);
};

struct RegistryOptions {
  Expiry expiry;
  BlobLimits blobs;
  // Where the root key is; empty: data_dir/keys. Name a removable medium here to keep root offline: the directory is
  // looked into only when root has to sign.
  std::string root_key_dir;
  // The clock; tests set it.
  std::function<absl::Time()> now = absl::Now;
};

struct GcRequest {
  // Of all blobs, uploads and damaged files: damaged files go first, then the least recently used artifacts and models.
  uint64_t budget_bytes = 0;
  // Replaced releases that each (channel, model, target) keeps besides the current one; without a current one, none.
  uint32_t keep_superseded = 4;
};

struct GcResult {
  uint64_t artifacts = 0, models = 0, releases = 0, blobs = 0;  // removed
  uint64_t freed_bytes = 0;
  uint64_t kept_bytes = 0;  // above the budget when releases, running reads and uploads of the last day need more
};

struct Statistics {
  uint64_t models = 0, artifacts = 0, releases = 0, blobs = 0;
  uint64_t blob_bytes = 0;
  uint64_t upload_bytes = 0;      // received of uploads that aren't complete
  uint64_t quarantine_bytes = 0;  // of damaged blobs that were set aside
  uint64_t quarantined = 0;       // damaged blobs set aside since Open
  absl::Time root_expires, targets_expires, snapshot_expires, timestamp_expires;
  uint64_t root_version = 0, targets_version = 0, snapshot_version = 0, timestamp_version = 0;
};

// What a path of the HTTP side stands for. Exactly one of `metadata` and `blob` is set.
struct RepositoryObject {
  std::optional<std::string> metadata;  // the bytes
  std::optional<BlobRef> blob;          // open it with OpenBlob
  bool immutable = false;               // the path's content never changes
};

class Registry {
 public:
  virtual ~Registry() = default;

  // Creates the directory, keys and first metadata when they are missing; repairs what a killed process left.
  // FAILED_PRECONDITION: another process holds the directory; the schema is newer than this build (the message has
  // both versions); a key file is readable by others. DATA_LOSS: the database is damaged.
  static absl::StatusOr<std::unique_ptr<Registry>> Open(const std::string& data_dir,
                                                        const RegistryOptions& options = {});

  // --- Models -------------------------------------------------------------------------------------------------------
  // Receives one blob of a model. While the writer lives, Gc leaves its blob alone: keep it until StoreModel returns.
  // An announced blob that is interrupted can be resumed, also after a restart within a day. RESOURCE_EXHAUSTED:
  // uploads take what they may already (RegistryOptions::blobs), or the disk hasn't the room.
  virtual absl::StatusOr<std::unique_ptr<BlobWriter>> OpenUpload(const BlobRef& announced) = 0;
  // Whether the store has a file of this name and length (then it needs no upload). Its bytes aren't read here but
  // whenever it is opened; one found damaged then is missing from that moment on. Pin it first if the answer must last.
  virtual bool HasBlob(const BlobRef& ref) = 0;
  virtual BlobPin PinBlob(const Digest& digest) = 0;
  // Records a model whose blobs are stored. FAILED_PRECONDITION names a blob that is missing. Storing a model again is
  // no error: it gets the new name when that isn't empty.
  virtual absl::Status StoreModel(const ModelRecord& model) = 0;
  // NOT_FOUND also when one of its blobs is gone.
  virtual absl::StatusOr<ModelRecord> FindModel(const Digest& digest) = 0;
  virtual absl::StatusOr<std::vector<ModelRecord>> ListModels() = 0;
  // Deletes the model with its artifacts. NOT_FOUND; FAILED_PRECONDITION names a release that uses one of them.
  virtual absl::Status DeleteModel(const Digest& digest) = 0;

  // --- Artifacts ----------------------------------------------------------------------------------------------------
  // The cache hit: microseconds, no disk access beyond the file system's cached attributes, never behind a writer.
  // NOT_FOUND: not stored, or a blob is gone.
  virtual absl::StatusOr<ArtifactRecord> LookupArtifact(const ArtifactKey& key) = 0;
  // The same for a listing: doesn't count as a use.
  virtual absl::StatusOr<ArtifactRecord> PeekArtifact(const ArtifactKey& key) = 0;
  // Stores the parts and then the row, and gives the row as stored (digests, sizes, times filled in). Storing the same
  // bytes again is no error. ALREADY_EXISTS: other bytes are stored under this key, i.e. the compiler was not
  // deterministic. FAILED_PRECONDITION: its model isn't stored.
  virtual absl::StatusOr<ArtifactRecord> StoreArtifact(const ArtifactRecord& record, const ArtifactParts& parts) = 0;
  // All, or those of one model; newest first.
  virtual absl::StatusOr<std::vector<ArtifactRecord>> ListArtifacts(const std::optional<Digest>& model) = 0;
  // NOT_FOUND; FAILED_PRECONDITION names a release that uses it.
  virtual absl::Status DeleteArtifact(const ArtifactKey& key) = 0;

  // Any stored blob, verified; for the server's own use. NOT_FOUND.
  virtual absl::StatusOr<std::unique_ptr<BlobReader>> OpenBlob(const BlobRef& ref, Verify verify) = 0;

  // --- Releases -----------------------------------------------------------------------------------------------------
  // Makes a release: all of its artifacts appear in the signed metadata at once, or none. Targets of the model's
  // previous release that the request doesn't name stay as they are. INVALID_ARGUMENT: a name or the list is wrong.
  // NOT_FOUND: an artifact isn't stored. DATA_LOSS: its bytes are damaged. FAILED_PRECONDITION: a signing key is
  // missing or root has expired. An error whose message says "is published" came after the signature: devices see the
  // release.
  virtual absl::StatusOr<PublishResult> Publish(const PublishRequest& request) = 0;
  // Takes a model out of a channel's signed metadata; devices keep what they have. Its releases become superseded
  // ones, its release numbers go on. NOT_FOUND.
  virtual absl::Status Withdraw(absl::string_view channel, absl::string_view model) = 0;
  // All releases, or those of one channel and model (empty: any); newest first.
  virtual absl::StatusOr<std::vector<ReleaseRecord>> ListReleases(absl::string_view channel,
                                                                  absl::string_view model) = 0;
  // Replaces a role's key by a new one in a new version of root. Clients that follow the chain notice nothing.
  // FAILED_PRECONDITION: the root key isn't where the options say.
  virtual absl::Status RotateKey(Role role) = 0;
  // The current root metadata: what a device is given as its first trust.
  virtual absl::StatusOr<std::string> TrustedRoot() = 0;

  // --- Serving ------------------------------------------------------------------------------------------------------
  // Resolves a path of the repository ("/tuf/timestamp.json", "/blobs/sha256/<hex>"). NOT_FOUND for everything that
  // isn't signed metadata or a blob that a release names: a guessed digest reveals nothing.
  virtual absl::StatusOr<RepositoryObject> Resolve(absl::string_view path) = 0;

  // --- Upkeep -------------------------------------------------------------------------------------------------------
  // Signs again what expires soon, writes delayed last-used times, drops stale uploads, completes a publication whose
  // last step failed. Call it every few minutes.
  virtual absl::Status Maintain() = 0;
  virtual absl::StatusOr<GcResult> Gc(const GcRequest& request) = 0;
  virtual absl::StatusOr<Statistics> GetStatistics() = 0;
};

}  // namespace aot::registry
