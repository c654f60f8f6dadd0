// Passes on func.func in the nn dialect. Each keeps the function's meaning; Passes.td says what each does.
#pragma once

#include <memory>

#include "compiler/ir/NnDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace aot::graph {

#define GEN_PASS_DECL
#include "compiler/graph/Passes.h.inc"

// Adds every pass to MLIR's registry, for aot-opt and textual pipelines.
#define GEN_PASS_REGISTRATION
#include "compiler/graph/Passes.h.inc"

}  // namespace aot::graph
