// Parsing untrusted JSON into cJSON trees, and reading members with errors that name them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cjson/cJSON.h>

#include "runtime/ota/digest.h"
#include "runtime/ota/json_scan.h"
#include "runtime/ota/status.h"

namespace aot::ota {

struct JsonDelete {
  void operator()(cJSON* tree) const { cJSON_Delete(tree); }
};
using JsonTree = std::unique_ptr<cJSON, JsonDelete>;

// Parses text after ScanJson, and refuses objects with two equal keys.
Status ParseJson(std::string_view text, JsonTree* out, const JsonLimits& limits = {});

// Members of an object. A missing member or one of another type is kMalformed, by name. Strings point into the tree.
Status GetObject(const cJSON* object, const char* name, const cJSON** out);
Status GetArray(const cJSON* object, const char* name, const cJSON** out);
Status GetString(const cJSON* object, const char* name, std::string* out);
Status GetStrings(const cJSON* object, const char* name, std::vector<std::string>* out);
Status GetBool(const cJSON* object, const char* name, bool* out);
// An integer in [least, 2^53 - 1].
Status GetInteger(const cJSON* object, const char* name, int64_t least, int64_t* out);
// A SHA-256 in hexadecimal.
Status GetDigest(const cJSON* object, const char* name, Digest* out);
// nullptr where the object has no such member.
const cJSON* Find(const cJSON* object, const char* name);

}  // namespace aot::ota
