// ReleaseService (proto/aot/v1/release.proto).
#pragma once

#include <memory>

#include "proto/aot/v1/release.grpc.pb.h"
#include "server/services/service_context.h"

namespace aot::server {

// Thread-safe. `context` must outlive it.
std::unique_ptr<aot::v1::ReleaseService::Service> MakeReleaseService(ServiceContext& context);

}  // namespace aot::server
