#include "runtime/ota/json_scan.h"

#include <cstdint>
#include <string>

#include "runtime/ota/digest.h"

namespace aot::ota {
namespace {

constexpr uint64_t kMaxInteger = (uint64_t{1} << 53) - 1;

// Recursive descent over the text; recursion is bounded by JsonLimits::max_depth.
class Scanner {
 public:
  Scanner(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits) {}

  Status Run() {
    AOT_OTA_RETURN_IF_ERROR(Value(0));
    SkipSpace();
    if (pos_ != text_.size()) return Bad("nothing after the value");
    return Status();
  }

 private:
  Status Bad(const char* expected) const {
    return Status(Code::kMalformed, "not strict JSON at byte " + std::to_string(pos_) + ": expected " + expected);
  }

  void SkipSpace() {
    while (pos_ < text_.size() &&
           (text_[pos_] == ' ' || text_[pos_] == '\n' || text_[pos_] == '\r' || text_[pos_] == '\t'))
      ++pos_;
  }

  bool Take(char c) {
    if (pos_ >= text_.size() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }

  Status Literal(std::string_view word) {
    if (text_.substr(pos_, word.size()) != word) return Bad("true, false or null");
    pos_ += word.size();
    return Status();
  }

  Status Value(int depth) {
    if (depth > limits_.max_depth)
      return Status(Code::kLimit, "JSON nested deeper than " + std::to_string(limits_.max_depth));
    if (++values_ > limits_.max_values)
      return Status(Code::kLimit, "JSON of more than " + std::to_string(limits_.max_values) + " values");
    SkipSpace();
    if (pos_ >= text_.size()) return Bad("a value");
    switch (text_[pos_]) {
      case '{':
        return Object(depth);
      case '[':
        return Array(depth);
      case '"':
        return String();
      case 't':
        return Literal("true");
      case 'f':
        return Literal("false");
      case 'n':
        return Literal("null");
      default:
        return Integer();
    }
  }

  Status Object(int depth) {
    ++pos_;
    SkipSpace();
    if (Take('}')) return Status();
    do {
      SkipSpace();
      AOT_OTA_RETURN_IF_ERROR(String());
      SkipSpace();
      if (!Take(':')) return Bad("':'");
      AOT_OTA_RETURN_IF_ERROR(Value(depth + 1));
      SkipSpace();
    } while (Take(','));
    return Take('}') ? Status() : Bad("',' or '}'");
  }

  Status Array(int depth) {
    ++pos_;
    SkipSpace();
    if (Take(']')) return Status();
    do {
      AOT_OTA_RETURN_IF_ERROR(Value(depth + 1));
      SkipSpace();
    } while (Take(','));
    return Take(']') ? Status() : Bad("',' or ']'");
  }

  Status Integer() {
    Take('-');
    const size_t first = pos_;
    uint64_t value = 0;
    while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9') {
      value = value * 10 + static_cast<uint64_t>(text_[pos_] - '0');
      if (value > kMaxInteger) return Bad("an integer of at most 2^53 - 1");
      ++pos_;
    }
    if (pos_ == first) return Bad("a value");
    if (text_[first] == '0' && pos_ - first > 1) return Bad("a number without leading zeros");
    if (pos_ < text_.size() && (text_[pos_] == '.' || text_[pos_] == 'e' || text_[pos_] == 'E'))
      return Bad("an integer (metadata has no fractions or exponents)");
    return Status();
  }

  // Four hexadecimal digits behind "\u".
  bool CodeUnit(uint32_t* unit) {
    uint8_t bytes[2];
    if (!DecodeHex(text_.substr(pos_, 4), bytes, 2)) return false;
    pos_ += 4;
    *unit = static_cast<uint32_t>(bytes[0]) << 8 | bytes[1];
    return true;
  }

  Status Escape() {
    if (pos_ >= text_.size()) return Bad("an escape");
    const char c = text_[pos_++];
    if (std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos) return Status();
    uint32_t unit = 0;
    if (c != 'u' || !CodeUnit(&unit) || unit == 0) return Bad("an escape other than U+0000");
    if (unit >= 0xDC00 && unit <= 0xDFFF) return Bad("a high surrogate before a low one");
    if (unit >= 0xD800 && unit <= 0xDBFF) {
      if (!Take('\\') || !Take('u') || !CodeUnit(&unit) || unit < 0xDC00 || unit > 0xDFFF)
        return Bad("a low surrogate");
    }
    return Status();
  }

  // One character of more than one byte; refuses overlong forms, surrogates and what is past U+10FFFF (RFC 3629).
  Status Utf8(uint8_t lead) {
    const int extra = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    uint32_t point = lead & (0x3F >> extra);
    for (int i = 0; i < extra; ++i, ++pos_) {
      const uint8_t next = pos_ < text_.size() ? static_cast<uint8_t>(text_[pos_]) : 0;
      if ((next & 0xC0) != 0x80) return Bad("valid UTF-8");
      point = point << 6 | (next & 0x3F);
    }
    static constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (lead < 0xC2 || lead > 0xF4 || point < kLeast[extra] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF))
      return Bad("valid UTF-8");
    return Status();
  }

  Status String() {
    if (!Take('"')) return Bad("a string");
    while (pos_ < text_.size()) {
      const uint8_t c = static_cast<uint8_t>(text_[pos_++]);
      if (c == '"') return Status();
      if (c < 0x20) return Bad("no control character inside a string");
      if (c == '\\') AOT_OTA_RETURN_IF_ERROR(Escape());
      if (c >= 0x80) AOT_OTA_RETURN_IF_ERROR(Utf8(c));
    }
    return Bad("the end of the string");
  }

  std::string_view text_;
  JsonLimits limits_;
  size_t pos_ = 0;
  size_t values_ = 0;
};

}  // namespace

Status ScanJson(std::string_view text, const JsonLimits& limits) { return Scanner(text, limits).Run(); }

}  // namespace aot::ota
