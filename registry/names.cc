#include "registry/names.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace aot::registry {
namespace {

constexpr size_t kMaxLength = 128;

bool Allowed(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-'; }

}  // namespace

absl::Status CheckName(absl::string_view what, absl::string_view name) {
  constexpr absl::string_view kRule = "; use 1 to 128 characters of A-Z a-z 0-9 . _ - with no dot in front";
  if (name.empty()) return absl::InvalidArgumentError(absl::StrCat(what, " name is empty", kRule));
  if (name.size() > kMaxLength) {
    return absl::InvalidArgumentError(absl::StrCat(what, " name has ", name.size(), " characters", kRule));
  }
  if (name[0] == '.') {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " name \"", absl::CHexEscape(name), "\" starts with a dot", kRule));
  }
  for (size_t i = 0; i < name.size(); ++i) {
    if (!Allowed(name[i])) {
      return absl::InvalidArgumentError(absl::StrCat(what, " name \"", absl::CHexEscape(name), "\" has \"",
                                                     absl::CHexEscape(name.substr(i, 1)), "\" at position ", i, kRule));
    }
  }
  return absl::OkStatus();
}

}  // namespace aot::registry
