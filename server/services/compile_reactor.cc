#include "server/services/compile_reactor.h"

#include <utility>

#include "server/services/conversions.h"
#include "server/status.h"

namespace aot::server {

std::shared_ptr<CompileReactor> CompileReactor::Create(JobScheduler& scheduler, std::string key) {
  std::shared_ptr<CompileReactor> reactor(new CompileReactor(scheduler, std::move(key)));
  reactor->self_ = reactor;
  return reactor;
}

void CompileReactor::Succeed(const registry::ArtifactRecord& artifact, bool cache_hit) {
  aot::v1::CompileResponse last;
  *last.mutable_result()->mutable_artifact() = ToProto(artifact);
  last.mutable_result()->set_cache_hit(cache_hit);
  End(std::move(last), grpc::Status::OK);
}

void CompileReactor::Fail(const absl::Status& status) {
  aot::v1::CompileResponse last;
  *last.mutable_failure() = ToFailure(status);
  End(std::move(last), ToGrpc(status));
}

void CompileReactor::OnQueued(int ahead) {
  {
    absl::MutexLock lock(&mutex_);
    queued_.emplace().set_ahead(ahead);
  }
  Pump();
}

void CompileReactor::OnProgress(const aot::v1::StageProgress& progress) {
  {
    absl::MutexLock lock(&mutex_);
    queued_.reset();  // older news
    progress_[progress.stage()] = progress;
  }
  Pump();
}

void CompileReactor::OnDone(const absl::StatusOr<JobOutcome>& outcome) {
  if (!outcome.ok()) return Fail(outcome.status());
  Succeed(std::get<registry::ArtifactRecord>(*outcome), /*cache_hit=*/false);
}

void CompileReactor::End(aot::v1::CompileResponse last, grpc::Status status) {
  {
    absl::MutexLock lock(&mutex_);
    if (last_.has_value()) return;
    last_ = std::move(last);
    status_ = std::move(status);
  }
  Pump();
}

void CompileReactor::Pump() {
  bool finish = false, write = false;
  grpc::Status status;
  {
    absl::MutexLock lock(&mutex_);
    if (busy_ || finished_) return;
    writing_.Clear();
    if (cancelled_) {
      finish = true;
      status = grpc::Status(grpc::StatusCode::CANCELLED, "the client gave up");
    } else if (queued_.has_value()) {
      write = true;
      *writing_.mutable_queued() = *std::exchange(queued_, std::nullopt);
    } else if (!progress_.empty()) {
      write = true;
      *writing_.mutable_progress() = std::move(progress_.begin()->second);
      progress_.erase(progress_.begin());
    } else if (last_.has_value()) {
      write = finish = true;
      writing_ = *last_;
      status = status_;
    } else {
      return;
    }
    busy_ = true;
    finished_ = finish;
  }
  if (write && finish) {
    StartWriteAndFinish(&writing_, grpc::WriteOptions(), std::move(status));
  } else if (write) {
    StartWrite(&writing_);
  } else {
    Finish(std::move(status));
  }
}

void CompileReactor::OnWriteDone(bool ok) {
  {
    absl::MutexLock lock(&mutex_);
    busy_ = false;
    if (!ok) cancelled_ = true;
  }
  Pump();
}

void CompileReactor::OnCancel() {
  scheduler_.Leave(key_, this);
  {
    absl::MutexLock lock(&mutex_);
    cancelled_ = true;
  }
  Pump();
}

void CompileReactor::OnDone() {
  // A job that still runs is one that the client gave up.
  scheduler_.Leave(key_, this);
  self_.reset();
}

}  // namespace aot::server
