// Names from a model as they may appear in messages and locations.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace aot::import::onnx {

// Printable UTF-8 whatever the bytes are: control characters, quotes, backslashes and invalid UTF-8 are escaped, and
// names longer than 200 bytes end in "...".
std::string Printable(absl::string_view name);
// Printable, in single quotes.
std::string Quoted(absl::string_view name);

// The text of an error about something that is valid ONNX but not supported; `supported` says what would be.
std::string UnsupportedText(absl::string_view reason, absl::string_view supported);

}  // namespace aot::import::onnx
