// The whole server in one object: registry, job queue, workers, gRPC and HTTP listeners.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/options.h"
#include "server/worker/sandbox.h"

namespace aot::server {

// Serves from Start until Stop or destruction. Thread-safe.
class Server {
 public:
  // INVALID_ARGUMENT: an option is out of range, or the address isn't loopback. UNAVAILABLE: a port is taken; the
  // message names it. Errors of registry::Registry::Open.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerOptions options);
  ~Server();

  int grpc_port() const;
  // -1: the HTTP side is off.
  int http_port() const;
  int workers() const;
  const Isolation& isolation() const;  // of workers

  // Ends running compiles with UNAVAILABLE, gives other calls a few seconds, closes the listeners. Idempotent.
  void Stop();

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace aot::server
