// For tests: an ONNX model through the whole compiler, loaded by the runtime and run, with canaries around every
// buffer.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/pipeline.h"
#include "compiler/reference/tensor.h"

namespace aot::testing {

// Compiles for options.target, which this machine must run. Inputs, outputs and the arena end at pages without access:
// code that reads or writes beyond one of them ends the process, or INTERNAL says that a byte beside a buffer changed.
// INVALID_ARGUMENT if the inputs are not those of the model; else the status of the compile.
absl::StatusOr<std::vector<reference::Tensor>> CompileAndRun(const compiler::Model& model,
                                                             const compiler::Options& options,
                                                             const std::vector<reference::Tensor>& inputs);

// How far results are from what they should be: max |got - want| / max |want| over all float outputs. Infinity if a
// number of outputs, a type, a shape, an integer, a NaN or an infinity differs.
double Distance(const std::vector<reference::Tensor>& got, const std::vector<reference::Tensor>& want);

}  // namespace aot::testing
