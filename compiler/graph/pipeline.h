// Stage 2 as a whole: the order of the graph passes.
#pragma once

#include "mlir/Pass/PassManager.h"

namespace aot::graph {

// Adds the passes that turn an imported function into reshapes and nn.group operations, to a pass manager on the
// module. opt_level 0: only what lowering needs (each operation in a group of its own); 3: all. strict_math: nothing
// that changes rounding.
void BuildGraphPipeline(mlir::OpPassManager& manager, int opt_level, bool strict_math);

// Makes the pipeline available to aot-opt as --nn-pipeline="opt-level=3 strict-math=0".
void RegisterGraphPipeline();

}  // namespace aot::graph
