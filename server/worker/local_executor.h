// Runs each job in a process of its own on this host, in a sandbox.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "server/worker/executor.h"
#include "server/worker/sandbox.h"

namespace aot::server {

struct LocalExecutorOptions {
  std::string worker_path;
  SandboxLimits limits;
  absl::Duration timeout = absl::Minutes(30);  // wall clock, for one job
  Isolation isolation;                         // what the host allows: ProbeIsolation
  std::string private_directory;               // of the server: no worker may look into it, but for its job's directory
};

// Exit codes by which a worker says what it can't say by an event any more.
inline constexpr int kWorkerOutOfMemory = 75;
inline constexpr int kWorkerBadRequest = 64;

// Counters since the start.
struct ExecutorCounters {
  std::atomic<int64_t> started{0};    // processes
  std::atomic<int64_t> lost{0};       // crashed, out of memory, out of time
  std::atomic<int64_t> cancelled{0};  // killed because nobody waited any more
};

class LocalExecutor : public Executor {
 public:
  explicit LocalExecutor(LocalExecutorOptions options);

  absl::StatusOr<WorkerEvent> Run(const WorkerRequest& request, const CancelSignal& cancel,
                                  const ProgressSink& progress) override;

  const ExecutorCounters& counters() const { return counters_; }

 private:
  const LocalExecutorOptions options_;
  const SandboxPlan sandbox_;
  ExecutorCounters counters_;
};

}  // namespace aot::server
