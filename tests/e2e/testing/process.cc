#include "tests/e2e/testing/process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace aot::e2e {

std::string Outcome::ToString() const {
  return "exit code " + std::to_string(exit_code) + "\nstandard output:\n" + out + "\nstandard error:\n" + err;
}

Outcome RunCommand(const std::string& command) {
  Outcome outcome;
  const char* tmp = getenv("TEST_TMPDIR");
  std::string errors = std::string(tmp != nullptr ? tmp : "/tmp") + "/stderr-XXXXXX";
  const int fd = mkstemp(errors.data());
  if (fd < 0) return outcome;
  close(fd);
  FILE* pipe = popen(("{ " + command + "\n} 2>" + errors).c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  for (size_t got = 0; (got = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) outcome.out.append(buffer, got);
  const int status = pclose(pipe);
  outcome.exit_code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  outcome.err = ReadFile(errors);
  unlink(errors.c_str());
  return outcome;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace aot::e2e
