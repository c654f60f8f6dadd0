// The server's numbers for Prometheus.
#pragma once

#include <prometheus/registry.h>

#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/services/service_context.h"

namespace aot::server {

// Copies counters and sizes into gauges every few seconds, until destroyed. The hit path pays nothing for it.
class Metrics {
 public:
  // `context` must outlive this.
  explicit Metrics(const ServiceContext& context);
  ~Metrics();

  const std::shared_ptr<prometheus::Registry>& registry() const { return registry_; }

 private:
  void Run();
  void Update();
  void Set(const char* name, const char* help, double value);

  const ServiceContext& context_;
  const std::shared_ptr<prometheus::Registry> registry_;
  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace aot::server
