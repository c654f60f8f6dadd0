// What nn-fuse promises to scheduling and code generation, as a check for tests.
#pragma once

#include "compiler/ir/NnDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace aot::graph {

// Reports, as an error at the operation, the first violation of:
//  1. A function holds nn.constant, nn.reshape, nn.group and its return, nothing else.
//  2. A group's inputs are in the order of first use and each is used. Constants inside are splat attributes and no
//  operands of an
//     anchor, or of an operation that stands alone in its group: those read inputs.
//  3. A group has at most one anchor. All results of a group with an anchor have the anchor's result shape. Its other
//  operations are
//     elementwise and feed the anchor's first operand (the prologue: only before reductions, softmax and
//     normalisations), or follow the anchor in its result's shape (the epilogue), or compute another operand of the
//     epilogue from inputs: elementwise, transpose, broadcast, slice or reshape over tensors with no more elements than
//     the result.
//  4. A group without an anchor has one result, that of its last operation.
//  5. arg_*, cumsum, scatter_* and topk are alone in their group.
//  6. concat is the last operation of its group. pad is the last, or reads a group input. resize reads a group input.
//  7. A reshape in a group stands between two operations of it and adds or removes dimensions of size 1 only.
mlir::LogicalResult VerifyGroups(mlir::func::FuncOp function);

}  // namespace aot::graph
