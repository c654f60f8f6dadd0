#include "runtime/ota/canonical_json.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace aot::ota {
namespace {

void AppendString(std::string_view text, std::string* out) {
  out->push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') out->push_back('\\');
    out->push_back(c);
  }
  out->push_back('"');
}

void Append(const cJSON* value, std::string* out) {
  if (cJSON_IsObject(value)) {
    std::vector<const cJSON*> members;
    for (const cJSON* child = value->child; child != nullptr; child = child->next) members.push_back(child);
    // string_view compares as unsigned bytes, which for UTF-8 is the order of code points.
    std::sort(members.begin(), members.end(),
              [](const cJSON* a, const cJSON* b) { return std::string_view(a->string) < std::string_view(b->string); });
    out->push_back('{');
    for (size_t i = 0; i < members.size(); ++i) {
      if (i != 0) out->push_back(',');
      AppendString(members[i]->string, out);
      out->push_back(':');
      Append(members[i], out);
    }
    out->push_back('}');
  } else if (cJSON_IsArray(value)) {
    out->push_back('[');
    for (const cJSON* child = value->child; child != nullptr; child = child->next) {
      if (child != value->child) out->push_back(',');
      Append(child, out);
    }
    out->push_back(']');
  } else if (cJSON_IsString(value)) {
    AppendString(value->valuestring, out);
  } else if (cJSON_IsNumber(value)) {
    out->append(std::to_string(static_cast<int64_t>(value->valuedouble)));
  } else if (cJSON_IsBool(value)) {
    out->append(cJSON_IsTrue(value) ? "true" : "false");
  } else {
    out->append("null");
  }
}

}  // namespace

std::string CanonicalJson(const cJSON* value) {
  std::string out;
  Append(value, &out);
  return out;
}

}  // namespace aot::ota
