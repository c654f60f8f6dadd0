#include "tests/models/command.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace aot::tests {
namespace {

// The end of a program's output is what explains its end.
constexpr size_t kTail = 2000;

}  // namespace

absl::StatusOr<std::string> RunCommand(const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::UnknownError(absl::StrCat("pipe: ", strerror(errno)));
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t pid = -1;
  int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  if (error == 0) {
    char buffer[4096];
    ssize_t n;
    while ((n = read(ends[0], buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR)) {
      if (n > 0) output.append(buffer, static_cast<size_t>(n));
    }
  }
  close(ends[0]);
  if (error != 0) return absl::NotFoundError(absl::StrCat("can't start ", arguments[0], ": ", strerror(error)));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  std::string tail = output.size() > kTail ? output.substr(output.size() - kTail) : output;
  std::string how = WIFSIGNALED(status)
                        ? absl::StrCat("signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")")
                        : absl::StrCat("exit status ", WEXITSTATUS(status));
  return absl::AbortedError(absl::StrCat(arguments[0], " ended with ", how, ": ", tail));
}

}  // namespace aot::tests
