// A few threads for work that blocks on the disk, so that gRPC's own threads never do.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace aot::server {

// Thread-safe. First come, first served.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  // Runs what is queued, then ends. Nothing may be scheduled any more.
  ~ThreadPool();

  void Schedule(std::function<void()> work);

 private:
  void RunWork();
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || !queue_.empty(); }

  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace aot::server
