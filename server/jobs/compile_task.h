// The work of one job: take the model's files out of the registry, let a worker compile or check them, keep the result.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/aot/v1/artifact.pb.h"
#include "registry/registry.h"
#include "server/jobs/job_scheduler.h"
#include "server/worker/executor.h"

namespace aot::server {

// What jobs work with; outlives them.
struct TaskEnvironment {
  registry::Registry& registry;
  Executor& executor;
  std::string work_dir;  // private directories are made here
  int worker_threads;    // of one compile; 0: one per core
};

// A compile of a stored model. If the artifact got stored meanwhile, no worker is started. The artifact's key must be
// the one asked for, or the result is refused with INTERNAL: then server and worker are of two builds.
JobScheduler::Task CompileTask(const TaskEnvironment& environment, registry::ModelRecord model,
                               aot::v1::CompileOptions options, registry::ArtifactKey key);

// A check of a stored model.
JobScheduler::Task CheckTask(const TaskEnvironment& environment, registry::ModelRecord model,
                             aot::v1::CompileOptions options);

}  // namespace aot::server
