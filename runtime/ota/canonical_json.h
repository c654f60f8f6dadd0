// Canonical JSON as OLPC defines it (http://wiki.laptop.org/go/Canonical_JSON): what TUF signatures and key ids are
// over.
#pragma once

#include <string>

#include <cjson/cJSON.h>

namespace aot::ota {

// Serialises a tree that ParseJson made: members sorted by the bytes of their UTF-8 keys, no white space, in strings
// only '"' and
// '\' escaped (every other character, control characters included, stands for itself), integers in decimal.
std::string CanonicalJson(const cJSON* value);

}  // namespace aot::ota
