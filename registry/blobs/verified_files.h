// Remembers for a minute which files were compared with their digest, so that the ranges of one download don't each
// read the whole blob. A file counts as the same while its inode, size and change time are. Thread-safe.
#pragma once

#include <sys/stat.h>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "registry/digest.h"

namespace aot::registry {

class VerifiedFiles {
 public:
  bool Has(const Digest& digest, const struct stat& info) const;
  void Add(const Digest& digest, const struct stat& info);

 private:
  struct Entry {
    dev_t device;
    ino_t inode;
    off_t size;
    timespec changed;
    absl::Time verified;
  };
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<Digest, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace aot::registry
