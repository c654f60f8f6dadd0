#include "tests/conformance/worker_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace aot::tests {
namespace {

// Both directions are framed by a 64-bit number: to the worker the piece to do, from it the size of the value.
bool WriteAll(int fd, const void* data, size_t size) {
  const char* bytes = static_cast<const char*>(data);
  while (size > 0) {
    ssize_t n = write(fd, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

bool ReadNumber(int fd, uint64_t* number) {
  char* bytes = reinterpret_cast<char*>(number);
  for (size_t have = 0; have < sizeof(*number);) {
    ssize_t n = read(fd, bytes + have, sizeof(*number) - have);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    have += static_cast<size_t>(n);
  }
  return true;
}

[[noreturn]] void RunWorker(int orders, int results, const WorkerOptions& options,
                            const std::function<std::string(size_t)>& work) {
  setpgid(0, 0);
  rlimit limit = {options.memory_limit_bytes, options.memory_limit_bytes};
  setrlimit(RLIMIT_AS, &limit);
  uint64_t piece = 0;
  while (ReadNumber(orders, &piece)) {
    std::string value = work(static_cast<size_t>(piece));
    uint64_t size = value.size();
    if (!WriteAll(results, &size, sizeof(size)) || !WriteAll(results, value.data(), value.size())) break;
  }
  _exit(0);
}

struct Worker {
  pid_t pid = -1;
  int orders = -1, results = -1;  // our ends
  size_t piece = 0;
  size_t pieces_done = 0;
  absl::Time deadline;
  bool timed_out = false;
  std::string received;
};

// False if the system has no process or pipe left; errno says why.
bool Start(const WorkerOptions& options, const std::vector<Worker>& others,
           const std::function<std::string(size_t)>& work, Worker* worker) {
  int orders[2], results[2];
  if (pipe2(orders, O_CLOEXEC) != 0) return false;
  if (pipe2(results, O_CLOEXEC) != 0) {
    close(orders[0]);
    close(orders[1]);
    return false;
  }
  fflush(stdout);
  fflush(stderr);
  pid_t pid = fork();
  if (pid == 0) {
    // A copy of another worker's order pipe would keep that worker waiting after we closed it.
    for (const Worker& other : others) {
      close(other.orders);
      close(other.results);
    }
    close(orders[1]);
    close(results[0]);
    RunWorker(orders[0], results[1], options, work);
  }
  close(orders[0]);
  close(results[1]);
  if (pid < 0) {
    close(orders[1]);
    close(results[0]);
    return false;
  }
  setpgid(pid, pid);
  worker->pid = pid;
  worker->orders = orders[1];
  worker->results = results[0];
  return true;
}

// Ends the process, which may have ended itself, and says how it ended.
std::string Stop(const Worker& worker, const WorkerOptions& options) {
  close(worker.orders);
  close(worker.results);
  if (worker.timed_out) kill(-worker.pid, SIGKILL);
  int status = 0;
  while (waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (worker.timed_out) return absl::StrCat("took longer than ", absl::ToInt64Seconds(options.limit), " s");
  if (WIFSIGNALED(status)) {
    return absl::StrCat("killed by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")");
  }
  return absl::StrCat("the process ended with status ", WEXITSTATUS(status));
}

// True once the whole value is there.
bool Complete(const Worker& worker) {
  uint64_t size = 0;
  if (worker.received.size() < sizeof(size)) return false;
  memcpy(&size, worker.received.data(), sizeof(size));
  return worker.received.size() - sizeof(size) >= size;
}

class Pool {
 public:
  Pool(size_t count, const WorkerOptions& options, const std::function<std::string(size_t)>& work,
       const std::function<void(size_t, const WorkResult&)>& done)
      : count_(count), options_(options), work_(work), done_(done) {}

  void Run() {
    while (next_ < count_ || !workers_.empty()) {
      while (next_ < count_ && workers_.size() < static_cast<size_t>(std::max(options_.jobs, 1))) Hire();
      Wait();
    }
  }

 private:
  void Hire() {
    Worker worker;
    if (!Start(options_, workers_, work_, &worker)) {
      done_(next_++, {"", absl::StrCat("can't start a process: ", strerror(errno))});
      return;
    }
    GiveNext(worker);
    workers_.push_back(std::move(worker));
  }

  void GiveNext(Worker& worker) {
    worker.piece = next_++;
    worker.received.clear();
    worker.deadline = absl::Now() + options_.limit;
    const uint64_t piece = worker.piece;
    // A worker that died in between shows as the end of its results.
    WriteAll(worker.orders, &piece, sizeof(piece));
  }

  void Wait() {
    std::vector<pollfd> polls;
    for (const Worker& worker : workers_) polls.push_back({worker.results, POLLIN, 0});
    if (polls.empty()) return;
    poll(polls.data(), polls.size(), 200);
    for (size_t i = workers_.size(); i-- > 0;) {
      Worker& worker = workers_[i];
      if (absl::Now() > worker.deadline) {
        worker.timed_out = true;
      } else if (polls[i].revents == 0 || Receive(worker)) {
        continue;
      }
      done_(worker.piece, {"", Stop(worker, options_)});
      workers_.erase(workers_.begin() + static_cast<ptrdiff_t>(i));
    }
  }

  // False if the worker's end of the pipe is closed before its value was complete.
  bool Receive(Worker& worker) {
    char buffer[65536];
    ssize_t n = read(worker.results, buffer, sizeof(buffer));
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    if (n == 0) return false;
    worker.received.append(buffer, static_cast<size_t>(n));
    if (!Complete(worker)) return true;
    done_(worker.piece, {worker.received.substr(sizeof(uint64_t)), ""});
    if (next_ < count_ && ++worker.pieces_done < options_.pieces_per_process) {
      GiveNext(worker);
      return true;
    }
    Stop(worker, options_);
    workers_.erase(workers_.begin() + (&worker - workers_.data()));
    return true;
  }

  const size_t count_;
  const WorkerOptions& options_;
  const std::function<std::string(size_t)>& work_;
  const std::function<void(size_t, const WorkResult&)>& done_;
  size_t next_ = 0;
  std::vector<Worker> workers_;
};

}  // namespace

void RunInWorkers(size_t count, const WorkerOptions& options, const std::function<std::string(size_t)>& work,
                  const std::function<void(size_t, const WorkResult&)>& done) {
  // Writing to a worker that died must be an error, not our end.
  void (*previous)(int) = signal(SIGPIPE, SIG_IGN);
  Pool(count, options, work, done).Run();
  signal(SIGPIPE, previous);
}

}  // namespace aot::tests
