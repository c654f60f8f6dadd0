// The checked-in list of what the models came to (expected.json), of which docs/models.md is made.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/models/model_test_result.h"

namespace aot::tests {

struct RecordedRun {
  Verdict verdict = Verdict::kWrong;
  std::string message;   // why it isn't right
  double max_error = 0;  // as in ModelResult, with one digit: the rest differs from one change to the next
};

struct RecordedModel {
  std::string what;                         // "vision transformer", from meta.json
  int64_t bytes = 0;                        // of model.onnx
  int64_t data_sets = 0;                    // compared
  std::map<std::string, RecordedRun> runs;  // by RunName
};

using Record = std::map<std::string, RecordedModel>;  // by model

// "x86-64-v4 -O3"
std::string RunName(const std::string& target, int opt_level);

// INVALID_ARGUMENT if the text isn't what FormatRecord writes.
absl::StatusOr<Record> ParseRecord(const std::string& text);
std::string FormatRecord(const Record& record);

// Puts a result in its place; what the model is comes from its directory.
absl::Status AddResult(const std::string& model_directory, const std::string& run, const ModelResult& result,
                       Record* record);

}  // namespace aot::tests
