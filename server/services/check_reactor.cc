#include "server/services/check_reactor.h"

#include <utility>

#include "server/services/conversions.h"
#include "server/status.h"

namespace aot::server {
namespace {

bool IsAnswer(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kNotFound:  // of the target: that the model is stored was seen before
      return true;
    default:
      return false;
  }
}

}  // namespace

std::shared_ptr<CheckReactor> CheckReactor::Create(JobScheduler& scheduler, std::string key,
                                                   aot::v1::CheckResponse* response) {
  std::shared_ptr<CheckReactor> reactor(new CheckReactor(scheduler, std::move(key), response));
  reactor->self_ = reactor;
  return reactor;
}

void CheckReactor::Refuse(const absl::Status& status) {
  if (!finished_.exchange(true)) Finish(ToGrpc(status));
}

void CheckReactor::OnDone(const absl::StatusOr<JobOutcome>& outcome) {
  if (!outcome.ok() && !IsAnswer(outcome.status().code())) return Refuse(outcome.status());
  if (finished_.exchange(true)) return;
  if (outcome.ok()) {
    *response_->mutable_info() = std::get<aot::v1::ModelInfo>(*outcome);
  } else {
    *response_->mutable_failure() = ToFailure(outcome.status());
  }
  Finish(grpc::Status::OK);
}

void CheckReactor::OnCancel() {
  scheduler_.Leave(key_, this);
  Refuse(absl::CancelledError("the client gave up"));
}

void CheckReactor::OnDone() {
  scheduler_.Leave(key_, this);
  self_.reset();
}

}  // namespace aot::server
