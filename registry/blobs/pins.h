// Counts who needs a blob to stay. Thread-safe.
#pragma once

#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "registry/blobs/blob_store.h"
#include "registry/digest.h"

namespace aot::registry {

class Pins : public std::enable_shared_from_this<Pins> {
 public:
  // The pin keeps the table alive, so it may outlive the store.
  BlobPin Add(const Digest& digest);
  bool Has(const Digest& digest) const;
  // Calls `action` while no pin on `digest` exists and none can appear. False without calling it when there is one.
  bool RunUnlessPinned(const Digest& digest, const std::function<void()>& action);

 private:
  void Remove(const Digest& digest);

  mutable absl::Mutex mutex_;
  absl::flat_hash_map<Digest, int> counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace aot::registry
