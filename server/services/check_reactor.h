// The server's side of one Check call.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <memory>
#include <string>

#include "proto/aot/v1/compile.pb.h"
#include "server/jobs/job_scheduler.h"

namespace aot::server {

// Answers when its job is done. Keeps itself alive until gRPC and the scheduler are done with it.
class CheckReactor : public grpc::ServerUnaryReactor, public JobObserver {
 public:
  // For the job of this key in `scheduler`; the caller submits it. `response` is the call's.
  static std::shared_ptr<CheckReactor> Create(JobScheduler& scheduler, std::string key,
                                              aot::v1::CheckResponse* response);

  // Ends the call with an error of the RPC.
  void Refuse(const absl::Status& status);

  void OnQueued(int) override {}
  void OnProgress(const aot::v1::StageProgress&) override {}
  // What the compiler says about model and options is an answer; what keeps it from saying anything is an error.
  void OnDone(const absl::StatusOr<JobOutcome>& outcome) override;

  void OnCancel() override;
  void OnDone() override;

 private:
  CheckReactor(JobScheduler& scheduler, std::string key, aot::v1::CheckResponse* response)
      : scheduler_(scheduler), key_(std::move(key)), response_(response) {}

  JobScheduler& scheduler_;
  const std::string key_;
  aot::v1::CheckResponse* const response_;
  std::shared_ptr<CheckReactor> self_;  // until OnDone()
  std::atomic<bool> finished_{false};   // whoever sets it writes the response and calls Finish
};

}  // namespace aot::server
