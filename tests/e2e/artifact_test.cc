// What an artifact's files promise to the tools of the platform: one exported descriptor, nothing imported, nothing to
// relocate, the same bytes each time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/e2e/testing/installation.h"

namespace aot::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ArtifactTest : public Installation {
 protected:
  // Standard output of a program that must succeed.
  static std::string Output(const std::string& command) {
    const Outcome outcome = RunCommand(command);
    EXPECT_EQ(outcome.exit_code, 0) << command << "\n" << outcome.ToString();
    return outcome.out;
  }

  static void ExpectDescriptorOnly(const std::string& file) {
    EXPECT_EQ(Output("llvm-nm-22 -D --defined-only --format=just-symbols " + file), "aot_descriptor\n") << file;
    EXPECT_EQ(Output("llvm-nm-22 -D --undefined-only " + file), "") << file;
    EXPECT_THAT(Output("readelf --wide --dynamic " + file), Not(HasSubstr("NEEDED"))) << file;
    EXPECT_THAT(Output("readelf --wide --relocs " + file), HasSubstr("no relocations")) << file;
    // Nothing both writable and executable, no stack that is.
    const std::string segments = Output("readelf --wide --segments " + file);
    EXPECT_THAT(segments, Not(HasSubstr("RWE"))) << file;
  }
};

TEST_F(ArtifactTest, ExportsTheDescriptorOnlyAndIsTheSameEachTime) {
  const std::string model = SmallNet(1).Onnx();
  for (const char* opt : {"0", "3"}) {
    for (const char* directory : {"one", "another"}) {
      std::filesystem::create_directories(Path(directory));
      WriteFile(Path(std::string(directory) + "/net.onnx"), model);
      const Outcome outcome =
          Aotctl("compile --local --dim N=1 --target x86-64-v2,cortex-a53 --opt " + std::string(opt) + " --model " +
                 Path(directory) + "/net.onnx --output " + Path(directory) + "/opt" + opt);
      ASSERT_EQ(outcome.exit_code, 0) << outcome.ToString();
    }
    for (const char* target : {"x86-64-v2", "cortex-a53"}) {
      const std::string file = "/opt" + std::string(opt) + "/net-" + target + ".so";
      ExpectDescriptorOnly(Path("one") + file);
      EXPECT_TRUE(ReadFile(Path("one") + file) == ReadFile(Path("another") + file)) << file;
    }
  }
}

TEST_F(ArtifactTest, SoDoesTheCodeObject) {
  for (const char* target : {"x86-64-v2", "cortex-a53"}) {
    const std::string key = Compile(SmallNet(1), target);
    Output("AOT_SERVER=127.0.0.1:" + std::to_string(server_->grpc_port()) +
           " clients/aotctl/aotctl artifacts get --part code --output " + Path("code.elf") + " " + key);
    ExpectDescriptorOnly(Path("code.elf"));
  }
}

}  // namespace
}  // namespace aot::e2e
