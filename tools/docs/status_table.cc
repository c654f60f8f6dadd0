#include "tools/docs/status_table.h"

#include <regex>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "aot/aot.h"

namespace aot::docs {
namespace {

constexpr absl::string_view kBegin = "typedef enum aot_status {";
constexpr absl::string_view kEnd = "} aot_status;";
// Numbers beyond this one are not searched for codes that the header lacks.
constexpr int kLargestNumber = 1023;

absl::Status Fault(size_t line, absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", message));
}

absl::StatusOr<StatusCode> ReadLine(absl::string_view text, size_t line) {
  static const std::regex* const pattern = new std::regex(R"(\s*(AOT_\w+) = (\d{1,4}),?\s*/\* (.+) \*/\s*)");
  std::match_results<absl::string_view::const_iterator> parts;
  if (!std::regex_match(text.begin(), text.end(), parts, *pattern)) {
    return Fault(line, absl::StrCat("'", text, "' isn't `NAME = NUMBER, /* meaning */`"));
  }
  StatusCode code;
  code.name = parts[1].str();
  code.meaning = parts[3].str();
  if (!absl::SimpleAtoi(parts[2].str(), &code.number)) return Fault(line, "a number is too large");
  const std::string known = aot_status_text(static_cast<aot_status>(code.number));
  if (known != code.name) {
    return Fault(line, absl::StrCat("aot_status_text calls ", code.number, " ", known, ", the header ", code.name));
  }
  return code;
}

absl::Status CheckComplete(const std::vector<StatusCode>& codes) {
  std::set<int> numbers;
  for (const StatusCode& code : codes) numbers.insert(code.number);
  for (int number = 0; number <= kLargestNumber; ++number) {
    const std::string name = aot_status_text(static_cast<aot_status>(number));
    if (name != "AOT_UNKNOWN_STATUS" && numbers.count(number) == 0) {
      return absl::InvalidArgumentError(absl::StrCat("aot_status_text knows ", name, ", the header doesn't"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<StatusCode>> ReadStatusCodes(absl::string_view header) {
  std::vector<StatusCode> codes;
  bool inside = false;
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(header, '\n')) {
    ++number;
    if (line == kEnd && inside) {
      absl::Status status = CheckComplete(codes);
      if (!status.ok()) return status;
      return codes;
    }
    if (inside && line.find("AOT_") != absl::string_view::npos && line.find(" = ") != absl::string_view::npos) {
      absl::StatusOr<StatusCode> code = ReadLine(line, number);
      if (!code.ok()) return code.status();
      codes.push_back(*std::move(code));
    } else if (inside && line.find("/* ") == absl::string_view::npos) {
      return Fault(number, absl::StrCat("'", line, "' is neither a code nor a comment"));
    }
    if (line == kBegin) inside = true;
  }
  return absl::InvalidArgumentError(absl::StrCat("there is no enumeration from `", kBegin, "` to `", kEnd, "`"));
}

}  // namespace aot::docs
