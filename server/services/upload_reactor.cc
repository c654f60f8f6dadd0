#include "server/services/upload_reactor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/monotonic_clock.h"
#include "server/status.h"

namespace aot::server {

UploadReactor* UploadReactor::Start(ServiceContext& context, aot::v1::UploadModelResponse* response) {
  std::shared_ptr<UploadReactor> reactor(new UploadReactor(context, response));
  reactor->self_ = reactor;
  context.watch.Add(reactor);
  reactor->ReadNext();
  return reactor.get();
}

void UploadReactor::ReadNext() {
  {
    absl::MutexLock lock(&mutex_);
    reading_ = true;
    read_since_ = MonotonicNow();
  }
  StartRead(&request_);
}

void UploadReactor::OnReadDone(bool ok) {
  {
    absl::MutexLock lock(&mutex_);
    if (stalled_) return;
    reading_ = false;
  }
  context_.disk.Schedule([self = self_, ok] { self->Handle(/*end_of_stream=*/!ok); });
}

void UploadReactor::Handle(bool end_of_stream) {
  absl::Status status;
  if (end_of_stream) {
    status = session_.Finish(response_);
  } else {
    status = session_.Receive(request_);
    if (status.ok() && !session_.known()) return ReadNext();
    if (status.ok()) session_.Describe(response_);
  }
  session_.Suspend();
  Finish(ToGrpc(status));
}

void UploadReactor::CheckStall(absl::Duration limit) {
  {
    absl::MutexLock lock(&mutex_);
    if (!reading_ || stalled_ || MonotonicNow() - read_since_ < limit) return;
    stalled_ = true;
  }
  // The disk may be slow, and this is the watch's thread.
  context_.disk.Schedule([self = self_, limit] {
    self->session_.Suspend();
    self->Finish(ToGrpc(absl::DeadlineExceededError(
        absl::StrCat("no chunk came for ", absl::FormatDuration(limit), "; what arrived is kept: resume the upload"))));
  });
}

void UploadReactor::OnDone() { self_.reset(); }

}  // namespace aot::server
