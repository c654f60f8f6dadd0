// Which models of a directory a run takes.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace aot::tests {

struct Selection {
  std::vector<std::string> only;  // names; empty: all
  int smallest = 0;               // then only so many with the smallest model.onnx; 0: all
};

// The directories DIR/NAME that hold a model.onnx: in the order of `only`, else by name. NOT_FOUND: the directory has
// no model, or not one of the names asked for; the message lists those that are there.
absl::StatusOr<std::vector<std::string>> SelectModels(const std::string& directory, const Selection& selection);

}  // namespace aot::tests
