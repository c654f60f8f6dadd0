// The registry over its parts. registry.cc has opening, models and artifacts; registry_releases.cc has releases and
// serving.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "registry/blobs/blob_store.h"
#include "registry/fs/durable.h"
#include "registry/index/index.h"
#include "registry/registry.h"
#include "registry/tuf/repository.h"

namespace aot::registry {

class RegistryImpl : public Registry {
 public:
  RegistryImpl(fs::File lock, RegistryOptions options, std::unique_ptr<BlobStore> blobs, std::unique_ptr<Index> index,
               std::unique_ptr<tuf::Repository> repository)
      : lock_(std::move(lock)),
        options_(std::move(options)),
        blobs_(std::move(blobs)),
        index_(std::move(index)),
        repository_(std::move(repository)) {}

  absl::StatusOr<std::unique_ptr<BlobWriter>> OpenUpload(const BlobRef& announced) override;
  bool HasBlob(const BlobRef& ref) override;
  BlobPin PinBlob(const Digest& digest) override;
  absl::Status StoreModel(const ModelRecord& model) override;
  absl::StatusOr<ModelRecord> FindModel(const Digest& digest) override;
  absl::StatusOr<std::vector<ModelRecord>> ListModels() override;
  absl::Status DeleteModel(const Digest& digest) override;

  absl::StatusOr<ArtifactRecord> LookupArtifact(const ArtifactKey& key) override;
  absl::StatusOr<ArtifactRecord> PeekArtifact(const ArtifactKey& key) override;
  absl::StatusOr<ArtifactRecord> StoreArtifact(const ArtifactRecord& record, const ArtifactParts& parts) override;
  absl::StatusOr<std::vector<ArtifactRecord>> ListArtifacts(const std::optional<Digest>& model) override;
  absl::Status DeleteArtifact(const ArtifactKey& key) override;
  absl::StatusOr<std::unique_ptr<BlobReader>> OpenBlob(const BlobRef& ref, Verify verify) override;

  absl::StatusOr<PublishResult> Publish(const PublishRequest& request) override;
  absl::Status Withdraw(absl::string_view channel, absl::string_view model) override;
  absl::StatusOr<std::vector<ReleaseRecord>> ListReleases(absl::string_view channel, absl::string_view model) override;
  absl::Status RotateKey(Role role) override;
  absl::StatusOr<std::string> TrustedRoot() override;
  absl::StatusOr<RepositoryObject> Resolve(absl::string_view path) override;

  absl::Status Maintain() override;
  absl::StatusOr<GcResult> Gc(const GcRequest& request) override;
  absl::StatusOr<Statistics> GetStatistics() override;

  // Makes the release rows agree with the signed metadata, unless they are known to.
  absl::Status CatchUp();
  // Keeps an index that lost its rows from using a release number again.
  absl::Status SetReleaseFloor();

 private:
  bool Exists(const BlobRef& ref) const;
  absl::Status Reconcile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(publish_mutex_);
  // The request's artifacts as rows of release `release`; verifies every blob by its bytes. `pins` keep them until the
  // rows are written.
  absl::StatusOr<std::vector<ReleaseRecord>> PrepareRelease(const PublishRequest& request, uint64_t release,
                                                            std::vector<BlobPin>& pins);

  const fs::File lock_;  // the flock on data_dir/lock; first to come, last to go
  const RegistryOptions options_;
  const std::unique_ptr<BlobStore> blobs_;
  const std::unique_ptr<Index> index_;
  const std::unique_ptr<tuf::Repository> repository_;

  absl::Mutex store_mutex_;    // makes "compare with the stored row, then write" one step
  absl::Mutex publish_mutex_;  // one publication at a time: release numbers have no gaps
  // False from before a publication's first step until its last one has succeeded.
  bool rows_agree_ ABSL_GUARDED_BY(publish_mutex_) = false;
};

}  // namespace aot::registry
