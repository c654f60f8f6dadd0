// Ends streams on which the other side does nothing: one thread that asks each open stream a few times per limit.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace aot::server {

// A stream that may stall. CheckStall is called on the watch's thread and must not block; it finds out whether the
// stream has waited for the other side for longer than `limit`, and then ends it.
class StallCandidate {
 public:
  virtual ~StallCandidate() = default;
  virtual void CheckStall(absl::Duration limit) = 0;
};

// Thread-safe.
class StallWatch {
 public:
  explicit StallWatch(absl::Duration limit);
  ~StallWatch();

  // Watches until the candidate is gone.
  void Add(const std::weak_ptr<StallCandidate>& candidate);

 private:
  void Watch();

  const absl::Duration limit_;
  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::weak_ptr<StallCandidate>> candidates_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace aot::server
