// A gRPC channel to an aot_server and its three services.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "proto/aot/v1/compile.grpc.pb.h"
#include "proto/aot/v1/registry.grpc.pb.h"
#include "proto/aot/v1/release.grpc.pb.h"

namespace aot::clients {

// Connects when the first call is made. Thread-safe.
class Connection {
 public:
  // "127.0.0.1:7070". Without TLS: a server listens like that on its own machine only.
  explicit Connection(const std::string& address);

  v1::CompileService::Stub& compile() const { return *compile_; }
  v1::RegistryService::Stub& registry() const { return *registry_; }
  v1::ReleaseService::Stub& release() const { return *release_; }
  const std::string& address() const { return address_; }

  // The same code and message; for UNAVAILABLE the message says which server didn't answer and what to do.
  absl::Status ToStatus(const grpc::Status& status) const;

  // One unary call: `method` is a member of a stub, as in Call(registry(), &RegistryService::Stub::ListTargets,
  // request, &response).
  template <typename Stub, typename Request, typename Response>
  absl::Status Call(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    const Request& request, Response* response) const {
    grpc::ClientContext context;
    return ToStatus((stub.*method)(&context, request, response));
  }

 private:
  std::string address_;
  std::unique_ptr<v1::CompileService::Stub> compile_;
  std::unique_ptr<v1::RegistryService::Stub> registry_;
  std::unique_ptr<v1::ReleaseService::Stub> release_;
};

}  // namespace aot::clients
