// Scaling and shifting the result channels of a convolution or matrix product by changing its constants.
#pragma once

#include <vector>

#include "compiler/ir/NnDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace aot::graph {

// The dimension of a product's result that its filter's columns make: 1 or the last one for convolutions, the last one
// for products of matrices. `op` is nn.conv, nn.conv_transpose or nn.matmul.
int64_t ChannelAxis(mlir::Operation* op);
int64_t ChannelCount(mlir::Operation* op);

// Whether ScaleProduct may work: one of the three operations, of floats, with a constant filter (a matrix for matmul)
// of 32 or 64 bits and no or a constant bias, whose result has one use.
bool CanScaleProduct(mlir::Operation* op);

// A product whose result is `op`'s times factors[c] plus offsets[c]; both have ChannelCount entries. Computed in double
// and rounded once. A matrix product has no bias: the offset is an nn.add after it (left out if all are 0). The caller
// replaces uses. Null, and nothing is changed, if a scaled constant would overflow or become subnormal.
mlir::Value ScaleProduct(mlir::PatternRewriter& rewriter, mlir::Operation* op, llvm::ArrayRef<double> factors,
                         llvm::ArrayRef<double> offsets);

// A convolution with offsets[c] added to its bias, else unchanged. `op` is nn.conv or nn.conv_transpose with no or a
// constant bias.
mlir::Value AddToBias(mlir::PatternRewriter& rewriter, mlir::Operation* op, llvm::ArrayRef<double> offsets);

}  // namespace aot::graph
