#include "server/worker/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/monotonic_clock.h"

namespace aot::server {
namespace {

constexpr size_t kErrorTail = 4096;
constexpr unsigned kCloseRangeCloexec = 1u << 2;  // CLOSE_RANGE_CLOEXEC of linux/close_range.h

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { Close(); }
  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

struct Pipe {
  Fd read, write;
};

absl::StatusOr<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::InternalError(absl::StrCat("can't make a pipe: ", strerror(errno)));
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// What a child that could not get as far as exec says through the start pipe.
struct StartFailure {
  int error;
  char step[64];
};

// Moves a descriptor above the three standard ones and onto `target`; in the child only.
bool MoveTo(int fd, int target) { return fd == target ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, target) == target; }

// In the child: async-signal-safe calls only, since other threads of the server may have held any lock at the fork.
[[noreturn]] void ExecInSandbox(const SandboxPlan& sandbox, pid_t parent, const char* directory, char* const* argv,
                                char* const* environment, int in, int out, int err, int start) {
  const char* step = nullptr;
  sigset_t none;
  sigemptyset(&none);
  if (sigprocmask(SIG_SETMASK, &none, nullptr) != 0) step = "signal mask";
  // The server ignores SIGPIPE; a worker should end by it when nobody reads.
  if (step == nullptr && signal(SIGPIPE, SIG_DFL) == SIG_ERR) step = "signal disposition";
  if (step == nullptr && chdir(directory) != 0) step = "working directory";
  if (step == nullptr && !(MoveTo(in, 0) && MoveTo(out, 1) && MoveTo(err, 2))) step = "standard streams";
  // Whatever some library of the server opened without O_CLOEXEC stays here. Kernels before 5.11 don't know the call.
  syscall(SYS_close_range, 3u, ~0u, kCloseRangeCloexec);
  if (step == nullptr) step = sandbox.Enter(parent, directory);
  if (step == nullptr) {
    execve(argv[0], argv, environment);
    step = "exec";
  }
  StartFailure failure = {errno, {}};
  strncpy(failure.step, step, sizeof(failure.step) - 1);
  if (write(start, &failure, sizeof(failure)) < 0) {
    // Nobody to tell.
  }
  _exit(127);
}

// A started process; kills and reaps it if nobody did.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    Kill();
    Reap();
  }
  // Its whole group; the process itself too in case it has not made its group yet.
  void Kill() {
    if (pid_ <= 0) return;
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
  }
  // Gives it so long to end by itself.
  void AwaitEnd(absl::Duration grace) {
    absl::Duration deadline = MonotonicNow() + grace;
    siginfo_t info = {};
    while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == 0) {
      if (MonotonicNow() >= deadline) return Kill();
      absl::SleepFor(absl::Milliseconds(1));
    }
  }
  int Reap() {
    if (pid_ <= 0) return status_;
    // Leave it a zombie until its group is dead: while it is one, its number can't be given to another group.
    siginfo_t info;
    while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    kill(-pid_, SIGKILL);
    while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status_;
  }

 private:
  pid_t pid_;
  int status_ = 0;
};

int PollTimeout(absl::Duration deadline) {
  absl::Duration left = std::min(deadline - MonotonicNow(), absl::Minutes(1));
  return static_cast<int>(std::max<int64_t>(0, absl::ToInt64Milliseconds(left)) + 1);
}

// True: more may come. False: end of file.
bool ReadSome(int fd, std::string& into) {
  char buffer[16384];
  ssize_t n = read(fd, buffer, sizeof(buffer));
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  into.append(buffer, static_cast<size_t>(n));
  return n > 0;
}

}  // namespace

absl::StatusOr<SubprocessResult> RunSubprocess(const SubprocessRequest& request, const SandboxPlan& sandbox,
                                               const CancelSignal& cancel,
                                               const std::function<absl::Status(absl::string_view)>& output) {
  absl::StatusOr<Pipe> in = MakePipe(), out = MakePipe(), err = MakePipe(), start = MakePipe();
  for (const absl::StatusOr<Pipe>* pipe : {&in, &out, &err, &start}) {
    if (!pipe->ok()) return pipe->status();
  }
  std::vector<char*> argv = Pointers(request.argv), environment = Pointers(request.environment);
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid < 0) return absl::InternalError(absl::StrCat("can't start a worker process: fork: ", strerror(errno)));
  if (pid == 0) {
    ExecInSandbox(sandbox, parent, request.working_directory.c_str(), argv.data(), environment.data(), in->read.get(),
                  out->write.get(), err->write.get(), start->write.get());
  }
  Child child(pid);
  in->read.Close();
  out->write.Close();
  err->write.Close();
  start->write.Close();
  StartFailure failure;
  ssize_t told;
  while ((told = read(start->read.get(), &failure, sizeof(failure))) < 0 && errno == EINTR) {
  }
  if (told == sizeof(failure)) {
    return absl::InternalError(
        absl::StrCat("can't start worker ", request.argv[0], ": ", failure.step, ": ", strerror(failure.error)));
  }
  fcntl(in->write.get(), F_SETFL, O_NONBLOCK);

  SubprocessResult result;
  absl::string_view to_write = request.standard_input;
  absl::Duration deadline = MonotonicNow() + request.timeout;
  bool out_open = true, err_open = true;
  while (out_open || err_open) {
    if (to_write.empty()) in->write.Close();
    pollfd fds[] = {{out_open ? out->read.get() : -1, POLLIN, 0},
                    {err_open ? err->read.get() : -1, POLLIN, 0},
                    {in->write.get(), POLLOUT, 0},  // negative once closed: ignored
                    {cancel.fd(), POLLIN, 0}};
    if (poll(fds, 4, PollTimeout(deadline)) < 0 && errno != EINTR) {
      return absl::InternalError(absl::StrCat("poll: ", strerror(errno)));
    }
    if (cancel.cancelled() || MonotonicNow() >= deadline) {
      result.end = cancel.cancelled() ? SubprocessResult::End::kCancelled : SubprocessResult::End::kTimedOut;
      return result;  // ~Child kills the group
    }
    if (fds[2].revents & (POLLOUT | POLLERR)) {
      ssize_t n = write(in->write.get(), to_write.data(), to_write.size());
      if (n > 0) to_write.remove_prefix(static_cast<size_t>(n));
      if (n < 0 && errno != EAGAIN && errno != EINTR) to_write = {};  // it closed its input: its own business
    }
    if (fds[0].revents != 0) {
      std::string piece;
      out_open = ReadSome(out->read.get(), piece);
      if (!piece.empty()) {
        if (absl::Status status = output(piece); !status.ok()) return status;
      }
    }
    if (fds[1].revents != 0) {
      err_open = ReadSome(err->read.get(), result.error_tail);
      if (result.error_tail.size() > kErrorTail) result.error_tail.erase(0, result.error_tail.size() - kErrorTail);
    }
  }
  child.AwaitEnd(absl::Seconds(1));  // closing its streams is the last thing that a worker does
  int status = child.Reap();
  result.end = WIFSIGNALED(status) ? SubprocessResult::End::kSignalled : SubprocessResult::End::kExited;
  result.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace aot::server
