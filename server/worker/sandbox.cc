#include "server/worker/sandbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/worker/call_filter.h"
#include "server/worker/namespaces.h"

namespace aot::server {
namespace {

// A lower hard limit of the server itself stays in force.
bool SetLimit(__rlimit_resource_t resource, int64_t soft, int64_t hard) {
  rlimit limit = {static_cast<rlim_t>(soft), static_cast<rlim_t>(hard)};
  rlimit current;
  if (getrlimit(resource, &current) == 0 && current.rlim_max < limit.rlim_max) {
    limit.rlim_max = current.rlim_max;
    limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  }
  return setrlimit(resource, &limit) == 0;
}

bool SetLimit(__rlimit_resource_t resource, int64_t value) { return SetLimit(resource, value, value); }

std::string IdentityMap(unsigned id) { return absl::StrCat(id, " ", id, " 1\n"); }

// Whether a child can do it and prove that it did.
template <typename Action>
bool WorksInChild(const Action& action) {
  pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) _exit(action() ? 0 : 1);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Nothing is sent: the kernel only looks for a route to an address that is for documentation.
bool HasNoRoute() {
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(0xC0000201);
  return fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 && errno == ENETUNREACH;
}

constexpr char kProbeDirectory[] = "/tmp";  // hidden for a moment, from a child alone

}  // namespace

std::string Describe(const Isolation& isolation) {
  std::vector<absl::string_view> network;
  if (isolation.network_namespace) network.push_back("namespace");
  if (isolation.call_filter) network.push_back("call filter");
  absl::string_view files = isolation.files == FileIsolation::kLandlock         ? "Landlock"
                            : isolation.files == FileIsolation::kMountNamespace ? "mount namespace"
                                                                                : "open";
  return absl::StrCat("network: ", network.empty() ? "open" : absl::StrJoin(network, ", "), "; files: ", files,
                      "; other processes: ", isolation.call_filter ? "call filter" : "open");
}

Isolation ProbeIsolation() {
  std::string uid_map = IdentityMap(geteuid()), gid_map = IdentityMap(getegid());
  FileRules rules("/proc/self/exe");
  Isolation isolation;
  isolation.network_namespace =
      WorksInChild([&] { return EnterNamespaces(CLONE_NEWNET, uid_map, gid_map) != Entered::kNo && HasNoRoute(); });
  isolation.call_filter = WorksInChild([] {
    if (!InstallCallFilter() || socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EACCES) return false;
    return fork() < 0 && errno == EPERM;
  });
  bool landlock = WorksInChild([&] {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !rules.Enter(kProbeDirectory)) return false;
    return open("/", O_RDONLY | O_DIRECTORY) < 0 && errno == EACCES;
  });
  bool mounts = !landlock && WorksInChild([&] {
    return EnterNamespaces(CLONE_NEWNET | CLONE_NEWNS, uid_map, gid_map) != Entered::kNo &&
           HideDirectory(kProbeDirectory, "/");
  });
  if (landlock) isolation.files = FileIsolation::kLandlock;
  if (mounts) isolation.files = FileIsolation::kMountNamespace;
  return isolation;
}

SandboxPlan::SandboxPlan(const Isolation& isolation, const SandboxLimits& limits, const std::string& program,
                         const std::string& hidden_directory)
    : isolation_(isolation),
      limits_(limits),
      file_rules_(program),
      hidden_directory_(hidden_directory),
      uid_map_(IdentityMap(geteuid())),
      gid_map_(IdentityMap(getegid())) {}

const char* SandboxPlan::Enter(pid_t parent, const char* job_directory) const {
  // A group of its own, so that whatever the worker starts is killed with it.
  if (setpgid(0, 0) != 0) return "setpgid";
  bool hide = isolation_.files == FileIsolation::kMountNamespace && !hidden_directory_.empty();
  int namespaces = (isolation_.network_namespace ? CLONE_NEWNET : 0) | (hide ? CLONE_NEWNS : 0);
  if (namespaces != 0) {
    Entered entered = EnterNamespaces(namespaces, uid_map_, gid_map_);
    if (entered == Entered::kNo) return "namespaces";
    if (entered == Entered::kWithUserNamespace && !SetLimit(RLIMIT_NPROC, limits_.threads)) return "RLIMIT_NPROC";
  }
  if (hide && !HideDirectory(hidden_directory_.c_str(), job_directory)) return "hidden data directory";
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "no_new_privs";
  if (isolation_.files == FileIsolation::kLandlock && !file_rules_.Enter(job_directory)) return "rules about files";
  if (!SetLimit(RLIMIT_CORE, 0)) return "RLIMIT_CORE";
  if (limits_.memory_bytes > 0 && !SetLimit(RLIMIT_AS, limits_.memory_bytes)) return "RLIMIT_AS";
  // SIGXCPU at the soft limit, which tells what happened; SIGKILL follows if that is caught.
  if (!SetLimit(RLIMIT_CPU, limits_.cpu_seconds, limits_.cpu_seconds + 5)) return "RLIMIT_CPU";
  if (!SetLimit(RLIMIT_FSIZE, limits_.file_bytes)) return "RLIMIT_FSIZE";
  // After the credentials' last change, which would clear it.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return "parent death signal";
  if (getppid() != parent) _exit(1);  // the server died before the line above
  // The last step: it refuses most of those before it.
  if (isolation_.call_filter && !InstallCallFilter()) return "call filter";
  return nullptr;
}

}  // namespace aot::server
