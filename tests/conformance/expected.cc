#include "tests/conformance/expected.h"

#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace aot::tests {
namespace {

using Json = nlohmann::ordered_json;

// Takes out the names of values, which differ from case to case: "input 'x'" and "the shape, 'x',".
std::string WithoutValueNames(std::string text) {
  for (const std::string before : {"input '", ", '"}) {
    for (size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
      const size_t open = at + before.size() - 1, close = text.find('\'', open + 1);
      const size_t from = before[0] == ',' ? at : open - 1;
      if (close != std::string::npos) text.erase(from, close + 1 - from);
    }
  }
  return text;
}

// "unsupported: node 'n' (Op, opset 17): reason; supported: ..." without what differs from case to case.
std::string Reason(absl::string_view message) {
  absl::string_view line = message.substr(0, message.find('\n'));
  absl::ConsumePrefix(&line, "unsupported: ");
  if (size_t place = line.find(", opset "); place != absl::string_view::npos) {
    size_t end = line.find(": ", place);
    if (end != absl::string_view::npos) line.remove_prefix(end + 2);
  }
  return WithoutValueNames(std::string(line));
}

}  // namespace

absl::StatusOr<Expected> ParseExpected(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::InvalidArgumentError("the list of expected results isn't a JSON object");
  Expected expected;
  for (const auto& [name, suite] : json.items()) {
    ExpectedSuite& entry = expected[name];
    entry.cases = suite.value("cases", 0);
    for (const Json& group : suite.value("not_passing", Json::array())) {
      Shortfall shortfall;
      const std::string outcome = group.value("outcome", "");
      shortfall.outcome = outcome == Name(Outcome::kFail) ? Outcome::kFail : Outcome::kUnsupported;
      shortfall.op = group.value("operator", "");
      shortfall.reason = group.value("reason", "");
      if (shortfall.reason.empty()) return absl::InvalidArgumentError(absl::StrCat(name, ": a group has no reason"));
      for (const std::string& member : group.value("cases", std::vector<std::string>())) {
        entry.shortfalls[member] = shortfall;
      }
    }
    const Json operators = suite.value("operators", Json::object());
    for (const auto& [op, count] : operators.items()) {
      entry.operators[op] = {count.value("pass", 0), count.value("of", 0)};
    }
  }
  return expected;
}

std::string FormatExpected(const Expected& expected) {
  Json json = Json::object();
  for (const auto& [name, suite] : expected) {
    std::map<Shortfall, std::vector<std::string>> groups;
    for (const auto& [member, shortfall] : suite.shortfalls) groups[shortfall].push_back(member);
    Json not_passing = Json::array();
    for (const auto& [shortfall, members] : groups) {
      Json group = {{"outcome", std::string(Name(shortfall.outcome))}};
      if (!shortfall.op.empty()) group["operator"] = shortfall.op;
      group["reason"] = shortfall.reason;
      group["cases"] = members;
      not_passing.push_back(std::move(group));
    }
    Json operators = Json::object();
    for (const auto& [op, count] : suite.operators) operators[op] = {{"pass", count.pass}, {"of", count.of}};
    json[name] = {{"cases", suite.cases}, {"not_passing", not_passing}, {"operators", operators}};
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

ExpectedSuite Record(const std::vector<CaseResult>& results, const ExpectedSuite& previous) {
  ExpectedSuite suite;
  suite.cases = static_cast<int>(results.size());
  for (const CaseResult& result : results) {
    const bool pass = result.outcome == Outcome::kPass;
    for (const std::string& op : result.operators) {
      suite.operators[op].pass += pass ? 1 : 0;
      ++suite.operators[op].of;
    }
    if (pass) continue;
    auto known = previous.shortfalls.find(result.name);
    const bool explained = known != previous.shortfalls.end() && known->second.outcome == Outcome::kFail;
    suite.shortfalls[result.name] = explained && result.outcome == Outcome::kFail
                                        ? known->second
                                        : Shortfall{result.outcome, result.culprit, Reason(result.message)};
  }
  return suite;
}

std::vector<std::string> Deviations(const ExpectedSuite& expected, const std::vector<CaseResult>& results) {
  std::vector<std::string> deviations;
  std::set<std::string> names;
  for (const CaseResult& result : results) {
    names.insert(result.name);
    auto found = expected.shortfalls.find(result.name);
    const Outcome outcome = found == expected.shortfalls.end() ? Outcome::kPass : found->second.outcome;
    if (outcome == result.outcome) continue;
    deviations.push_back(absl::StrCat(result.name, ": expected ", Name(outcome), ", is ", Name(result.outcome),
                                      result.message.empty() ? "" : ": ", result.message));
  }
  return deviations;
}

}  // namespace aot::tests
