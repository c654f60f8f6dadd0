#include "compiler/import/onnx/text.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace aot::import::onnx {
namespace {

constexpr size_t kLongestName = 200;

// Length of the valid UTF-8 sequence at the start of `text`, or 0. Overlong forms, surrogates and code points above
// U+10FFFF are invalid.
size_t SequenceLength(absl::string_view text) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

}  // namespace

std::string Printable(absl::string_view name) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string result;
  for (size_t i = 0; i < name.size();) {
    if (i >= kLongestName) return absl::StrCat(result, "...");
    const size_t length = SequenceLength(name.substr(i));
    const uint8_t c = static_cast<uint8_t>(name[i]);
    if (length > 1) {
      result.append(name.data() + i, length);
      i += length;
      continue;
    }
    if (length == 0 || c < 0x20 || c == 0x7F) {
      result += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
    } else if (c == '\'' || c == '\\') {
      result += {'\\', static_cast<char>(c)};
    } else {
      result += static_cast<char>(c);
    }
    ++i;
  }
  return result;
}

std::string Quoted(absl::string_view name) { return absl::StrCat("'", Printable(name), "'"); }

std::string UnsupportedText(absl::string_view reason, absl::string_view supported) {
  return absl::StrCat(reason, "; supported: ", supported);
}

}  // namespace aot::import::onnx
