// The bytes of one part of an artifact, whether stored as they are or put together as they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/aot/v1/artifact.pb.h"
#include "registry/registry.h"

namespace aot::server {

// Immutable; the stored files stay while it lives. Not thread-safe.
class PartReader {
 public:
  virtual ~PartReader() = default;
  // Digest and length of the whole part.
  virtual const registry::BlobRef& ref() const = 0;
  // Fills `buffer` with the `size` bytes at `offset`, which lie inside the part.
  virtual absl::Status ReadAt(uint64_t offset, char* buffer, size_t size) const = 0;
};

// Digests of `.so` forms that were computed before, by the digests of their parts, which decide them. Thread-safe.
class SharedObjectDigests {
 public:
  std::optional<registry::Digest> Find(const registry::ArtifactRecord& artifact) const;
  void Add(const registry::ArtifactRecord& artifact, const registry::Digest& digest);

 private:
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, registry::Digest> digests_ ABSL_GUARDED_BY(mutex_);
};

// Opens a part. The `.so` form isn't stored: it is laid out over the three parts (runtime/format/container.h) and, the
// first time, read once here to know its digest, with constant memory; that takes time, and ends when `cancelled` says
// so. INVALID_ARGUMENT: no such part. DATA_LOSS: stored bytes are damaged. CANCELLED.
absl::StatusOr<std::unique_ptr<PartReader>> OpenPart(registry::Registry& registry, SharedObjectDigests& digests,
                                                     const registry::ArtifactRecord& artifact,
                                                     aot::v1::ArtifactPart part,
                                                     const std::function<bool()>& cancelled);

// A stored part in memory: for manifests, whose size the format limits. Errors as above.
absl::StatusOr<std::string> ReadManifest(registry::Registry& registry, const registry::ArtifactRecord& artifact);

}  // namespace aot::server
