// What a worker process may do: no network, bounded memory, processor time and file sizes, and it dies with its server.
//
// A compiler that reads what strangers send will have bugs; the sandbox keeps such a bug inside one job.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace aot::server {

// How a worker is kept off the network, best first.
enum class NetworkIsolation {
  kNamespace,  // a network namespace of its own, without interfaces
  kSeccomp,    // socket() fails with EACCES for every family but AF_UNIX
  kNone,       // neither is allowed here
};

absl::string_view Name(NetworkIsolation isolation);

// Finds out, by trying in a child process, what this host allows. Containers often forbid namespaces.
NetworkIsolation ProbeNetworkIsolation();

struct SandboxLimits {
  int64_t memory_bytes = int64_t{8} << 30;  // address space; 0: no limit
  int64_t cpu_seconds = 3600;               // of all threads together; then SIGXCPU
  int64_t file_bytes = int64_t{16} << 30;   // of one file written; then SIGXFSZ
};

// Everything that EnterSandbox needs, laid out before the fork.
class SandboxPlan {
 public:
  SandboxPlan(NetworkIsolation network, const SandboxLimits& limits);

  // To be called in the child between fork and exec. Async-signal-safe. Returns nullptr, or the name of the step that
  // failed with errno set. `parent` is the server's process id: if it is gone already, the child ends here.
  const char* Enter(pid_t parent) const;

 private:
  NetworkIsolation network_;
  SandboxLimits limits_;
  std::string uid_map_, gid_map_;
};

}  // namespace aot::server
