// Names that users choose and that become parts of URLs, file names and TUF target paths.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace aot::registry {

// Channels, published models and targets: 1 to 128 characters of [A-Za-z0-9._-], the first not a dot. So no name is a
// path, hidden, or "..". INVALID_ARGUMENT names `what` and the first character at fault.
absl::Status CheckName(absl::string_view what, absl::string_view name);

}  // namespace aot::registry
