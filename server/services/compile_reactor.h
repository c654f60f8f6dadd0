// The server's side of one Compile stream.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

#include "proto/aot/v1/compile.pb.h"
#include "server/jobs/job_scheduler.h"
#include "server/stall_watch.h"

namespace aot::server {

// Turns a job's notices into events on the stream. A slow reader costs no memory: of events that wait, only the newest
// queue position and the newest progress of each stage are kept. Keeps itself alive until gRPC and the scheduler are
// done with it.
//
// gRPC may run its callbacks inside the call that starts an operation, so no operation is started with the mutex held:
// `busy_` says that somebody is starting one or that one is under way, and only that one goes on.
class CompileReactor : public grpc::ServerWriteReactor<aot::v1::CompileResponse>, public JobObserver {
 public:
  // A stream that waits for the job of this key in `scheduler`; the caller submits it. It lives on its own.
  static std::shared_ptr<CompileReactor> Create(JobScheduler& scheduler, std::string key);

  // Ends the stream with a result or a failure, as for a job. Also for requests that never become one.
  void Succeed(const registry::ArtifactRecord& artifact, bool cache_hit);
  void Fail(const absl::Status& status);

  void OnQueued(int ahead) override;
  void OnProgress(const aot::v1::StageProgress& progress) override;
  void OnDone(const absl::StatusOr<JobOutcome>& outcome) override;

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  CompileReactor(JobScheduler& scheduler, std::string key) : scheduler_(scheduler), key_(std::move(key)) {}
  void End(aot::v1::CompileResponse last, grpc::Status status);
  // Starts the next operation if none is under way.
  void Pump();

  JobScheduler& scheduler_;
  const std::string key_;
  std::shared_ptr<CompileReactor> self_;  // until OnDone()
  aot::v1::CompileResponse writing_;      // of the operation under way; owned by whoever set busy_

  absl::Mutex mutex_;
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;   // Finish was called
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;  // no more events: the client is gone
  std::optional<aot::v1::Queued> queued_ ABSL_GUARDED_BY(mutex_);
  std::map<int, aot::v1::StageProgress> progress_ ABSL_GUARDED_BY(mutex_);  // by stage
  std::optional<aot::v1::CompileResponse> last_ ABSL_GUARDED_BY(mutex_);
  grpc::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace aot::server
