// The values of --bind-input.
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "compiler/reference/tensor.h"

namespace aot::clients {

// Reads "NAME=@FILE", where the file states its tensor's type (.npy or .pb). INVALID_ARGUMENT: the text has another
// form, or the file is no such tensor; errors of reading the file pass through.
absl::StatusOr<std::pair<std::string, reference::Tensor>> ReadBoundInput(const std::string& text);

}  // namespace aot::clients
