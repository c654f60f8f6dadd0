// The patterns of nn-canonicalize by kind.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace aot::graph {

// Transposes, reshapes, slices, pads and broadcasts that cancel, merge or go into their neighbours. All exact.
void PopulateMovePatterns(mlir::RewritePatternSet& patterns);

// Identities of arithmetic. strict_math leaves out those that change the rounding of floating-point numbers.
void PopulateArithmeticPatterns(mlir::RewritePatternSet& patterns, bool strict_math);

}  // namespace aot::graph
