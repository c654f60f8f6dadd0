// The version of the product, as the server reports it.
#pragma once

#include "absl/strings/string_view.h"

namespace aot::server {

inline constexpr absl::string_view kServerVersion = "0.1.0";

}  // namespace aot::server
