#include "server/testing/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "absl/time/clock.h"

namespace aot::server {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

ServerProcess::ServerProcess(const std::string& program, const std::string& directory,
                             const std::vector<std::string>& flags)
    : directory_(directory) {
  std::string ports = directory + "/ports";
  unlink(ports.c_str());
  std::vector<std::string> arguments = {program, "--print-ports-file", ports};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(open((directory + "/stdout").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    dup2(open((directory + "/stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  for (int i = 0; i < 6000; ++i) {
    if (sscanf(ReadFile(ports).c_str(), "grpc=%d http=%d", &grpc_port_, &http_port_) == 2) return;
    siginfo_t ended = {};
    if (waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0) return;
    absl::SleepFor(absl::Milliseconds(10));
  }
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) Signal(SIGKILL);
}

int ServerProcess::Signal(int number) {
  kill(pid_, number);
  return Wait();
}

int ServerProcess::Wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

std::string ServerProcess::Output() const { return ReadFile(directory_ + "/stdout"); }
std::string ServerProcess::Errors() const { return ReadFile(directory_ + "/stderr"); }

}  // namespace aot::server
