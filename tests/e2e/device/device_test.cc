// The device program as a process, for this machine and for 64-bit Arm under an emulator, against a real server.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "gtest/gtest.h"
#include "runtime/ota/testing/http_server.h"
#include "runtime/ota/testing/test_artifact.h"
#include "runtime/ota/testing/tuf_repository.h"
#include "sodium.h"

namespace aot::ota {
namespace {

// The emulator has no cortex-a75; the a76 is the nearest.
constexpr char kHost[] = "tests/e2e/device/device";
constexpr char kArm[] = "qemu-aarch64 -cpu cortex-a76 -L / tests/e2e/device/device_aarch64";

class DeviceTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ASSERT_GE(sodium_init(), 0);
    std::string pattern = ::testing::TempDir() + "device-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    repository_.PublishRoot();
    std::ofstream(directory_ + "/root.json") << repository_.FirstRoot();
  }

  void Release(int64_t release, float bias, const std::vector<std::string>& targets) {
    for (const std::string& target : targets)
      AddRelease(&server_, &repository_, MakeTestArtifact({bias, "", true, target}), "stable", "affine", release);
    repository_.Publish();
  }

  // Exit code; what it printed is in output_.
  int Run(const std::string& arguments) {
    const std::string command = std::string(GetParam()) + " --url " + server_.url() + " --root " + directory_ +
                                "/root.json --model affine --state " + directory_ + "/state " + arguments + " 2>&1";
    output_.clear();
    FILE* pipe = popen(command.c_str(), "r");
    char buffer[4096];
    for (size_t got = 0; (got = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) output_.append(buffer, got);
    return WEXITSTATUS(pclose(pipe));
  }

  bool Printed(const std::string& line) const { return output_.find(line + "\n") != std::string::npos; }

  HttpServer& server_ = *HttpServer::Shared();
  TufRepository repository_{&server_};
  std::string directory_;
  std::string output_;
};

TEST_P(DeviceTest, FetchesRunsAndWritesTheResult) {
  Release(1, 1, {"x86-64-v2", "cortex-a53", "cortex-a75"});
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  std::ofstream(directory_ + "/x.raw", std::ios::binary).write(reinterpret_cast<const char*>(x.data()), 32);
  ASSERT_EQ(Run("--input " + directory_ + "/x.raw --output " + directory_ + "/y.raw --runs 5"), 0) << output_;
  EXPECT_TRUE(Printed("model: affine")) << output_;
  EXPECT_TRUE(Printed(std::string("target: ") + (GetParam() == kArm ? "cortex-a75" : TestTargetName()))) << output_;
  EXPECT_TRUE(Printed("source: downloaded")) << output_;
  EXPECT_TRUE(Printed("arena bytes: 64")) << output_;
  EXPECT_NE(output_.find("median latency: "), std::string::npos) << output_;
  std::ifstream file(directory_ + "/y.raw", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<float> y(8);
  ASSERT_EQ(bytes.size(), 32u);
  memcpy(y.data(), bytes.data(), 32);
  EXPECT_EQ(y, (std::vector<float>{3, 5, 7, 9, 11, 13, 15, 17}));
  ASSERT_EQ(Run("--offline"), 0) << output_;
  EXPECT_TRUE(Printed("source: installed")) << output_;
}

TEST_P(DeviceTest, KeepsWhatRunsAndSaysWhy) {
  Release(1, 1, {"x86-64-v2", "cortex-a53"});
  ASSERT_EQ(Run(""), 0) << output_;
  repository_.timestamp.expires = "2020-01-01T00:00:00Z";
  Release(2, 2, {"x86-64-v2", "cortex-a53"});
  ASSERT_EQ(Run(""), 0) << output_;
  EXPECT_TRUE(Printed("release: 1")) << output_;
  EXPECT_NE(output_.find("not updated: AOT_EXPIRED: timestamp.json"), std::string::npos) << output_;
  EXPECT_EQ(Run("--require-update"), 1);
  EXPECT_EQ(Run("--no-such-flag"), 2);
}

TEST_P(DeviceTest, RefusesAnArtifactForAnotherProcessor) {
  Release(1, 1, {GetParam() == kArm ? "x86-64-v2" : "cortex-a53"});
  EXPECT_EQ(Run(""), 1);
  EXPECT_NE(output_.find("AOT_WRONG_TARGET"), std::string::npos) << output_;
}

INSTANTIATE_TEST_SUITE_P(Programs, DeviceTest, ::testing::Values(kHost, kArm),
                         [](const auto& info) { return info.param == kArm ? "Aarch64" : "Host"; });

}  // namespace
}  // namespace aot::ota
