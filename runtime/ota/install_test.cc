// Which target a device takes.
#include "runtime/ota/install.h"

#include <cstdlib>
#include <memory>

#include <gtest/gtest.h>

#include "runtime/ota/curl_transport.h"
#include "runtime/ota/testing/http_server.h"
#include "runtime/ota/testing/tuf_repository.h"

namespace aot::ota {
namespace {

using nlohmann::json;

class ChooseTargetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(sodium_init(), 0);
    std::string pattern = ::testing::TempDir() + "install-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    ASSERT_TRUE(state_.Open(pattern).ok());
    transport_ = MakeCurlTransport({});
    request_.channel = "stable";
    request_.model = "m";
    request_.cpu.arch = AOT_ARCH_AARCH64;
    request_.cpu.features = AOT_ARM_FP | AOT_ARM_ASIMD | AOT_ARM_CRC32 | AOT_ARM_ASIMDDP | AOT_ARM_FP16;
    repository_.PublishRoot();
  }

  void Add(const std::string& target, const json& features, const std::string& triple = "aarch64-linux-gnu",
           int abi = 1, const std::string& channel = "stable") {
    const json part = {{"sha256", std::string(64, '0')}, {"length", 1}};
    const json custom = {{"aot",
                          {{"model", "m"},
                           {"channel", channel},
                           {"target", target},
                           {"triple", triple},
                           {"cpu_features", features},
                           {"abi", abi},
                           {"format", 1},
                           {"arena_size", 1},
                           {"release", 1},
                           {"code", part},
                           {"weights", part}}}};
    repository_.AddTarget(channel + "/m/" + target + ".manifest", "manifest of " + target, custom);
  }

  // The chosen target's name, or the error's code and message.
  std::string Choose() {
    repository_.Publish();
    Updater updater(transport_.get(), &state_, server_.url() + "/tuf", {}, 1780000000, nullptr);
    EXPECT_TRUE(updater.Begin({repository_.FirstRoot(), ""}).ok());
    const Status refreshed = updater.Refresh();
    EXPECT_TRUE(refreshed.ok()) << refreshed.message();
    TargetDescription description;
    TargetFile file;
    const Status status = ChooseTarget(&updater, request_, &description, &file);
    return status.ok() ? description.target : std::string(CodeName(status.code())) + ": " + status.message();
  }

  HttpServer& server_ = *HttpServer::Shared();
  TufRepository repository_{&server_};
  StateDirectory state_;
  std::unique_ptr<Transport> transport_;
  InstallRequest request_;
};

TEST_F(ChooseTargetTest, TakesTheMostDemandingThatFits) {
  Add("cortex-a53", {"asimd", "crc32"});
  Add("cortex-a75", {"asimd", "crc32", "asimddp", "fp16"});
  Add("neoverse-v1", {"asimd", "crc32", "asimddp", "fp16", "sve"});
  Add("x86-64-v3", {"avx2", "fma", "bmi1", "bmi2", "f16c"}, "x86_64-linux-gnu");
  EXPECT_EQ(Choose(), "cortex-a75");
  request_.cpu.features &= ~AOT_ARM_ASIMDDP;
  EXPECT_EQ(Choose(), "cortex-a53");
  request_.cpu = {AOT_ARCH_X86_64, ~uint64_t{0}, 256};
  EXPECT_EQ(Choose(), "x86-64-v3");
}

TEST_F(ChooseTargetTest, SaysWhatEachOneLacks) {
  Add("neoverse-v1", {"asimd", "sve"});
  Add("x86-64-v3", {"avx2"}, "x86_64-linux-gnu");
  const std::string refused = Choose();
  EXPECT_EQ(refused.find("incompatible: "), 0u) << refused;
  EXPECT_NE(refused.find("CPU feature sve"), std::string::npos) << refused;
  EXPECT_NE(refused.find("built for x86_64-linux-gnu"), std::string::npos) << refused;
}

TEST_F(ChooseTargetTest, LooksOnlyInItsChannel) {
  Add("cortex-a53", {"asimd"}, "aarch64-linux-gnu", 1, "beta");
  EXPECT_EQ(Choose().find("not found: "), 0u);
  request_.channel = "beta";
  EXPECT_EQ(Choose(), "cortex-a53");
}

TEST_F(ChooseTargetTest, TakesTheNamedOneOrNone) {
  Add("cortex-a53", {"asimd"});
  Add("cortex-a75", {"asimd", "asimddp"});
  Add("neoverse-v1", {"asimd", "sve"});
  request_.target = "cortex-a53";
  EXPECT_EQ(Choose(), "cortex-a53");
  request_.target = "neoverse-v1";
  EXPECT_EQ(Choose().find("incompatible: "), 0u);
  request_.target = "none";
  EXPECT_EQ(Choose().find("not found: "), 0u);
}

TEST_F(ChooseTargetTest, VectorsMustHaveTheLength) {
  request_.cpu.features |= AOT_ARM_SVE;
  request_.cpu.vector_bits = 256;
  Add("cortex-a53", {"asimd"});
  Add("neoverse-v1", {"asimd", "sve"});
  json& bits = repository_.targets_json["stable/m/neoverse-v1.manifest"]["custom"]["aot"]["vector_bits"];
  for (const auto& [length, chosen] : {std::pair(256, "neoverse-v1"), {128, "cortex-a53"}, {512, "cortex-a53"}}) {
    bits = length;
    EXPECT_EQ(Choose(), chosen) << length;
  }
}

TEST_F(ChooseTargetTest, OneBadEntryKeepsNobodyFromTheOthers) {
  Add("cortex-a53", {"asimd"});
  Add("cortex-a75", {"asimd", "asimddp"});
  repository_.targets_json["stable/m/cortex-a75.manifest"]["custom"]["aot"].erase("triple");
  TufRepository::Delegation team{"team", {"stable/m/*"}};
  team.role.keys = {MakeTestKey()};
  repository_.delegations.push_back(team);
  repository_.omit["team.json"] = 0;
  EXPECT_EQ(Choose(), "cortex-a53");
  // Where nothing else fits, it is said what is wrong.
  repository_.targets_json.erase("stable/m/cortex-a53.manifest");
  EXPECT_EQ(Choose().find("malformed: "), 0u);
}

TEST_F(ChooseTargetTest, PassesOverAnotherAbi) {
  Add("cortex-a53", {"asimd"});
  Add("cortex-a75", {"asimd", "asimddp"}, "aarch64-linux-gnu", 2);
  EXPECT_EQ(Choose(), "cortex-a53");
}

TEST(TargetPathTest, OnlyOwnTargetsHaveNames) {
  EXPECT_EQ(TargetPath("stable", "m", "t"), "stable/m/t.manifest");
  EXPECT_EQ(TargetNameOf("stable/m/t.manifest", "stable", "m"), "t");
  for (const char* path : {"stable/m/.manifest", "stable/m/../x.manifest", "stable/m/a/b.manifest", "stable/m/t.json",
                           "beta/m/t.manifest", "stable/mm/t.manifest", "stable/m/.hidden.manifest"})
    EXPECT_EQ(TargetNameOf(path, "stable", "m"), "") << path;
}

}  // namespace
}  // namespace aot::ota
