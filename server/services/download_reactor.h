// The server's side of one GetArtifact stream.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/aot/v1/registry.pb.h"
#include "server/services/part_reader.h"
#include "server/services/service_context.h"
#include "server/stall_watch.h"

namespace aot::server {

// Reads a piece on a disk thread, sends it, and so on: a slow reader holds one piece of memory and no thread, and one
// that takes nothing for the stall limit is cut off. Keeps itself alive until gRPC is done with it.
class DownloadReactor : public grpc::ServerWriteReactor<aot::v1::GetArtifactResponse>, public StallCandidate {
 public:
  // Lives on its own. `call` is the RPC's context.
  static DownloadReactor* Start(ServiceContext& context, grpc::CallbackServerContext* call,
                                const aot::v1::GetArtifactRequest& request);

  void OnWriteDone(bool ok) override;
  void OnDone() override;
  void CheckStall(absl::Duration limit) override;

 private:
  DownloadReactor(ServiceContext& context, grpc::CallbackServerContext* call,
                  const aot::v1::GetArtifactRequest& request)
      : context_(context), call_(call), request_(request) {}
  // These run on a disk thread, the first on one for slow work.
  absl::Status Open();
  void SendNext();

  ServiceContext& context_;
  grpc::CallbackServerContext* const call_;
  const aot::v1::GetArtifactRequest request_;
  std::shared_ptr<DownloadReactor> self_;  // until OnDone
  std::unique_ptr<PartReader> part_;
  uint64_t offset_ = 0;
  aot::v1::GetArtifactResponse response_;

  absl::Mutex mutex_;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Duration write_since_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace aot::server
