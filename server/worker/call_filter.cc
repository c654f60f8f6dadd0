#include "server/worker/call_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

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

// A list of what is refused, not of what is allowed: a compiler with its C library makes many harmless calls, and
// another version of either makes others.
constexpr uint32_t kRefused[] = {
    // Other processes: their memory, descriptors, threads.
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_pidfd_open, SYS_pidfd_send_signal,
    SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_tkill,
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
#ifdef SYS_process_madvise
    SYS_process_madvise,
#endif
// Processes of its own, which could outlive the job. The other ways are looked at below.
#ifdef SYS_fork
    SYS_fork, SYS_vfork,
#endif
    // Another view of the host.
    SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_open_by_handle_at,
#ifdef SYS_move_mount
    SYS_move_mount, SYS_open_tree, SYS_fsopen, SYS_fsmount, SYS_fspick,
#endif
// Files by name that the rules about opening don't cover.
#ifdef SYS_chmod
    SYS_chmod, SYS_chown, SYS_lchown,
#endif
    SYS_fchmodat, SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_removexattr, SYS_lremovexattr,
    // Parts of the kernel that a compile has no use for. io_uring also has calls of its own that no filter sees.
    SYS_io_uring_setup, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key};

// Calls whose first argument is a process: 0 or this one's own number is allowed.
constexpr uint32_t kOnlyItself[] = {SYS_kill, SYS_tgkill, SYS_prlimit64};

struct Filter {
  static constexpr size_t kMost = 256;
  sock_filter code[kMost];
  size_t size = 0;

  void Add(const sock_filter& instruction) {
    if (size < kMost) code[size++] = instruction;
  }
  void Load(size_t offset) { Add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset))); }
  void Return(uint32_t action) { Add(BPF_STMT(BPF_RET | BPF_K, action)); }
  // Goes on with the next instruction if the loaded number is `value`, else `skip` further on.
  void IfEqual(uint32_t value, uint8_t skip) { Add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)); }
  void SkipIfEqual(uint32_t value, uint8_t skip) { Add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, skip, 0)); }
};
static_assert(2 * sizeof(kRefused) / sizeof(kRefused[0]) + 40 < Filter::kMost, "every instruction has its place");

constexpr size_t kFirstArgument = offsetof(seccomp_data, args[0]);  // its low half, on a little-endian machine

}  // namespace

bool InstallCallFilter() {
  Filter f;
  f.Load(offsetof(seccomp_data, arch));
  f.SkipIfEqual(kAuditArch, 1);
  f.Return(SECCOMP_RET_KILL_PROCESS);
  f.Load(offsetof(seccomp_data, nr));
  f.Add(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32Bit, 0, 1));
  f.Return(SECCOMP_RET_KILL_PROCESS);
  for (uint32_t call : kRefused) {
    f.IfEqual(call, 1);
    f.Return(SECCOMP_RET_ERRNO | EPERM);
  }
  f.IfEqual(SYS_socket, 1);
  f.Return(SECCOMP_RET_ERRNO | EACCES);
#ifdef SYS_clone3
  // Its flags lie in memory, where a filter can't look. The C library turns to clone when there is no clone3.
  f.IfEqual(SYS_clone3, 1);
  f.Return(SECCOMP_RET_ERRNO | ENOSYS);
#endif
  f.IfEqual(SYS_clone, 4);
  f.Load(kFirstArgument);
  f.Add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
  f.Return(SECCOMP_RET_ERRNO | EPERM);
  f.Return(SECCOMP_RET_ALLOW);
  for (uint32_t call : kOnlyItself) {
    f.IfEqual(call, 5);
    f.Load(kFirstArgument);
    f.SkipIfEqual(0, 2);
    f.SkipIfEqual(static_cast<uint32_t>(getpid()), 1);
    f.Return(SECCOMP_RET_ERRNO | EPERM);
    f.Return(SECCOMP_RET_ALLOW);
  }
  f.Return(SECCOMP_RET_ALLOW);
  sock_fprog program = {static_cast<unsigned short>(f.size), f.code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace aot::server
