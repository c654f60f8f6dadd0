// The registry's upkeep: signs metadata again before it expires, writes delayed last-used times.
#pragma once

#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "registry/registry.h"

namespace aot::server {

// Calls Registry::Maintain at the start and then at every interval, until destroyed. A failure is logged and tried
// again: the metadata stays valid for half of its life after the first try.
class MaintenanceThread {
 public:
  // `registry` must outlive this.
  MaintenanceThread(registry::Registry& registry, absl::Duration interval);
  // Waits for a call that is running.
  ~MaintenanceThread();

 private:
  void Run();

  registry::Registry& registry_;
  const absl::Duration interval_;
  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the other members
};

}  // namespace aot::server
