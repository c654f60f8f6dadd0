// The objects that builtins.c becomes.
#pragma once

#include "absl/strings/string_view.h"

namespace aot::emit {

// An ELF object for the triple ("aarch64-linux-gnu"), or empty if there is none. Static storage.
absl::string_view EmbeddedBuiltins(absl::string_view triple);

}  // namespace aot::emit
