// aot_server as a process of its own, for tests.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace aot::server {

// Killed by the destructor if it still runs.
class ServerProcess {
 public:
  // Starts `program` with these flags and --print-ports-file, and waits until it is ready or ends. Its standard output
  // and standard error are kept in files of `directory`.
  ServerProcess(const std::string& program, const std::string& directory, const std::vector<std::string>& flags);
  ~ServerProcess();

  // 0: it isn't ready, since it ended.
  int grpc_port() const { return grpc_port_; }
  int http_port() const { return http_port_; }
  pid_t pid() const { return pid_; }
  // Sends the signal and waits for the end. The exit code, or minus the signal that ended it.
  int Signal(int number);
  // For one that ends by itself.
  int Wait();
  // What it wrote so far.
  std::string Output() const;
  std::string Errors() const;

 private:
  const std::string directory_;
  pid_t pid_ = -1;
  int grpc_port_ = 0, http_port_ = 0;
};

}  // namespace aot::server
