// How to start the server. Everything has a default: no configuration is needed.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/limits.h"
#include "server/worker/local_executor.h"

namespace aot::server {

struct ServerOptions {
  std::string data_dir;               // created if it is missing
  std::string address = "127.0.0.1";  // for both listeners; loopback only, since neither is encrypted
  int grpc_port = 7070;               // 0: any free one
  int http_port = 7080;               // 0: any free one; -1: no HTTP side
  int workers = 0;                    // compiles at a time; 0: one per core
  int queue_length = 64;              // compiles that may wait
  int worker_threads = 0;             // of one compile; 0: one per core
  LocalExecutorOptions executor;      // `network` is found out by the server
  Limits limits;
  absl::Duration maintenance_interval = absl::Minutes(5);
  std::string ports_file;  // where to write the ports, for scripts; empty: nowhere
};

// $XDG_DATA_HOME/aot, or $HOME/.local/share/aot. FAILED_PRECONDITION: neither variable is set.
absl::StatusOr<std::string> DefaultDataDir();

// aot_worker beside this program or in its runfiles. NOT_FOUND lists where it was looked for.
absl::StatusOr<std::string> FindWorker();

// INVALID_ARGUMENT: the address isn't loopback; an insecure listener is refused elsewhere. The message says what to do.
absl::Status CheckLoopback(const std::string& address);

// From the command line. If there is nothing to start (--help, a wrong flag), the text is printed and *exit_code is
// set. Returns true if the server is to start.
bool ParseCommandLine(int argc, char** argv, ServerOptions& options, int* exit_code);

}  // namespace aot::server
