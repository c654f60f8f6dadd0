#include "registry/blobs/pins.h"

namespace aot::registry {

BlobPin Pins::Add(const Digest& digest) {
  {
    absl::MutexLock lock(&mutex_);
    ++counts_[digest];
  }
  return BlobPin([self = shared_from_this(), digest] { self->Remove(digest); });
}

bool Pins::Has(const Digest& digest) const {
  absl::MutexLock lock(&mutex_);
  return counts_.contains(digest);
}

bool Pins::RunUnlessPinned(const Digest& digest, const std::function<void()>& action) {
  absl::MutexLock lock(&mutex_);
  if (counts_.contains(digest)) return false;
  action();
  return true;
}

void Pins::Remove(const Digest& digest) {
  absl::MutexLock lock(&mutex_);
  auto it = counts_.find(digest);
  if (it != counts_.end() && --it->second == 0) counts_.erase(it);
}

}  // namespace aot::registry
