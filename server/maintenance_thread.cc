#include "server/maintenance_thread.h"

#include <spdlog/spdlog.h>

namespace aot::server {

MaintenanceThread::MaintenanceThread(registry::Registry& registry, absl::Duration interval)
    : registry_(registry), interval_(interval), thread_([this] { Run(); }) {}

MaintenanceThread::~MaintenanceThread() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  thread_.join();
}

void MaintenanceThread::Run() {
  while (true) {
    if (absl::Status status = registry_.Maintain(); !status.ok()) {
      spdlog::error("upkeep of the registry failed and will be tried again: {}", status.ToString());
    }
    absl::MutexLock lock(&mutex_);
    if (mutex_.AwaitWithTimeout(absl::Condition(&stopping_), interval_)) return;
  }
}

}  // namespace aot::server
