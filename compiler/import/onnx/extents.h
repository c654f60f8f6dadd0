// Operators on values with dimensions whose sizes only run time knows (Value::extents).
//
// Such a value has the shape of the bounds; what lies beyond the sizes means nothing. An operator may take one if it
// keeps what lies beyond apart from the data; each of those has a rule here that says what sizes its results have. All
// others are refused, so that nothing beyond the sizes ever counts as data.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/onnx/node.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {

bool HasExtents(const std::vector<Value>& values);

// Runs the handler of a node with an input that has extents, and gives its results theirs. UNIMPLEMENTED if the
// operator, or what the node makes of it, would mix data with what lies beyond.
absl::StatusOr<Results> ImportWithExtents(Node& n, Handler handler);

// UNIMPLEMENTED if one of the values has extents; `what` says whose they are.
absl::Status RequireNoExtents(const std::vector<Value>& values, absl::string_view what);

}  // namespace aot::import::onnx
