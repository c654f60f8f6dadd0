// aot_server: `bazel run //server:aot_server` and it serves.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "server/options.h"
#include "server/server.h"
#include "server/version.h"

namespace aot::server {
namespace {

// A process that was started with closed standard streams would get other files under their numbers.
void OpenStandardStreams() {
  int fd;
  do fd = open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
}

void PrintReady(const Server& server, const ServerOptions& options) {
  std::cout << "aot_server " << kServerVersion << " is ready\n"
            << "  gRPC     " << options.address << ":" << server.grpc_port() << "\n"
            << "  HTTP     "
            << (server.http_port() < 0 ? "off" : absl::StrCat("http://", options.address, ":", server.http_port()))
            << "\n"
            << "  data     " << options.data_dir << "\n"
            << "  workers  " << server.workers() << " at a time\n"
            << "  sandbox  " << Describe(server.isolation()) << "\n\n"
            << "Compile a model, list what is there, publish it for devices:\n"
            << "  export AOT_SERVER=" << options.address << ":" << server.grpc_port() << "\n"
            << "  aotctl targets\n"
            << "  aotctl compile --model model.onnx --target cortex-a75\n"
            << "  aotctl artifacts\n"
            << "  aotctl publish --help\n"
            << "Stop it with Ctrl-C.\n"
            << std::flush;
}

// Complete when it appears.
absl::Status WritePorts(const Server& server, const std::string& path) {
  std::string temporary = absl::StrCat(path, ".", getpid());
  std::ofstream file(temporary);
  file << "grpc=" << server.grpc_port() << "\nhttp=" << server.http_port() << "\n";
  file.close();
  if (file && rename(temporary.c_str(), path.c_str()) == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("can't write ", path, ": ", strerror(errno)));
}

int Main(int argc, char** argv) {
  OpenStandardStreams();
  ServerOptions options;
  int exit_code = 0;
  if (!ParseCommandLine(argc, argv, options, &exit_code)) return exit_code;
  // Log lines go to standard error, so that scripts can read the rest.
  spdlog::set_default_logger(spdlog::stderr_color_mt("aot"));
  signal(SIGPIPE, SIG_IGN);
  // Blocked before any thread exists, so that only the sigwait below gets them.
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);

  absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options);
  absl::Status status = server.status();
  if (status.ok() && !options.ports_file.empty()) status = WritePorts(**server, options.ports_file);
  if (!status.ok()) {
    std::cerr << "aot_server: " << status.message() << "\n";
    return 1;
  }
  PrintReady(**server, options);
  int signal_number = 0;
  while (sigwait(&stop, &signal_number) != 0) {
  }
  std::cout << "stopping (" << strsignal(signal_number) << ")\n" << std::flush;
  (*server)->Stop();
  return 0;
}

}  // namespace
}  // namespace aot::server

int main(int argc, char** argv) { return aot::server::Main(argc, argv); }
