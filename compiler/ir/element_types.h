// Which element types operations of the nn dialect take, beyond what their tensors may hold at all.
#pragma once

#include "absl/strings/string_view.h"

namespace aot::nn {

// Whether the operation (its name without the prefix) is defined on floats alone: its first operand has to be one. The
// importer refuses others by the node's name, code generation checks once more.
bool NeedsFloats(absl::string_view operation);

}  // namespace aot::nn
