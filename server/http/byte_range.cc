#include "server/http/byte_range.h"

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace aot::server {
namespace {

// Decimal digits only. A number that doesn't fit is larger than any object, so it is the largest one. False: no number.
bool ParsePosition(absl::string_view text, uint64_t& value) {
  if (text.empty()) return false;
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  value = 0;
  for (char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
    uint64_t digit = static_cast<uint64_t>(c - '0');
    value = value > (kMax - digit) / 10 ? kMax : value * 10 + digit;
  }
  return true;
}

}  // namespace

ByteRange ParseByteRange(absl::string_view header, uint64_t size) {
  const ByteRange whole{ByteRange::Kind::kWhole, 0, size};
  constexpr absl::string_view kUnit = "bytes=";
  if (!absl::StartsWithIgnoreCase(header, kUnit)) return whole;
  absl::string_view spec = absl::StripAsciiWhitespace(header.substr(kUnit.size()));
  size_t dash = spec.find('-');
  // A comma means several ranges; a server may ignore those, and one body is simpler for every cache.
  if (dash == absl::string_view::npos || absl::StrContains(spec, ',')) return whole;
  absl::string_view from = absl::StripAsciiWhitespace(spec.substr(0, dash));
  absl::string_view to = absl::StripAsciiWhitespace(spec.substr(dash + 1));

  if (from.empty()) {  // "-n": the last n bytes
    uint64_t suffix;
    if (!ParsePosition(to, suffix)) return whole;
    if (suffix == 0 || size == 0) return {ByteRange::Kind::kUnsatisfiable, 0, 0};
    uint64_t length = std::min(suffix, size);
    return {ByteRange::Kind::kPart, size - length, length};
  }
  uint64_t first;
  uint64_t last = std::numeric_limits<uint64_t>::max();
  if (!ParsePosition(from, first) || (!to.empty() && !ParsePosition(to, last)) || last < first) return whole;
  if (first >= size) return {ByteRange::Kind::kUnsatisfiable, 0, 0};
  return {ByteRange::Kind::kPart, first, std::min(last, size - 1) - first + 1};
}

}  // namespace aot::server
