// The server's side of one UploadModel stream.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/aot/v1/compile.pb.h"
#include "server/services/service_context.h"
#include "server/services/upload_session.h"
#include "server/stall_watch.h"

namespace aot::server {

// Reads one message at a time, gives it to the session on a disk thread, reads the next: a fast sender waits for the
// disk, and one chunk of memory is used. Keeps itself alive until gRPC is done with it.
//
// The turn goes from the reader (a read is under way) to the disk thread and back. Who has it may use session_. The
// stream is ended by the disk thread, or, when the client stalls, by the watch, which takes the turn away from the
// reader.
class UploadReactor : public grpc::ServerReadReactor<aot::v1::UploadModelRequest>, public StallCandidate {
 public:
  // Starts reading. Lives on its own.
  static UploadReactor* Start(ServiceContext& context, aot::v1::UploadModelResponse* response);

  void OnReadDone(bool ok) override;
  void OnDone() override;
  void CheckStall(absl::Duration limit) override;

 private:
  UploadReactor(ServiceContext& context, aot::v1::UploadModelResponse* response)
      : context_(context), response_(response), session_(context.registry, context.limits) {}
  void ReadNext();
  // On a disk thread.
  void Handle(bool end_of_stream);

  ServiceContext& context_;
  aot::v1::UploadModelResponse* const response_;
  UploadSession session_;
  std::shared_ptr<UploadReactor> self_;  // until OnDone
  aot::v1::UploadModelRequest request_;

  absl::Mutex mutex_;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool stalled_ ABSL_GUARDED_BY(mutex_) = false;  // the watch has ended the stream
  absl::Duration read_since_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace aot::server
