// Static types for the inputs of the main graph.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/onnx/proto_reader.h"
#include "compiler/pipeline.h"

namespace aot::import::onnx {

// The inputs that aren't initialisers, in the graph's order, with every dimension bound by the model itself,
// options.dims or options.input_shapes. A symbol that an input shape binds is bound for all inputs.
absl::StatusOr<std::vector<compiler::ValueInfo>> BindInputs(const GraphProto& graph, const compiler::Options& options);

}  // namespace aot::import::onnx
