// RegistryService (proto/aot/v1/registry.proto).
#pragma once

#include <memory>

#include "proto/aot/v1/registry.grpc.pb.h"
#include "server/services/service_context.h"

namespace aot::server {

// GetArtifact waits for its reader and holds no thread meanwhile; the others are short.
using RegistryServiceBase = aot::v1::RegistryService::WithCallbackMethod_GetArtifact<aot::v1::RegistryService::Service>;

// Thread-safe. `context` must outlive it.
std::unique_ptr<RegistryServiceBase> MakeRegistryService(ServiceContext& context);

}  // namespace aot::server
