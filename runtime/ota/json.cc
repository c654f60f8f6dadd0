#include "runtime/ota/json.h"

#include <algorithm>

namespace aot::ota {
namespace {

Status CheckUniqueKeys(const cJSON* node) {
  std::vector<std::string_view> keys;
  for (const cJSON* child = node->child; child != nullptr; child = child->next) {
    if (child->string != nullptr) keys.emplace_back(child->string);
    if (child->child != nullptr) AOT_OTA_RETURN_IF_ERROR(CheckUniqueKeys(child));
  }
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) return Status(Code::kMalformed, "key \"" + Printable(*twice) + "\" is there twice");
  return Status();
}

Status Missing(const char* name, const char* type) {
  return Status(Code::kMalformed, std::string("member \"") + name + "\" is missing or not " + type);
}

}  // namespace

Status ParseJson(std::string_view text, JsonTree* out, const JsonLimits& limits) {
  AOT_OTA_RETURN_IF_ERROR(ScanJson(text, limits));
  // Length-limited and without a terminator: text may point into a larger buffer.
  out->reset(cJSON_ParseWithLengthOpts(text.data(), text.size(), nullptr, 0));
  if (*out == nullptr) return Status(Code::kMalformed, "not JSON, or out of memory");
  return CheckUniqueKeys(out->get());
}

const cJSON* Find(const cJSON* object, const char* name) { return cJSON_GetObjectItemCaseSensitive(object, name); }

Status GetObject(const cJSON* object, const char* name, const cJSON** out) {
  *out = Find(object, name);
  return cJSON_IsObject(*out) ? Status() : Missing(name, "an object");
}

Status GetArray(const cJSON* object, const char* name, const cJSON** out) {
  *out = Find(object, name);
  return cJSON_IsArray(*out) ? Status() : Missing(name, "an array");
}

Status GetString(const cJSON* object, const char* name, std::string* out) {
  const cJSON* item = Find(object, name);
  if (!cJSON_IsString(item)) return Missing(name, "a string");
  *out = item->valuestring;
  return Status();
}

Status GetStrings(const cJSON* object, const char* name, std::vector<std::string>* out) {
  const cJSON* array = nullptr;
  AOT_OTA_RETURN_IF_ERROR(GetArray(object, name, &array));
  out->clear();
  for (const cJSON* item = array->child; item != nullptr; item = item->next) {
    if (!cJSON_IsString(item)) return Missing(name, "an array of strings");
    out->emplace_back(item->valuestring);
  }
  return Status();
}

Status GetBool(const cJSON* object, const char* name, bool* out) {
  const cJSON* item = Find(object, name);
  if (!cJSON_IsBool(item)) return Missing(name, "true or false");
  *out = cJSON_IsTrue(item) != 0;
  return Status();
}

Status GetInteger(const cJSON* object, const char* name, int64_t least, int64_t* out) {
  const cJSON* item = Find(object, name);
  if (!cJSON_IsNumber(item)) return Missing(name, "an integer");
  // ScanJson let pass only integers that a double holds exactly.
  *out = static_cast<int64_t>(item->valuedouble);
  if (*out < least)
    return Status(Code::kMalformed, std::string("member \"") + name + "\" is " + std::to_string(*out) +
                                        ", must be at least " + std::to_string(least));
  return Status();
}

Status GetDigest(const cJSON* object, const char* name, Digest* out) {
  std::string hex;
  AOT_OTA_RETURN_IF_ERROR(GetString(object, name, &hex));
  return ParseDigest(hex, out) ? Status() : Missing(name, "64 hexadecimal digits");
}

}  // namespace aot::ota
