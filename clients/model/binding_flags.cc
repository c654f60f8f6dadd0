#include "clients/model/binding_flags.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace aot::clients {

absl::Status ParseStates(const std::vector<std::string>& flags, compiler::Options* options) {
  for (const std::string& text : flags) {
    // Names may hold anything; what is ambiguous is refused rather than guessed.
    std::vector<std::string> parts = absl::StrSplit(text, '=');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty())
      return absl::InvalidArgumentError(absl::StrCat("--state: '", text, "' isn't INPUT=OUTPUT"));
    if (!options->states.emplace(parts[0], parts[1]).second)
      return absl::InvalidArgumentError(absl::StrCat("--state: input ", parts[0], " is named twice"));
  }
  return absl::OkStatus();
}

absl::Status ParseBuckets(const std::vector<std::string>& flags, compiler::Options* options) {
  for (const std::string& text : flags) {
    std::map<std::string, int64_t> bucket;
    for (absl::string_view part : absl::StrSplit(text, ',')) {
      size_t at = part.rfind('=');
      int64_t size = 0;
      if (at == absl::string_view::npos || at == 0 || !absl::SimpleAtoi(part.substr(at + 1), &size) || size < 1)
        return absl::InvalidArgumentError(
            absl::StrCat("--bucket: '", text, "': write NAME=N,NAME=N with numbers of at least 1"));
      if (!bucket.emplace(part.substr(0, at), size).second)
        return absl::InvalidArgumentError(absl::StrCat("--bucket: '", text, "' binds ", part.substr(0, at), " twice"));
    }
    options->buckets.push_back(std::move(bucket));
  }
  return absl::OkStatus();
}

}  // namespace aot::clients
