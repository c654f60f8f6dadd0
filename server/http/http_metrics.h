// What the HTTP side counts. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "prometheus/counter.h"
#include "prometheus/family.h"
#include "prometheus/gauge.h"
#include "prometheus/registry.h"

namespace aot::server {

class HttpMetrics {
 public:
  // `registry` null: a new one.
  explicit HttpMetrics(std::shared_ptr<prometheus::Registry> registry);

  void RequestStarted() { in_flight_.Increment(); }
  // `kind`: "metadata", "blob", "health", "metrics" or "none"; a closed set, so that requests can't make new series.
  void RequestDone(const std::string& kind, int status, uint64_t body_bytes);
  // All metrics of the registry in Prometheus' text format.
  std::string Render() const;

 private:
  std::shared_ptr<prometheus::Registry> registry_;
  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Family<prometheus::Counter>& bytes_;
  prometheus::Gauge& in_flight_;
};

}  // namespace aot::server
