// One model of the zoo: compiled for the shapes of its data sets, run, compared with the reference outputs.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "compiler/pipeline.h"
#include "tests/models/executor.h"
#include "tests/models/model_test_result.h"

namespace aot::tests {

struct ModelTestOptions {
  compiler::Options compile;  // dims and input shapes come from the data sets
  ExecutorFactory executor;   // where artifacts run
};

// `directory` holds model.onnx, meta.json and test_data_set_*. Never fails: what went wrong is in the result. Compiles
// and runs in the calling process; use RunIsolated around it.
ModelResult TestModel(const std::string& directory, const ModelTestOptions& options);

}  // namespace aot::tests
