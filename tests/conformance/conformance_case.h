// One case of ONNX's suite: a model compiled for the shapes of its data sets, run by the runtime, and compared.
#pragma once

#include <string>

#include "compiler/pipeline.h"
#include "tests/conformance/case_result.h"

namespace aot::tests {

// `directory` holds model.onnx and test_data_set_*. `options` gives target and optimisation level; the shapes come from
// the data sets. Never fails: what went wrong is in the result, whose name stays empty. Compiles and runs in the
// calling process, so run it in a worker.
CaseResult RunCase(const std::string& directory, const compiler::Options& options);

}  // namespace aot::tests
