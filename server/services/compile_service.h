// CompileService (proto/aot/v1/compile.proto).
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>

#include "proto/aot/v1/compile.grpc.pb.h"
#include "server/services/service_context.h"

namespace aot::server {

// The calls that wait for a client or a job (Compile, Check, UploadModel) hold no thread; the short ones run on gRPC's.
using CompileServiceBase =
    aot::v1::CompileService::WithCallbackMethod_Compile<aot::v1::CompileService::WithCallbackMethod_Check<
        aot::v1::CompileService::WithCallbackMethod_UploadModel<aot::v1::CompileService::Service>>>;

// Thread-safe. `context` must outlive it.
std::unique_ptr<CompileServiceBase> MakeCompileService(ServiceContext& context);

}  // namespace aot::server
