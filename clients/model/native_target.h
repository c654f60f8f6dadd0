// `native`: a wish of the user's, resolved before anything is compiled. The compiler itself never looks at the host.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace aot::clients {

// `native` becomes the name of the target description that uses most of what this machine's processor offers; every
// other name stays. NOT_FOUND: no description fits this machine.
absl::StatusOr<std::string> ResolveTarget(absl::string_view name);

// Whether code for a known target runs on this machine as it is. False for an unknown name.
bool RunsHere(absl::string_view target);

}  // namespace aot::clients
