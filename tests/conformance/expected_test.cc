#include "tests/conformance/expected.h"

#include <gtest/gtest.h>

namespace aot::tests {
namespace {

CaseResult Result(const std::string& name, Outcome outcome, const std::string& message = "") {
  CaseResult result;
  result.name = name;
  result.outcome = outcome;
  result.message = message;
  result.operators = {"Loop"};
  if (outcome != Outcome::kPass) result.culprit = "Loop";
  return result;
}

std::vector<CaseResult> Sample() {
  return {Result("node/a", Outcome::kPass),
          Result("node/b", Outcome::kUnsupported,
                 "unsupported: node 'x' (Loop, opset 16): the operator is not known; supported: others\nmore"),
          Result("node/c", Outcome::kFail, "INTERNAL: wrong value: output 0: 1, expected 2")};
}

TEST(ExpectedTest, SurvivesItsFile) {
  Expected expected;
  expected["suite"] = Record(Sample());
  const std::string text = FormatExpected(expected);
  absl::StatusOr<Expected> parsed = ParseExpected(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(FormatExpected(*parsed), text);
  const ExpectedSuite& suite = (*parsed)["suite"];
  EXPECT_EQ(suite.cases, 3);
  EXPECT_EQ(suite.operators.at("Loop").pass, 1);
  EXPECT_EQ(suite.operators.at("Loop").of, 3);
  EXPECT_EQ(suite.shortfalls.at("node/b").reason, "the operator is not known; supported: others");
  EXPECT_EQ(suite.shortfalls.at("node/c").outcome, Outcome::kFail);
}

TEST(ExpectedTest, TheSameResultsDontDeviate) { EXPECT_TRUE(Deviations(Record(Sample()), Sample()).empty()); }

TEST(ExpectedTest, BetterAndWorseBothDeviate) {
  const ExpectedSuite suite = Record(Sample());
  std::vector<CaseResult> results = Sample();
  results[0].outcome = Outcome::kFail;
  results[0].message = "killed";
  results[1].outcome = Outcome::kPass;
  results[1].message = "";
  EXPECT_EQ(Deviations(suite, results), std::vector<std::string>({"node/a: expected pass, is fail: killed",
                                                                  "node/b: expected unsupported, is pass"}));
}

TEST(ExpectedTest, ReasonsNameNoValues) {
  std::vector<CaseResult> results = {
      Result("node/a", Outcome::kUnsupported, "unsupported: input 'x': a sequence; supported: dense tensors"),
      Result("node/b", Outcome::kUnsupported,
             "unsupported: node 'n' (Op, opset 1): the result's size depends on K, 'k', which comes at run time")};
  const ExpectedSuite suite = Record(results);
  EXPECT_EQ(suite.shortfalls.at("node/a").reason, "input: a sequence; supported: dense tensors");
  EXPECT_EQ(suite.shortfalls.at("node/b").reason, "the result's size depends on K, which comes at run time");
}

TEST(ExpectedTest, ReasonsOfFailuresStay) {
  ExpectedSuite previous = Record(Sample());
  previous.shortfalls["node/c"].reason = "the data are wrong";
  previous.shortfalls["node/b"].reason = "an older wording";
  const ExpectedSuite suite = Record(Sample(), previous);
  EXPECT_EQ(suite.shortfalls.at("node/c").reason, "the data are wrong");
  EXPECT_EQ(suite.shortfalls.at("node/b").reason, "the operator is not known; supported: others");
}

TEST(ExpectedTest, RefusesWhatHasNoReason) {
  EXPECT_FALSE(ParseExpected("[]").ok());
  EXPECT_FALSE(ParseExpected(R"({"s": {"not_passing": [{"outcome": "fail", "cases": ["a"]}]}})").ok());
}

}  // namespace
}  // namespace aot::tests
