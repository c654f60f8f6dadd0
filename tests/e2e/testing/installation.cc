#include "tests/e2e/testing/installation.h"

#include <signal.h>
#include <stdlib.h>

#include <cmath>
#include <cstring>

namespace aot::e2e {
namespace {

constexpr uint32_t kInputSeed = 7;

// Among the test's data; tests run with the workspace's root of those as working directory.
constexpr char kServer[] = "server/aot_server";
constexpr char kAotctl[] = "clients/aotctl/aotctl";
constexpr char kDevice[] = "tests/e2e/device/device";
// The emulator knows no cortex-a75; the a76 is the nearest. Libraries of 64-bit Arm are Debian's multiarch ones.
constexpr char kDeviceAarch64[] = "qemu-aarch64 -cpu cortex-a76 -L / tests/e2e/device/device_aarch64";

std::string Bytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

}  // namespace

std::string DeviceRun::Printed(const std::string& name) const {
  const size_t line = ("\n" + out).find("\n" + name + ": ");
  if (line == std::string::npos) return "";
  const size_t start = line + name.size() + 2;
  return out.substr(start, out.find('\n', start) - start);
}

void Installation::SetUp() {
  std::string pattern = ::testing::TempDir() + "/e2e-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  directory_ = pattern;
  WriteFile(Path("x.raw"), Bytes(SmallNetInput(kInputSeed)));
  ASSERT_NO_FATAL_FAILURE(StartServer());
}

void Installation::StartServer(const std::string& data) {
  server_ = std::make_unique<server::ServerProcess>(
      kServer, directory_, std::vector<std::string>{"--grpc-port=0", "--http-port=0", "--data-dir=" + Path(data)});
  ASSERT_NE(server_->grpc_port(), 0) << server_->Errors();
}

void Installation::StopServer() {
  EXPECT_EQ(server_->Signal(SIGTERM), 0) << server_->Errors();
  server_ = nullptr;
}

Outcome Installation::Aotctl(const std::string& arguments) const {
  const int port = server_ != nullptr ? server_->grpc_port() : 1;
  return RunCommand("AOT_SERVER=127.0.0.1:" + std::to_string(port) + " " + kAotctl + " " + arguments);
}

std::string Installation::Compile(const SmallNet& net, const std::string& targets) {
  WriteFile(Path("small_net.onnx"), net.Onnx());
  const Outcome compiled =
      Aotctl("compile --json --dim N=1 --model " + Path("small_net.onnx") + " --target " + targets);
  EXPECT_EQ(compiled.exit_code, 0) << compiled.ToString();
  std::string keys;
  if (compiled.exit_code != 0) return keys;
  const auto document = compiled.json();
  for (const auto& artifact : document["artifacts"]) keys += artifact["artifact"].get<std::string>() + " ";
  return keys;
}

void Installation::Publish(const SmallNet& net, const std::string& targets) {
  const Outcome published = Aotctl("publish --channel stable --name small_net " + Compile(net, targets));
  ASSERT_EQ(published.exit_code, 0) << published.ToString();
  const Outcome root = Aotctl("keys root --output " + Path("root.json"));
  ASSERT_EQ(root.exit_code, 0) << root.ToString();
}

int64_t Installation::Counter(const std::string& name) const {
  const Outcome statistics = Aotctl("cache statistics --json");
  EXPECT_EQ(statistics.exit_code, 0) << statistics.ToString();
  return statistics.exit_code == 0 ? statistics.json().value(name, int64_t{-1}) : -1;
}

std::string Installation::Url() const {
  return "http://127.0.0.1:" + std::to_string(server_ != nullptr ? server_->http_port() : 1);
}

std::string Installation::State(Machine machine) const {
  return Path(machine == Machine::kHost ? "state-host" : "state-aarch64");
}

DeviceRun Installation::Device(Machine machine, const std::string& arguments, const std::string& url,
                               const std::string& environment) const {
  const std::string y = Path("y.raw");
  WriteFile(y, "");
  DeviceRun run;
  static_cast<Outcome&>(run) =
      RunCommand(environment + " " + (machine == Machine::kHost ? kDevice : kDeviceAarch64) + " --url " +
                 (url.empty() ? Url() : url) + " --root " + Path("root.json") + " --model small_net --state " +
                 State(machine) + " --input " + Path("x.raw") + " --output " + y + " " + arguments);
  const std::string bytes = ReadFile(y);
  run.y.resize(bytes.size() / sizeof(float));
  memcpy(run.y.data(), bytes.data(), run.y.size() * sizeof(float));
  return run;
}

void Installation::ExpectResult(const DeviceRun& run, const SmallNet& net) {
  EXPECT_EQ(run.exit_code, 0) << run.ToString();
  const std::vector<float> expected = net.Evaluate(SmallNetInput(kInputSeed));
  ASSERT_EQ(run.y.size(), expected.size()) << run.ToString();
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(run.y[i], expected[i], 1e-5) << "at " << i;
}

}  // namespace aot::e2e
