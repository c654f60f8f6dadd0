// A strict check of JSON text before cJSON sees it. cJSON is lenient (it takes raw control characters and broken UTF-8,
// rounds large numbers, cuts strings at \u0000); each of these would make two readers of the same signed bytes see
// different things.
#pragma once

#include <cstddef>
#include <string_view>

#include "runtime/ota/metadata_limits.h"
#include "runtime/ota/status.h"

namespace aot::ota {

struct JsonLimits {
  int max_depth = kMaxMetadataDepth;       // of nested objects and arrays
  size_t max_values = kMaxMetadataValues;  // bounds the memory that the tree takes
};

// Fails with kMalformed, naming the offset, unless text is one RFC 8259 value of valid UTF-8 in which every number is
// an integer of at most 2^53 - 1 in magnitude (TUF metadata has no others) and no string contains U+0000; with kLimit
// when it is too deep or has too many values. Duplicate keys are found after parsing (json.h).
Status ScanJson(std::string_view text, const JsonLimits& limits);

}  // namespace aot::ota
