// What a worker process may do: no network, the files of its job only, no processes of its own, no hand on others,
// bounded memory, processor time and file sizes; and it dies with its server.
//
// A compiler that reads what strangers send will have bugs; the sandbox keeps such a bug inside one job.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "server/worker/file_rules.h"

namespace aot::server {

// How a worker is kept off files that aren't its own, best first.
enum class FileIsolation {
  kLandlock,        // it opens what FileRules lists and nothing else
  kMountNamespace,  // the server's data directory is out of sight; other files are as the server's user sees them
  kNone,            // neither is allowed here
};

// What of the sandbox this host allows. The parts cover each other: each closes some way out that another leaves.
struct Isolation {
  bool network_namespace = false;  // of its own, without interfaces
  bool call_filter = false;        // InstallCallFilter: no sockets, no processes, no signals to others
  FileIsolation files = FileIsolation::kNone;
};

// Three phrases for people, e.g. "network: namespace, call filter; files: Landlock; other processes: call filter".
std::string Describe(const Isolation& isolation);

// Finds out, by trying each part in a child process, what this host allows. Containers often forbid namespaces.
Isolation ProbeIsolation();

struct SandboxLimits {
  int64_t memory_bytes = int64_t{8} << 30;  // address space; 0: no limit
  int64_t cpu_seconds = 3600;               // of all threads together; then SIGXCPU
  int64_t file_bytes = int64_t{16} << 30;   // of one file written; then SIGXFSZ
  int64_t threads = 4096;                   // where the user's other threads don't count: in a user namespace
};

// Everything that entering the sandbox needs, laid out before the fork.
class SandboxPlan {
 public:
  // `program` is the worker. `hidden_directory` holds what no worker may see; empty: nothing.
  SandboxPlan(const Isolation& isolation, const SandboxLimits& limits, const std::string& program,
              const std::string& hidden_directory);

  // To be called in the child between fork and exec. Async-signal-safe. Returns nullptr, or the name of the step that
  // failed with errno set. `parent` is the server's process id: if it is gone already, the child ends here.
  // `job_directory` is the one place where the worker may write.
  const char* Enter(pid_t parent, const char* job_directory) const;

 private:
  Isolation isolation_;
  SandboxLimits limits_;
  FileRules file_rules_;
  std::string hidden_directory_;
  std::string uid_map_, gid_map_;
};

}  // namespace aot::server
