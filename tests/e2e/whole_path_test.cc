// From a model file to a verified answer on two machines, and on to the next version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "tests/e2e/testing/installation.h"

namespace aot::e2e {
namespace {

using ::testing::HasSubstr;

constexpr Machine kMachines[] = {Machine::kHost, Machine::kAarch64};
constexpr char kTargets[] = "x86-64-v2,cortex-a53";

class WholePathTest : public Installation {};

TEST_F(WholePathTest, DevicesRunWhatIsPublishedAndFollowIt) {
  const SmallNet first(1), second(2);
  Publish(first, kTargets);
  for (Machine machine : kMachines) {
    const DeviceRun run = Device(machine, "--require-update");
    ExpectResult(run, first);
    EXPECT_EQ(run.Printed("source"), "downloaded");
    EXPECT_EQ(run.Printed("release"), "1");
    EXPECT_EQ(run.Printed("target"), machine == Machine::kHost ? "x86-64-v2" : "cortex-a53");
    EXPECT_EQ(run.Printed("downloaded bytes"), run.Printed("artifact bytes"));
    const DeviceRun again = Device(machine, "--require-update");
    ExpectResult(again, first);
    EXPECT_EQ(again.Printed("source"), "installed");
    EXPECT_EQ(again.Printed("downloaded bytes"), "0");
  }

  Publish(second, kTargets);
  for (Machine machine : kMachines) {
    const DeviceRun run = Device(machine, "--require-update");
    ExpectResult(run, second);
    EXPECT_EQ(run.Printed("source"), "downloaded");
    EXPECT_EQ(run.Printed("release"), "2");
  }

  // Without a server: by wish, and by misfortune.
  const std::string url = Url();
  StopServer();
  for (Machine machine : kMachines) {
    const DeviceRun offline = Device(machine, "--offline");
    ExpectResult(offline, second);
    EXPECT_EQ(offline.Printed("source"), "installed");
    EXPECT_EQ(offline.err, "");
    const DeviceRun alone = Device(machine, "", url);
    ExpectResult(alone, second);
    EXPECT_THAT(alone.err, HasSubstr("not updated: AOT_NETWORK"));
    EXPECT_EQ(Device(machine, "--require-update", url).exit_code, 1);
  }
}

TEST_F(WholePathTest, ASecondRequestStartsNoWorker) {
  const SmallNet net(1);
  const std::string keys = Compile(net, kTargets);
  EXPECT_EQ(Counter("workers_started"), 2);
  EXPECT_EQ(Counter("cache_hits"), 0);
  EXPECT_EQ(Compile(net, kTargets), keys);
  EXPECT_EQ(Counter("workers_started"), 2);
  EXPECT_EQ(Counter("cache_hits"), 2);
  // The same request is the same key after a restart too; another one is not.
  StopServer();
  StartServer();
  const std::string compile = "compile --json --model " + Path("small_net.onnx") + " --target x86-64-v2 ";
  Outcome same = Aotctl(compile + "--dim N=1");
  ASSERT_EQ(same.exit_code, 0) << same.ToString();
  EXPECT_TRUE(same.json()["artifacts"][0]["cache_hit"]) << same.out;
  EXPECT_EQ(Counter("workers_started"), 0);
  Outcome other = Aotctl(compile + "--dim N=2");
  ASSERT_EQ(other.exit_code, 0) << other.ToString();
  EXPECT_FALSE(other.json()["artifacts"][0]["cache_hit"]) << other.out;
  EXPECT_EQ(Counter("workers_started"), 1);
}

TEST_F(WholePathTest, AWithdrawnModelIsOfferedNoMoreAndItsArtifactsCanGo) {
  Publish(SmallNet(1), kTargets);
  const Outcome withdrawn = Aotctl("withdraw --json --name small_net");
  ASSERT_EQ(withdrawn.exit_code, 0) << withdrawn.ToString();
  EXPECT_EQ(withdrawn.json()["name"], "small_net");
  EXPECT_EQ(Aotctl("withdraw --name small_net").exit_code, 4);
  EXPECT_NE(Device(Machine::kHost, "--require-update").exit_code, 0);
  const Outcome collected = Aotctl("cache gc --json --budget 0");
  ASSERT_EQ(collected.exit_code, 0) << collected.ToString();
  EXPECT_EQ(collected.json()["releases_removed"], 2);
  EXPECT_EQ(collected.json()["artifacts_removed"], 2);
  EXPECT_EQ(collected.json()["models_removed"], 1);
  EXPECT_EQ(Counter("blob_bytes"), 0);
}

TEST_F(WholePathTest, TheBytesAreTheSameWhereverTheyAreMade) {
  WriteFile(Path("small_net.onnx"), SmallNet(1).Onnx());
  const Outcome listed = Aotctl("targets --json");
  ASSERT_EQ(listed.exit_code, 0) << listed.ToString();
  std::string targets;
  std::vector<std::string> names;
  const auto document = listed.json();
  for (const auto& target : document["targets"]) names.push_back(target["name"]);
  ASSERT_GE(names.size(), 6u);
  for (const std::string& name : names) targets += (targets.empty() ? "" : ",") + name;

  const std::string compile =
      "compile --dim N=1 --model " + Path("small_net.onnx") + " --target " + targets + " --output ";
  const Outcome by_server = Aotctl(compile + Path("server"));
  ASSERT_EQ(by_server.exit_code, 0) << by_server.ToString();
  const Outcome local = Aotctl(compile + Path("local") + " --local --threads 1");
  ASSERT_EQ(local.exit_code, 0) << local.ToString();
  // The third way, from a copy under another name, in another directory.
  std::filesystem::create_directories(Path("elsewhere"));
  std::filesystem::copy_file(Path("small_net.onnx"), Path("elsewhere/m.onnx"));
  const std::string tool = std::filesystem::absolute("compiler/tools/aot-compile");
  for (const std::string& name : names) {
    const Outcome run = RunCommand("cd " + Path("elsewhere") + " && " + tool + " m.onnx --dim N=1 --target " + name +
                                   " --output " + name + ".so");
    ASSERT_EQ(run.exit_code, 0) << run.ToString();
    const std::string bytes = ReadFile(Path("elsewhere/" + name + ".so"));
    EXPECT_GT(bytes.size(), 1000u);
    EXPECT_TRUE(bytes == ReadFile(Path("server/small_net-" + name + ".so"))) << name << ": the server's differ";
    EXPECT_TRUE(bytes == ReadFile(Path("local/small_net-" + name + ".so"))) << name << ": the local ones differ";
  }
}

}  // namespace
}  // namespace aot::e2e
