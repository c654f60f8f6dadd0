// The two layouts of a value of rank 3 and more: as imported [N, C, spatial...], and channels last [N, spatial..., C].
#pragma once

#include "compiler/ir/NnDialect.h"
#include "llvm/ADT/SmallVector.h"

namespace aot::graph {

// perm of the transpose from the imported layout to channels last, and back.
llvm::SmallVector<int64_t> ToLast(int64_t rank);
llvm::SmallVector<int64_t> FromLast(int64_t rank);

// The type with its dimensions in the order of perm.
mlir::RankedTensorType Permuted(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> perm);

// Whether going to channels last moves no element in memory.
bool IsFreeToLast(llvm::ArrayRef<int64_t> shape);

// How an operation takes part in layout assignment.
enum class LayoutRole {
  kFixed,      // needs its operands, and gives its results, as imported
  kLast,       // becomes channels last: convolutions
  kEither,     // works in both
  kPooling,    // works in both, faster with channels last
  kTranspose,  // any perm: merges with the transposes around it
};
LayoutRole RoleOf(mlir::Operation* op);

// Whether this operand of an operation of role kLast, kEither or kPooling has the operation's own layout. The others
// are lower in rank or hold parameters.
bool HasOwnLayout(mlir::OpOperand& operand);

// Turns an operation of one of these roles into its channels-last form in place: attributes, result types, operands.
// `to_last` gives an operand of its own layout in channels last, as a value that dominates the operation; others are
// transposed before it. Results have other types afterwards: the caller rewires their uses.
void MakeChannelsLast(mlir::Operation* op, llvm::function_ref<mlir::Value(mlir::Value)> to_last);

}  // namespace aot::graph
