// Calls Registry::Maintain at regular times, in a thread of its own.
#pragma once

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "registry/registry.h"

namespace aot::registry {

class MaintenanceThread {
 public:
  // `registry` must outlive the thread. `report` gets every outcome, from the thread; the first comes at once.
  MaintenanceThread(Registry& registry, absl::Duration interval, std::function<void(const absl::Status&)> report);
  // Waits for a call that is running.
  ~MaintenanceThread();

 private:
  void Run();

  Registry& registry_;
  const absl::Duration interval_;
  const std::function<void(const absl::Status&)> report_;
  absl::Mutex mutex_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the other members
};

}  // namespace aot::registry
