// Canonical JSON as the OLPC project defined it and TUF uses it: the one byte sequence that is signed.
// http://wiki.laptop.org/go/Canonical_JSON
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace aot::registry {

// Members sorted by the bytes of their names, no white space, in strings only `"` and `\` escaped (with `\`), integers
// in decimal. INVALID_ARGUMENT for what it has no form for: floating-point numbers, strings that aren't UTF-8, nesting
// deeper than 64.
absl::StatusOr<std::string> CanonicalJson(const nlohmann::json& value);

}  // namespace aot::registry
