// Starting a program and waiting for it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace aot::tests {

// Runs arguments[0] (looked up in PATH) with its stdout and stderr taken together. NOT_FOUND: it can't be started.
// ABORTED: it was killed, or its exit status isn't 0; the message has the end of what it wrote.
absl::StatusOr<std::string> RunCommand(const std::vector<std::string>& arguments);

}  // namespace aot::tests
