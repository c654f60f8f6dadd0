// The checked-in list of what every case of a suite gives, with a reason for all that don't pass.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/conformance/case_result.h"

namespace aot::tests {

// Why a case doesn't pass. Cases with the same are grouped in the file.
struct Shortfall {
  Outcome outcome = Outcome::kUnsupported;
  std::string op;      // the operator at fault, if one is
  std::string reason;  // a sentence
  bool operator<(const Shortfall& other) const {
    return std::tie(op, outcome, reason) < std::tie(other.op, other.outcome, other.reason);
  }
};

// Of the cases whose main graph contains an operator.
struct OperatorCount {
  int pass = 0, of = 0;
};

struct ExpectedSuite {
  int cases = 0;
  std::map<std::string, Shortfall> shortfalls;     // by case; all others pass
  std::map<std::string, OperatorCount> operators;  // "Conv", "ai.onnx.ml.Scaler"
};
using Expected = std::map<std::string, ExpectedSuite>;  // by the suite's name

absl::StatusOr<Expected> ParseExpected(const std::string& json);
std::string FormatExpected(const Expected& expected);

// What the list would say of these results. Why something fails is written by hand: a reason in `previous` stays.
ExpectedSuite Record(const std::vector<CaseResult>& results, const ExpectedSuite& previous = {});

// One line for each case that gives something else than the list says, or that the list can't be about: "node/test_abs:
// expected pass, is fail: ...". Reasons aren't compared: the wording of a message may change.
std::vector<std::string> Deviations(const ExpectedSuite& expected, const std::vector<CaseResult>& results);

}  // namespace aot::tests
