#include "clients/aotctl/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aot::clients {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(ProgressTest, WithoutATerminalEachStepIsOneLine) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress(/*terminal=*/false);
    for (int i = 0; i <= 10; ++i) progress.Update("import", i, 10);
    for (int i = 0; i <= 10; ++i) progress.Update("generate", i, 10);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "import\ngenerate\n");
}

TEST(ProgressTest, OnATerminalTheBarIsClearedAtTheEnd) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress(/*terminal=*/true);
    progress.Update("generate", 5, 10);
  }
  std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("generate [###############---------------] 50 %"));
  EXPECT_THAT(text, EndsWith("\r\x1b[K"));
}

TEST(ProgressTest, ABarNeverLeavesItsBrackets) {
  EXPECT_EQ(Progress::Bar(0, 10, 4), "[----] 0 %");
  EXPECT_EQ(Progress::Bar(20, 10, 4), "[####] 100 %");
  EXPECT_EQ(Progress::Bar(-1, 10, 4), "[----] 0 %");
  EXPECT_EQ(Progress::Bar(1, 0, 4), "[----] 0 %");
}

}  // namespace
}  // namespace aot::clients
