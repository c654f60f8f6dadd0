// Mistakes that are a matter of shapes alone.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace aot::import::onnx {

// INVALID_ARGUMENT: shapes contradict each other or an operator. Nodes that never run may do that with the sizes that
// were bound, so control flow tells it from other mistakes.
absl::Status ShapeError(absl::string_view message);
// Also of a ShapeError to which its place was added (graph_importer.cc).
bool IsShapeError(const absl::Status& status);

}  // namespace aot::import::onnx
