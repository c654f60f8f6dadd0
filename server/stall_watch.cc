#include "server/stall_watch.h"

#include <algorithm>
#include <utility>

namespace aot::server {

StallWatch::StallWatch(absl::Duration limit) : limit_(limit), thread_([this] { Watch(); }) {}

StallWatch::~StallWatch() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  thread_.join();
}

void StallWatch::Add(const std::weak_ptr<StallCandidate>& candidate) {
  absl::MutexLock lock(&mutex_);
  candidates_.push_back(candidate);
}

void StallWatch::Watch() {
  const absl::Duration interval = std::max(absl::Milliseconds(10), limit_ / 4);
  absl::MutexLock lock(&mutex_);
  while (!mutex_.AwaitWithTimeout(absl::Condition(&stopping_), interval)) {
    std::vector<std::shared_ptr<StallCandidate>> alive;
    auto gone = std::remove_if(candidates_.begin(), candidates_.end(), [&alive](const auto& weak) {
      std::shared_ptr<StallCandidate> candidate = weak.lock();
      if (candidate == nullptr) return true;
      alive.push_back(std::move(candidate));
      return false;
    });
    candidates_.erase(gone, candidates_.end());
    // Without the lock: a candidate may end here, and its stream may make another.
    mutex_.Unlock();
    for (const auto& candidate : alive) candidate->CheckStall(limit_);
    alive.clear();
    mutex_.Lock();
  }
}

}  // namespace aot::server
