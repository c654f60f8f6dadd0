#include "tests/conformance/case_result.h"

#include <nlohmann/json.hpp>

namespace aot::tests {

absl::string_view Name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "pass";
    case Outcome::kFail:
      return "fail";
    case Outcome::kUnsupported:
      return "unsupported";
  }
  return "?";
}

std::string ToJson(const CaseResult& result) {
  nlohmann::json json = {
      {"name", result.name}, {"outcome", std::string(Name(result.outcome))}, {"seconds", result.seconds}};
  if (!result.message.empty()) json["message"] = result.message;
  if (!result.bound.empty()) json["bound"] = result.bound;
  if (!result.operators.empty()) json["operators"] = result.operators;
  if (!result.culprit.empty()) json["culprit"] = result.culprit;
  // Messages quote models, which may hold any bytes.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

CaseResult FromJson(const std::string& text) {
  CaseResult result;
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    result.message = "the worker's answer isn't JSON";
    return result;
  }
  result.name = json.value("name", "");
  result.message = json.value("message", "");
  result.bound = json.value("bound", std::vector<std::string>());
  result.operators = json.value("operators", std::vector<std::string>());
  result.culprit = json.value("culprit", "");
  result.seconds = json.value("seconds", 0.0);
  const std::string outcome = json.value("outcome", "fail");
  for (Outcome candidate : {Outcome::kPass, Outcome::kUnsupported}) {
    if (outcome == Name(candidate)) result.outcome = candidate;
  }
  return result;
}

}  // namespace aot::tests
