// For tests: a directory of its own that goes with its content.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace aot::registry::fs {

class TempDirectory {
 public:
  TempDirectory() {
    // In memory where that is possible: the tests sync thousands of times, and none of them cuts the power.
    const char* base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TEST_TMPDIR");
    path_ = std::string(base ? base : "/tmp") + "/aot.XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) abort();
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace aot::registry::fs
