#include "server/http/entity_tag.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace aot::server {

std::string EntityTag(const registry::Digest& digest) { return absl::StrCat("\"sha256-", digest.Hex(), "\""); }

bool NoneMatchHits(absl::string_view header, absl::string_view tag) {
  // A comma inside a foreign tag only cuts that tag into pieces that match nothing of ours.
  for (absl::string_view candidate : absl::StrSplit(header, ',')) {
    candidate = absl::StripAsciiWhitespace(candidate);
    if (candidate == "*") return true;
    absl::ConsumePrefix(&candidate, "W/");
    if (candidate == tag) return true;
  }
  return false;
}

bool RangeAllowed(absl::string_view if_range, absl::string_view tag) {
  if_range = absl::StripAsciiWhitespace(if_range);
  return if_range.empty() || if_range == tag;
}

}  // namespace aot::server
