#include "tests/models/model_test_result.h"

namespace aot::tests {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelResult, model, verdict, message, data_sets, artifacts, max_error,
                                   compile_seconds, median_seconds, arena_bytes, artifact_bytes, peak_memory_bytes)

const char* Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRight:
      return "right";
    case Verdict::kUnsupported:
      return "unsupported";
    case Verdict::kWrong:
      break;
  }
  return "WRONG";
}

std::string ToJson(const ModelResult& result) {
  return nlohmann::json(result).dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

ModelResult FromJson(const std::string& text) {
  try {
    return nlohmann::json::parse(text).get<ModelResult>();
  } catch (const nlohmann::json::exception& error) {
    ModelResult result;
    result.message = std::string("the worker's answer can't be read: ") + error.what();
    return result;
  }
}

}  // namespace aot::tests
