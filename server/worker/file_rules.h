// The files that a worker may open: its own program with its libraries, a few facts about the host, and the directory
// of its job. Everything else is out of reach, the store and the signing keys above all.
#pragma once

#include <string>
#include <vector>

namespace aot::server {

// Rules of Landlock (Linux 5.13), laid out before the fork.
class FileRules {
 public:
  // `program` is what will be executed.
  explicit FileRules(const std::string& program);

  // To be called in the child between fork and exec, after no_new_privs. Async-signal-safe. Read and execute for the
  // program, read and write below `job_directory`. False with errno set: ENOSYS or EOPNOTSUPP where the kernel has no
  // Landlock.
  bool Enter(const char* job_directory) const;

 private:
  std::vector<std::string> programs_;  // read and execute, all below a directory
  std::vector<std::string> readable_;
  std::vector<std::string> devices_;  // read and write
};

}  // namespace aot::server
