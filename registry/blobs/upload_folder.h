// The folder of announced blobs that arrive in pieces, perhaps over several connections: what may lie there, for how
// long, and how much of the disk it may take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "registry/blobs/blob_store.h"
#include "registry/digest.h"

namespace aot::registry {

// Thread-safe.
class UploadFolder {
 public:
  // Interrupted uploads, and blobs that no row has named yet, stay for so long.
  static constexpr absl::Duration kLifetime = absl::Hours(24);

  UploadFolder(std::string path, const BlobLimits& limits) : path_(std::move(path)), limits_(limits) {}

  // Makes room for a blob and gives the path of its file, whether or not a part of it is there already. The oldest
  // interrupted uploads go when the folder would exceed its limit. Close it afterwards. ABORTED: it is open already.
  // RESOURCE_EXHAUSTED: the uploads under way or the disk leave no room.
  absl::StatusOr<std::string> Open(const BlobRef& announced);
  void Close(const Digest& digest);

  // Removes interrupted uploads that nothing was added to for their lifetime.
  absl::Status DropStale();
  // What lies in the folder now.
  absl::StatusOr<uint64_t> Bytes();

 private:
  struct Partial {
    std::string path;
    uint64_t size;
    absl::Time touched;
  };
  std::string PathOf(const BlobRef& announced) const;
  // Those that no writer has open, the oldest first.
  absl::StatusOr<std::vector<Partial>> Interrupted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckDisk(const BlobRef& announced) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  const BlobLimits limits_;
  absl::Mutex mutex_;
  absl::flat_hash_map<Digest, BlobRef> open_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace aot::registry
