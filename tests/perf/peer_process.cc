#include "tests/perf/peer_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

extern char** environ;

namespace aot::perf {
namespace {

constexpr int kDeadlineMilliseconds = 600 * 1000;

}  // namespace

absl::StatusOr<std::unique_ptr<PeerProcess>> PeerProcess::Start(const std::vector<std::string>& arguments) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0) return absl::ResourceExhaustedError("no pipe");
  if (pipe2(out, O_CLOEXEC) != 0) {
    close(in[0]);
    close(in[1]);
    return absl::ResourceExhaustedError("no pipe");
  }
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::unique_ptr<PeerProcess> process(new PeerProcess);
  const int error = posix_spawn(&process->pid_, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  process->to_ = in[1];
  process->from_ = out[0];
  if (error != 0) {
    process->pid_ = -1;
    return absl::NotFoundError(absl::StrCat(arguments[0], " can't be started: ", strerror(error)));
  }
  return process;
}

PeerProcess::~PeerProcess() {
  close(to_);  // the peer ends when its stdin does
  close(from_);
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

absl::StatusOr<nlohmann::json> PeerProcess::Ask(const std::string& command) {
  const std::string line = command + "\n";
  // A peer that has ended is told by what it said last, or by end of file: a failed write isn't looked at.
  struct sigaction ignore = {}, before = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  [[maybe_unused]] ssize_t written = write(to_, line.data(), line.size());
  sigaction(SIGPIPE, &before, nullptr);
  size_t end;
  while ((end = pending_.find('\n')) == std::string::npos) {
    pollfd ready = {from_, POLLIN, 0};
    const int count = poll(&ready, 1, kDeadlineMilliseconds);
    if (count == 0) return absl::DeadlineExceededError(absl::StrCat("no answer to '", command, "' in ten minutes"));
    char buffer[4096];
    const ssize_t size = read(from_, buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) {
      int status = 0;
      waitpid(pid_, &status, 0);
      pid_ = -1;
      if (WIFSIGNALED(status)) return absl::InternalError(absl::StrCat("killed by signal ", WTERMSIG(status)));
      return absl::InternalError(absl::StrCat("ended with exit status ", WEXITSTATUS(status)));
    }
    pending_.append(buffer, static_cast<size_t>(size));
  }
  nlohmann::json answer = nlohmann::json::parse(pending_.substr(0, end), nullptr, false);
  pending_.erase(0, end + 1);
  if (!answer.is_object()) return absl::InternalError(absl::StrCat("an answer to '", command, "' that is no object"));
  if (answer.contains("error")) return absl::InternalError(answer["error"].get<std::string>());
  return answer;
}

}  // namespace aot::perf
