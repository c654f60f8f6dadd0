// What running one model came to; travels from the worker process to the runner as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace aot::tests {

enum class Verdict { kRight, kWrong, kUnsupported };
// The first is what unknown texts become.
NLOHMANN_JSON_SERIALIZE_ENUM(Verdict, {{Verdict::kWrong, "wrong"},
                                       {Verdict::kRight, "right"},
                                       {Verdict::kUnsupported, "unsupported"}})

struct ModelResult {
  std::string model;
  Verdict verdict = Verdict::kWrong;
  std::string message;            // why it isn't right, with the data set and the output
  int data_sets = 0;              // that were run and compared
  int artifacts = 0;              // one for each set of input shapes
  double max_error = 0;           // largest relative_to_max of a float output, or steps of an integer output
  double compile_seconds = 0;     // of all artifacts
  double median_seconds = 0;      // of one inference of the first data set; 0 if it didn't run
  int64_t arena_bytes = 0;        // largest
  int64_t artifact_bytes = 0;     // largest `.so`
  int64_t peak_memory_bytes = 0;  // of the worker process, compile included
};

const char* Name(Verdict verdict);
std::string ToJson(const ModelResult& result);
// A wrong result that says so if the text isn't what ToJson writes.
ModelResult FromJson(const std::string& text);

}  // namespace aot::tests
