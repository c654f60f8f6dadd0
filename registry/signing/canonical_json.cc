#include "registry/signing/canonical_json.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace aot::registry {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 64;

// Well-formed UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
bool IsUtf8(absl::string_view text) {
  size_t i = 0;
  auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  while (i < text.size()) {
    unsigned char lead = byte(i);
    size_t length = lead < 0x80                   ? 1
                    : lead >= 0xc2 && lead < 0xe0 ? 2
                    : lead >= 0xe0 && lead < 0xf0 ? 3
                    : lead >= 0xf0 && lead < 0xf5 ? 4
                                                  : 0;
    if (length == 0 || text.size() - i < length) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xc0) != 0x80) return false;
    }
    if (length > 2) {
      unsigned char second = byte(i + 1);
      if (lead == 0xe0 && second < 0xa0) return false;
      if (lead == 0xed && second > 0x9f) return false;
      if (lead == 0xf0 && second < 0x90) return false;
      if (lead == 0xf4 && second > 0x8f) return false;
    }
    i += length;
  }
  return true;
}

absl::Status AppendString(const std::string& text, std::string& out) {
  if (!IsUtf8(text)) return absl::InvalidArgumentError("canonical JSON: a string is not UTF-8");
  out.push_back('"');
  for (char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  out.push_back('"');
  return absl::OkStatus();
}

absl::Status Append(const Json& value, int depth, std::string& out) {
  if (depth > kMaxDepth) {
    return absl::InvalidArgumentError(absl::StrCat("canonical JSON: nested deeper than ", kMaxDepth));
  }
  switch (value.type()) {
    case Json::value_t::null:
      out += "null";
      return absl::OkStatus();
    case Json::value_t::boolean:
      out += value.get<bool>() ? "true" : "false";
      return absl::OkStatus();
    case Json::value_t::number_integer:
      absl::StrAppend(&out, value.get<int64_t>());
      return absl::OkStatus();
    case Json::value_t::number_unsigned:
      absl::StrAppend(&out, value.get<uint64_t>());
      return absl::OkStatus();
    case Json::value_t::string:
      return AppendString(value.get_ref<const std::string&>(), out);
    case Json::value_t::array: {
      out.push_back('[');
      bool first = true;
      for (const Json& element : value) {
        if (!first) out.push_back(',');
        first = false;
        if (absl::Status s = Append(element, depth + 1, out); !s.ok()) return s;
      }
      out.push_back(']');
      return absl::OkStatus();
    }
    case Json::value_t::object: {
      out.push_back('{');
      bool first = true;
      // nlohmann::json keeps members in a std::map, i.e. sorted by bytes, which is the order that is asked for.
      for (auto it = value.begin(); it != value.end(); ++it) {
        if (!first) out.push_back(',');
        first = false;
        if (absl::Status s = AppendString(it.key(), out); !s.ok()) return s;
        out.push_back(':');
        if (absl::Status s = Append(it.value(), depth + 1, out); !s.ok()) return s;
      }
      out.push_back('}');
      return absl::OkStatus();
    }
    case Json::value_t::number_float:
      return absl::InvalidArgumentError("canonical JSON has no floating-point numbers");
    case Json::value_t::binary:
    case Json::value_t::discarded:
      break;
  }
  return absl::InvalidArgumentError("canonical JSON: not a JSON value");
}

}  // namespace

absl::StatusOr<std::string> CanonicalJson(const Json& value) {
  std::string out;
  if (absl::Status s = Append(value, 0, out); !s.ok()) return s;
  return out;
}

}  // namespace aot::registry
