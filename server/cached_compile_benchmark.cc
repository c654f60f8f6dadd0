// How long a cached compile request takes: 1000 of them over one connection to a real server process. Prints the median
// and how many workers were started meanwhile; fails unless they are under a millisecond and none.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "server/testing/server_process.h"
#include "server/testing/small_model.h"
#include "server/testing/test_client.h"

namespace aot::server {
namespace {

constexpr int kRequests = 1000;
constexpr int kWarmUp = 50;
constexpr double kMedianLimitMicroseconds = 1000;

int Main(const std::string& runfiles) {
  char pattern[] = "/tmp/aot-benchmark-XXXXXX";
  std::string directory = mkdtemp(pattern);
  double median = 0, p99 = 0;
  int64_t workers = -1;
  {
    ServerProcess server(runfiles + "/server/aot_server", directory,
                         {"--grpc-port=0", "--http-port=-1", "--data-dir=" + directory + "/data"});
    if (server.grpc_port() == 0) {
      std::fprintf(stderr, "the server didn't start: %s\n", server.Errors().c_str());
      return 1;
    }
    TestClient client(server.grpc_port());
    std::string model = DenseModel(64, 32, 1);
    grpc::Status status = client.Upload(model);
    if (status.ok()) status = client.Compile(model).status;
    if (!status.ok()) {
      std::fprintf(stderr, "the first compile failed: %s\n", status.error_message().c_str());
      return 1;
    }
    int64_t before = client.Statistics().workers_started();
    std::vector<double> microseconds;
    for (int i = 0; i < kWarmUp + kRequests; ++i) {
      auto start = std::chrono::steady_clock::now();
      Compiled compiled = client.Compile(model);
      std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
      if (!compiled.status.ok() || !compiled.last().result().cache_hit()) {
        std::fprintf(stderr, "request %d was no cache hit: %s\n", i, compiled.status.error_message().c_str());
        return 1;
      }
      if (i >= kWarmUp) microseconds.push_back(took.count());
    }
    workers = client.Statistics().workers_started() - before;
    std::sort(microseconds.begin(), microseconds.end());
    median = microseconds[kRequests / 2];
    p99 = microseconds[kRequests * 99 / 100];
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  std::printf("cached compile requests: %d over one connection, median %.0f us, p99 %.0f us\n", kRequests, median, p99);
  std::printf("workers started meanwhile: %lld\n", static_cast<long long>(workers));
  return median < kMedianLimitMicroseconds && workers == 0 ? 0 : 1;
}

}  // namespace
}  // namespace aot::server

int main(int, char** argv) {
  // Under `bazel run` the working directory is the runfiles' workspace; else they lie beside the program.
  std::string runfiles = access("server/aot_server", X_OK) == 0 ? "." : std::string(argv[0]) + ".runfiles/aot";
  return aot::server::Main(runfiles);
}
