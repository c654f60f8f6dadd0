#include "tests/models/isolated.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace aot::tests {
namespace {

struct Child {
  size_t index = 0;
  pid_t pid = -1;
  int pipe = -1;  // read end
  absl::Time deadline;
  bool timed_out = false;
  std::string value;
};

[[noreturn]] void RunChild(size_t index, int pipe, const std::function<std::string(size_t)>& work) {
  // A program that the work starts in its own group, or the work itself, must not outlive the run.
  setpgid(0, 0);
  std::string value = work(index);
  for (size_t sent = 0; sent < value.size();) {
    ssize_t n = write(pipe, value.data() + sent, value.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);
    sent += static_cast<size_t>(n);
  }
  _exit(0);
}

// Starts work(index); false if the system has no process or pipe left.
bool Start(size_t index, absl::Duration limit, const std::function<std::string(size_t)>& work, Child* child) {
  int ends[2];
  // Closed in programs that the work starts: the end of the child must end the pipe.
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  fflush(stdout);
  fflush(stderr);
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    RunChild(index, ends[1], work);
  }
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return false;
  }
  setpgid(pid, pid);  // both sides do it: whichever comes first
  *child = Child{index, pid, ends[0], absl::Now() + limit, false, ""};
  return true;
}

IsolatedResult Reap(const Child& child, absl::Duration limit) {
  // Kill what it left behind while its own number is still taken, so that the group can't be another one's.
  siginfo_t info;
  while (waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  kill(-child.pid, SIGKILL);
  int status = 0;
  rusage usage = {};
  while (wait4(child.pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  close(child.pipe);
  IsolatedResult result;
  result.value = child.value;
  result.peak_memory_bytes = int64_t{1024} * usage.ru_maxrss;  // Linux counts kilobytes
  if (child.timed_out) {
    result.failure = absl::StrCat("took longer than ", absl::ToInt64Seconds(limit), " s");
  } else if (WIFSIGNALED(status)) {
    result.failure = absl::StrCat("killed by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")");
  } else if (WEXITSTATUS(status) != 0) {
    result.failure = absl::StrCat("exit status ", WEXITSTATUS(status));
  }
  return result;
}

// Reads what is there. True when the child closed its end.
bool Drain(Child* child) {
  char buffer[65536];
  ssize_t n = read(child->pipe, buffer, sizeof(buffer));
  if (n > 0) child->value.append(buffer, static_cast<size_t>(n));
  return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

}  // namespace

void RunIsolated(size_t count, int jobs, absl::Duration limit, const std::function<std::string(size_t)>& work,
                 const std::function<void(size_t, const IsolatedResult&)>& done) {
  std::vector<Child> running;
  std::map<size_t, IsolatedResult> finished;  // waiting for an earlier one to be reported
  size_t next = 0, reported = 0;
  while (reported < count) {
    while (next < count && running.size() < static_cast<size_t>(std::max(jobs, 1))) {
      Child child;
      if (Start(next, limit, work, &child)) {
        running.push_back(child);
      } else {
        finished[next].failure = absl::StrCat("can't start a process: ", strerror(errno));
      }
      ++next;
    }
    std::vector<pollfd> polls;
    for (const Child& child : running) polls.push_back({child.pipe, POLLIN, 0});
    if (!polls.empty()) poll(polls.data(), polls.size(), 200);
    for (size_t i = running.size(); i-- > 0;) {
      Child& child = running[i];
      if (!child.timed_out && absl::Now() > child.deadline) {
        child.timed_out = true;
        kill(-child.pid, SIGKILL);
      }
      if (polls[i].revents == 0 || !Drain(&child)) continue;
      finished[child.index] = Reap(child, limit);
      running.erase(running.begin() + static_cast<ptrdiff_t>(i));
    }
    for (auto it = finished.find(reported); it != finished.end(); it = finished.find(++reported)) {
      done(it->first, it->second);
      finished.erase(it);
    }
  }
}

}  // namespace aot::tests
