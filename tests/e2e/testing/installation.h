// A whole installation for one test: a server process with a data directory of its own, the command line, and devices,
// each with a state directory of its own. The test's target needs //tests/e2e/testing:programs among its data.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "server/testing/server_process.h"
#include "tests/e2e/testing/process.h"
#include "tests/e2e/testing/small_net.h"

namespace aot::e2e {

// A machine that runs the device program.
enum class Machine { kHost, kAarch64 };

// What the device program printed and wrote.
struct DeviceRun : Outcome {
  // The value of a line "name: value"; empty if there is none.
  std::string Printed(const std::string& name) const;

  std::vector<float> y;  // empty if it wrote none
};

class Installation : public ::testing::Test {
 protected:
  void SetUp() override;

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  // The server's data directory is Path(data). A test may stop it, change files and start it again.
  void StartServer(const std::string& data = "data");
  void StopServer();

  // `aotctl` with these arguments, split by the shell, and this server.
  Outcome Aotctl(const std::string& arguments) const;
  // Writes the network to a file and has the server compile it. Returns the artifacts' keys, separated by spaces.
  std::string Compile(const SmallNet& net, const std::string& targets);
  // Compiles and publishes as stable/small_net, and writes the present root to Path("root.json").
  void Publish(const SmallNet& net, const std::string& targets);
  // One of the server's counters (`aotctl cache statistics`).
  int64_t Counter(const std::string& name) const;

  // Starts the device program of a machine on `input`. Its state is in Path("state-" + machine). `url` is that of the
  // server's repository unless given. `environment` is put before the command, such as "LD_PRELOAD=...".
  DeviceRun Device(Machine machine, const std::string& arguments = "", const std::string& url = "",
                   const std::string& environment = "") const;
  std::string State(Machine machine) const;
  std::string Url() const;
  // Whether the device gave what the network computes for the input of all device runs.
  static void ExpectResult(const DeviceRun& run, const SmallNet& net);

  std::string directory_;
  std::unique_ptr<server::ServerProcess> server_;
};

}  // namespace aot::e2e
