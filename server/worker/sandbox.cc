#include "server/worker/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace aot::server {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kAuditArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kAuditArch = AUDIT_ARCH_AARCH64;
#else
#error "State the audit architecture of this host"
#endif

constexpr uint32_t kX32Bit = 0x40000000;  // set in the system call numbers of the x32 ABI; no such numbers elsewhere

bool WriteFile(const char* path, const std::string& text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool ok = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return ok;
}

// A network namespace without interfaces. An unprivileged process gets one together with a user namespace, in which its
// own user and group are mapped to themselves; a privileged one that may not make user namespaces gets it directly.
bool EnterNetworkNamespace(const std::string& uid_map, const std::string& gid_map) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) {
    // Best effort: without a map the process merely sees itself as "nobody"; its access to files stays what it was.
    WriteFile("/proc/self/setgroups", "deny");
    WriteFile("/proc/self/uid_map", uid_map);
    WriteFile("/proc/self/gid_map", gid_map);
    return true;
  }
  return unshare(CLONE_NEWNET) == 0;
}

// socket(family != AF_UNIX) -> EACCES, io_uring (which has a socket operation of its own) as well. Foreign ABIs, whose
// numbers would pass the filter by, end the process.
bool InstallSocketFilter() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kAuditArch, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32Bit, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
  };
  sock_fprog program = {static_cast<unsigned short>(sizeof(code) / sizeof(code[0])), code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

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

bool IsolateNetwork(NetworkIsolation network, const std::string& uid_map, const std::string& gid_map) {
  switch (network) {
    case NetworkIsolation::kNamespace:
      return EnterNetworkNamespace(uid_map, gid_map);
    case NetworkIsolation::kSeccomp:
      return InstallSocketFilter();
    case NetworkIsolation::kNone:
      return true;
  }
  return false;
}

bool WorksInChild(NetworkIsolation network, const std::string& uid_map, const std::string& gid_map) {
  pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    bool ok = IsolateNetwork(network, uid_map, gid_map);
    if (ok) {
      // The proof: no way to the network, whatever the system call above said. A namespace lets the socket be made, but
      // has no route.
      int fd = socket(AF_INET, SOCK_STREAM, 0);
      ok = network == NetworkIsolation::kNamespace ? fd >= 0 : fd < 0 && errno == EACCES;
    }
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string IdentityMap(unsigned id) { return absl::StrCat(id, " ", id, " 1\n"); }

}  // namespace

absl::string_view Name(NetworkIsolation isolation) {
  switch (isolation) {
    case NetworkIsolation::kNamespace:
      return "network namespace";
    case NetworkIsolation::kSeccomp:
      return "seccomp filter";
    case NetworkIsolation::kNone:
      return "none";
  }
  return "unknown";
}

NetworkIsolation ProbeNetworkIsolation() {
  std::string uid_map = IdentityMap(geteuid()), gid_map = IdentityMap(getegid());
  for (NetworkIsolation network : {NetworkIsolation::kNamespace, NetworkIsolation::kSeccomp}) {
    if (WorksInChild(network, uid_map, gid_map)) return network;
  }
  return NetworkIsolation::kNone;
}

SandboxPlan::SandboxPlan(NetworkIsolation network, const SandboxLimits& limits)
    : network_(network), limits_(limits), uid_map_(IdentityMap(geteuid())), gid_map_(IdentityMap(getegid())) {}

const char* SandboxPlan::Enter(pid_t parent) const {
  // A group of its own, so that whatever the worker starts is killed with it.
  if (setpgid(0, 0) != 0) return "setpgid";
  if (!IsolateNetwork(network_, uid_map_, gid_map_)) return "network isolation";
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "no_new_privs";
  if (!SetLimit(RLIMIT_CORE, 0)) return "RLIMIT_CORE";
  if (limits_.memory_bytes > 0 && !SetLimit(RLIMIT_AS, limits_.memory_bytes)) return "RLIMIT_AS";
  // SIGXCPU at the soft limit, which tells what happened; SIGKILL follows if that is caught.
  if (!SetLimit(RLIMIT_CPU, limits_.cpu_seconds, limits_.cpu_seconds + 5)) return "RLIMIT_CPU";
  if (!SetLimit(RLIMIT_FSIZE, limits_.file_bytes)) return "RLIMIT_FSIZE";
  // After the credentials' last change, which would clear it.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return "parent death signal";
  if (getppid() != parent) _exit(1);  // the server died before the line above
  return nullptr;
}

}  // namespace aot::server
