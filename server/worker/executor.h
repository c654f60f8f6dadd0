// Where compiles run: an interface with one implementation now, processes on this host (local_executor.h).
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "proto/aot/v1/compile.pb.h"
#include "server/worker/cancel_signal.h"
#include "server/worker/worker.pb.h"

namespace aot::server {

// Called on the thread that runs the job.
using ProgressSink = std::function<void(const aot::v1::StageProgress&)>;

// Thread-safe: several jobs run at once.
class Executor {
 public:
  virtual ~Executor() = default;

  // Runs one job to its end and gives its last event: `artifact` for a compile (its parts lie in the request's output
  // directory), `info` for a check. What the compiler says about the model comes as it is, code and message.
  // INTERNAL: the worker crashed, RESOURCE_EXHAUSTED: it ran out of memory or wrote too much, DEADLINE_EXCEEDED: it
  // took too long, CANCELLED: `cancel` was set. The request's files must stay until the return.
  virtual absl::StatusOr<WorkerEvent> Run(const WorkerRequest& request, const CancelSignal& cancel,
                                          const ProgressSink& progress) = 0;
};

}  // namespace aot::server
