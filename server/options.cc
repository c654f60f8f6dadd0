#include "server/options.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/version.h"

namespace aot::server {
namespace {

// Under `bazel run` the working directory is not where the user stands; Bazel tells.
std::string Absolute(const std::string& path) {
  const char* stands = getenv("BUILD_WORKING_DIRECTORY");
  std::filesystem::path base = stands != nullptr ? std::filesystem::path(stands) : std::filesystem::current_path();
  return (base / path).lexically_normal().string();
}

int64_t Seconds(absl::Duration duration) { return absl::ToInt64Seconds(duration); }

}  // namespace

absl::StatusOr<std::string> DefaultDataDir() {
  // The specification wants relative values ignored.
  if (const char* xdg = getenv("XDG_DATA_HOME"); xdg != nullptr && xdg[0] == '/') return absl::StrCat(xdg, "/aot");
  if (const char* home = getenv("HOME"); home != nullptr && home[0] == '/') {
    return absl::StrCat(home, "/.local/share/aot");
  }
  return absl::FailedPreconditionError("neither XDG_DATA_HOME nor HOME is set: name a directory with --data-dir");
}

absl::StatusOr<std::string> FindWorker() {
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return absl::NotFoundError(absl::StrCat("/proc/self/exe can't be read: ", error.message()));
  std::vector<std::string> places = {self.parent_path() / "aot_worker",
                                     absl::StrCat(self.string(), ".runfiles/aot/server/aot_worker")};
  for (const std::string& place : places) {
    if (access(place.c_str(), X_OK) == 0) return place;
  }
  return absl::NotFoundError(
      absl::StrCat("aot_worker is in none of: ", absl::StrJoin(places, ", "), "; name it with --worker"));
}

absl::Status CheckLoopback(const std::string& address) {
  in_addr v4;
  in6_addr v6;
  bool loopback = address == "localhost";
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) loopback = (ntohl(v4.s_addr) >> 24) == 127;
  if (inet_pton(AF_INET6, address.c_str(), &v6) == 1) loopback = IN6_IS_ADDR_LOOPBACK(&v6);
  if (loopback) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("'", address,
                   "' isn't a loopback address. The listeners are not encrypted and know no users, so they "
                   "are for this host alone (127.0.0.1; or ::1 with --http-port -1); put a proxy with TLS and "
                   "authentication in front to serve "
                   "others"));
}

bool ParseCommandLine(int argc, char** argv, ServerOptions& options, int* exit_code) {
  CLI::App app("Compiles ONNX models on request and serves signed releases of what came out.", "aot_server");
  app.set_version_flag("--version", std::string(kServerVersion));
  int64_t timeout = Seconds(options.executor.timeout), stall = Seconds(options.limits.stall);
  app.add_option("--data-dir", options.data_dir,
                 "Models, artifacts, keys (default: $XDG_DATA_HOME/aot or ~/.local/share/aot)");
  app.add_option("--address", options.address, "Loopback address of both listeners")->capture_default_str();
  app.add_option("--grpc-port", options.grpc_port, "0: any free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  app.add_option("--http-port", options.http_port, "0: any free one; -1: no HTTP side")
      ->check(CLI::Range(-1, 65535))
      ->capture_default_str();
  app.add_option("--print-ports-file", options.ports_file, "Write the ports to this file (grpc=N, http=N) when ready");
  app.add_option("--workers", options.workers, "Compiles at a time; 0: one per core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--queue", options.queue_length, "Compiles that may wait")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  app.add_option("--worker", options.executor.worker_path, "The worker program (default: aot_worker beside this one)");
  app.add_option("--worker-threads", options.worker_threads, "Threads of one compile; 0: one per core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--worker-memory", options.executor.limits.memory_bytes,
                 "Address space of one compile, e.g. 8GiB; 0: no limit (default: 8GiB)")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--worker-cpu", options.executor.limits.cpu_seconds, "Processor time of one compile, seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--compile-timeout", timeout, "Of one compile, seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--max-model-size", options.limits.max_model_bytes, "Of all files of a model (default: 4GiB)")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--stall-timeout", stall, "For a stream whose client does nothing, seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error);
    return false;
  }
  options.executor.timeout = absl::Seconds(timeout);
  options.limits.stall = absl::Seconds(stall);
  absl::Status status = CheckLoopback(options.address);
  if (status.ok() && options.data_dir.empty()) {
    absl::StatusOr<std::string> directory = DefaultDataDir();
    status = directory.status();
    if (directory.ok()) options.data_dir = *std::move(directory);
  }
  if (status.ok() && options.executor.worker_path.empty()) {
    absl::StatusOr<std::string> worker = FindWorker();
    status = worker.status();
    if (worker.ok()) options.executor.worker_path = *std::move(worker);
  }
  if (!status.ok()) {
    std::cerr << "aot_server: " << status.message() << "\n";
    *exit_code = 2;
    return false;
  }
  options.data_dir = Absolute(options.data_dir);
  options.executor.worker_path = Absolute(options.executor.worker_path);
  if (!options.ports_file.empty()) options.ports_file = Absolute(options.ports_file);
  return true;
}

}  // namespace aot::server
