#include "registry/blobs/verified_files.h"

#include "absl/time/clock.h"

namespace aot::registry {
namespace {

constexpr absl::Duration kTrustedFor = absl::Minutes(1);
constexpr size_t kMaxEntries = 4096;  // then the table starts over: it only saves time

}  // namespace

bool VerifiedFiles::Has(const Digest& digest, const struct stat& info) const {
  absl::MutexLock lock(&mutex_);
  auto it = entries_.find(digest);
  if (it == entries_.end()) return false;
  const Entry& e = it->second;
  return e.device == info.st_dev && e.inode == info.st_ino && e.size == info.st_size &&
         e.changed.tv_sec == info.st_ctim.tv_sec && e.changed.tv_nsec == info.st_ctim.tv_nsec &&
         absl::Now() - e.verified < kTrustedFor;
}

void VerifiedFiles::Add(const Digest& digest, const struct stat& info) {
  absl::MutexLock lock(&mutex_);
  if (entries_.size() >= kMaxEntries) entries_.clear();
  entries_[digest] = Entry{info.st_dev, info.st_ino, info.st_size, info.st_ctim, absl::Now()};
}

}  // namespace aot::registry
