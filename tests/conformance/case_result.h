// What became of one case of the suite.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace aot::tests {

enum class Outcome { kPass, kFail, kUnsupported };
absl::string_view Name(Outcome outcome);  // "pass", "fail", "unsupported"

struct CaseResult {
  std::string name;  // "node/test_abs", below the suite's directory
  Outcome outcome = Outcome::kFail;
  std::string message;                 // empty for a pass
  std::vector<std::string> bound;      // graph inputs that became constants
  std::vector<std::string> operators;  // of the main graph, each once: "Conv", "ai.onnx.ml.Scaler"
  std::string culprit;                 // the operator that a message is about, if one is
  double seconds = 0;
};

// A JSON object, and back. FromJson gives a failure that says so for text that isn't one.
std::string ToJson(const CaseResult& result);
CaseResult FromJson(const std::string& text);

}  // namespace aot::tests
