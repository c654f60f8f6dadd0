#include "server/services/download_reactor.h"

#include <grpcpp/server_context.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/model_digest.h"
#include "server/monotonic_clock.h"
#include "server/services/conversions.h"
#include "server/status.h"

namespace aot::server {
DownloadReactor* DownloadReactor::Start(ServiceContext& context, grpc::CallbackServerContext* call,
                                        const aot::v1::GetArtifactRequest& request) {
  std::shared_ptr<DownloadReactor> reactor(new DownloadReactor(context, call, request));
  reactor->self_ = reactor;
  context.watch.Add(reactor);
  // Opening may read the whole part: not among those who only send their next piece.
  context.opening.Schedule([reactor] {
    absl::Status status = reactor->Open();
    status.ok() ? reactor->SendNext() : reactor->Finish(ToGrpc(status));
  });
  return reactor.get();
}

absl::Status DownloadReactor::Open() {
  absl::StatusOr<registry::ArtifactKey> key = registry::ArtifactKey::FromHex(request_.key());
  if (!key.ok()) return key.status();
  absl::StatusOr<registry::ArtifactRecord> artifact = context_.registry.LookupArtifact(*key);
  if (!artifact.ok()) return artifact.status();
  if (request_.offset() < 0) {
    return absl::InvalidArgumentError(absl::StrCat("offset is ", request_.offset(), ", below zero"));
  }
  absl::StatusOr<std::unique_ptr<PartReader>> part = OpenPart(context_.registry, context_.digests, *artifact,
                                                              request_.part(), [this] { return call_->IsCancelled(); });
  if (!part.ok()) return part.status();
  part_ = *std::move(part);
  offset_ = static_cast<uint64_t>(request_.offset());
  if (offset_ > part_->ref().size) {
    return absl::OutOfRangeError(
        absl::StrCat("offset ", offset_, " is past the end of a part of ", part_->ref().size, " bytes"));
  }
  *response_.mutable_artifact() = ToProto(*artifact);
  *response_.mutable_digest() = ToProto(part_->ref());
  return absl::OkStatus();
}

void DownloadReactor::SendNext() {
  uint64_t size = part_->ref().size;
  size_t count = static_cast<size_t>(std::min<uint64_t>(size - offset_, context_.limits.download_chunk_bytes));
  response_.mutable_data()->resize(count);
  absl::Status status = part_->ReadAt(offset_, response_.mutable_data()->data(), count);
  if (!status.ok()) return Finish(ToGrpc(status));
  offset_ += count;
  {
    absl::MutexLock lock(&mutex_);
    writing_ = true;
    write_since_ = MonotonicNow();
  }
  if (offset_ == size) {
    StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status::OK);
  } else {
    StartWrite(&response_);
  }
}

void DownloadReactor::OnWriteDone(bool ok) {
  {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
  }
  // After StartWriteAndFinish there is no call of OnWriteDone.
  context_.disk.Schedule([self = self_, ok] {
    if (!ok) return self->Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the client gave up"));
    self->response_.Clear();
    self->SendNext();
  });
}

void DownloadReactor::CheckStall(absl::Duration limit) {
  absl::MutexLock lock(&mutex_);
  if (!writing_ || MonotonicNow() - write_since_ < limit) return;
  writing_ = false;
  call_->TryCancel();  // the write under way fails, OnWriteDone ends the stream
}

void DownloadReactor::OnDone() {
  {
    absl::MutexLock lock(&mutex_);
    writing_ = false;  // the watch may hold on to this object, and call_ is gone
  }
  self_.reset();
}

}  // namespace aot::server
