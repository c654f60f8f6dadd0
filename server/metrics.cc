#include "server/metrics.h"

#include <prometheus/gauge.h>

namespace aot::server {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(5);

}  // namespace

Metrics::Metrics(const ServiceContext& context)
    : context_(context), registry_(std::make_shared<prometheus::Registry>()) {
  Update();
  thread_ = std::thread([this] { Run(); });
}

Metrics::~Metrics() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  thread_.join();
}

void Metrics::Run() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&stopping_), kInterval)) return;
    }
    Update();
  }
}

void Metrics::Set(const char* name, const char* help, double value) {
  // The library gives back the family and the gauge that exist already.
  prometheus::BuildGauge().Name(name).Help(help).Register(*registry_).Add({}).Set(value);
}

void Metrics::Update() {
  SchedulerCounters jobs = context_.scheduler.Counters();
  Set("aot_cache_hits", "Compile requests answered from the cache", context_.cache.hits);
  Set("aot_cache_misses", "Compile requests that needed a compile", context_.cache.misses);
  Set("aot_jobs_joined", "Requests that joined a job for the same key", jobs.joined);
  Set("aot_jobs_succeeded", "Compiles and checks that ended well", jobs.succeeded);
  Set("aot_jobs_failed", "Compiles and checks that did not", jobs.failed);
  Set("aot_jobs_queued", "Jobs that wait now", jobs.queued);
  Set("aot_jobs_running", "Jobs that run now", jobs.running);
  Set("aot_workers_started", "Worker processes", context_.executor_counters.started);
  Set("aot_workers_lost", "Worker processes that crashed or ran out of memory or time",
      context_.executor_counters.lost);
  Set("aot_workers_cancelled", "Worker processes stopped because nobody waited", context_.executor_counters.cancelled);
  absl::StatusOr<registry::Statistics> stored = context_.registry.GetStatistics();
  if (!stored.ok()) return;  // the old values stay; the registry's own calls report what is wrong
  Set("aot_models", "Stored models", static_cast<double>(stored->models));
  Set("aot_artifacts", "Stored artifacts", static_cast<double>(stored->artifacts));
  Set("aot_releases", "Releases", static_cast<double>(stored->releases));
  Set("aot_blob_bytes", "Bytes of all stored files", static_cast<double>(stored->blob_bytes));
  Set("aot_blobs_quarantined", "Damaged files set aside", static_cast<double>(stored->quarantined));
  Set("aot_timestamp_expires_seconds", "When the timestamp role expires, Unix time",
      absl::ToDoubleSeconds(stored->timestamp_expires - absl::UnixEpoch()));
}

}  // namespace aot::server
