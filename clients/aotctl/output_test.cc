#include "clients/aotctl/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <unistd.h>

namespace aot::clients {
namespace {

using ::testing::HasSubstr;

TEST(OutputTest, JsonModePutsOneObjectOnStdoutAndTextOnStderr) {
  Output output;
  output.set_json(true);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  output.Line("a line");
  output.json()["answer"] = 42;
  EXPECT_EQ(output.Finish(absl::NotFoundError("no such thing")), ExitCode::kNotFound);
  nlohmann::json json = nlohmann::json::parse(::testing::internal::GetCapturedStdout());
  EXPECT_EQ(json["answer"], 42);
  EXPECT_EQ(json["error"]["code"], "not_found");
  EXPECT_EQ(json["error"]["exit_code"], 4);
  EXPECT_EQ(json["error"]["message"], "no such thing");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("a line"));
}

TEST(OutputTest, ALineThatCantBeWrittenIsAFailure) {
  int standard = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY);
  if (full < 0) GTEST_SKIP() << "this host has no /dev/full";
  for (bool json : {false, true}) {
    Output output;
    output.set_json(json);
    ASSERT_GE(dup2(full, STDOUT_FILENO), 0);
    output.Line("a line");
    ExitCode code = output.Finish(absl::OkStatus());
    dup2(standard, STDOUT_FILENO);
    clearerr(stdout);
    EXPECT_EQ(code, ExitCode::kFailure);
  }
  close(full);
  close(standard);
}

TEST(OutputTest, InvalidUtf8NeverBreaksTheJson) {
  Output output;
  output.set_json(true);
  output.json()["name"] = "\xff\xfe";
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(output.Finish(absl::OkStatus()), ExitCode::kOk);
  EXPECT_TRUE(nlohmann::json::accept(::testing::internal::GetCapturedStdout()));
}

TEST(OutputTest, ControlCharactersAreShownNotSent) { EXPECT_EQ(Printable("a\x1b[31mb\nc\r"), "a\\x1b[31mb\nc\\x0d"); }

TEST(OutputTest, ColumnsAreAligned) {
  Output output;
  ::testing::internal::CaptureStdout();
  output.Table({{"A", "B"}, {"long", "x"}});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "A     B\nlong  x\n");
}

TEST(FormatTest, Numbers) {
  EXPECT_EQ(FormatBytes(999), "999 B");
  EXPECT_EQ(FormatBytes(1000), "1.00 kB");
  EXPECT_EQ(FormatBytes(10790000), "10.8 MB");
  EXPECT_EQ(FormatBytes(999999), "1.00 MB");
  EXPECT_EQ(FormatSeconds(85.4), "85.4 s");
  EXPECT_EQ(FormatSeconds(0.00123), "1.23 ms");
  EXPECT_EQ(FormatSeconds(0.0000005), "0.50 us");
  EXPECT_EQ(FormatTime(0), "never");
  EXPECT_EQ(FormatTime(86400), "1970-01-02 00:00:00 UTC");
}

TEST(ExitCodeTest, StatusesAndOverrides) {
  EXPECT_EQ(ToExitCode(absl::OkStatus()), ExitCode::kOk);
  EXPECT_EQ(ToExitCode(absl::UnimplementedError("")), ExitCode::kUnsupported);
  EXPECT_EQ(ToExitCode(absl::UnavailableError("")), ExitCode::kUnavailable);
  EXPECT_EQ(ToExitCode(absl::FailedPreconditionError("")), ExitCode::kBadInput);
  EXPECT_EQ(ToExitCode(absl::InternalError("")), ExitCode::kFailure);
  EXPECT_EQ(ToExitCode(UsageError("")), ExitCode::kUsage);
  EXPECT_EQ(ToExitCode(WithExitCode(absl::InternalError(""), ExitCode::kVerificationFailed)),
            ExitCode::kVerificationFailed);
}

TEST(ExitCodeTest, TheTableIsInOrder) {
  int number = 0;
  for (const ExitCodeDescription& code : ExitCodes()) EXPECT_EQ(static_cast<int>(code.code), number++);
}

}  // namespace
}  // namespace aot::clients
