#include "registry/maintenance.h"

#include <utility>

namespace aot::registry {

MaintenanceThread::MaintenanceThread(Registry& registry, absl::Duration interval,
                                     std::function<void(const absl::Status&)> report)
    : registry_(registry), interval_(interval), report_(std::move(report)), thread_([this] { Run(); }) {}

MaintenanceThread::~MaintenanceThread() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

void MaintenanceThread::Run() {
  for (;;) {
    report_(registry_.Maintain());
    absl::MutexLock lock(&mutex_);
    if (mutex_.AwaitWithTimeout(absl::Condition(&stop_), interval_)) return;
  }
}

}  // namespace aot::registry
