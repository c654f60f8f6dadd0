// What the services work with.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "registry/registry.h"
#include "server/jobs/compile_task.h"
#include "server/jobs/job_scheduler.h"
#include "server/limits.h"
#include "server/services/part_reader.h"
#include "server/stall_watch.h"
#include "server/thread_pool.h"
#include "server/worker/local_executor.h"

namespace aot::server {

// Since the start.
struct CacheCounters {
  std::atomic<int64_t> hits{0};
  std::atomic<int64_t> misses{0};
};

// Owned by the Server; outlives all services and streams. All members are thread-safe.
struct ServiceContext {
  registry::Registry& registry;
  JobScheduler& scheduler;
  const TaskEnvironment& tasks;
  const LocalExecutorOptions& executor_options;
  const ExecutorCounters& executor_counters;
  ThreadPool& disk;     // short reads and writes
  ThreadPool& opening;  // what may read whole files
  StallWatch& watch;
  Limits limits;
  int workers;
  int queue_length;
  absl::Time started;
  // "http://127.0.0.1:7080"; empty: the HTTP side is off.
  std::string repository_url;
  mutable CacheCounters cache;
  SharedObjectDigests digests;
};

}  // namespace aot::server
