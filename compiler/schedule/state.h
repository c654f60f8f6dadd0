// States: an output that takes the place of an input, in one buffer with it. Arranges the steps such that no element of
// the old value is read after it was overwritten.
#pragma once

#include "compiler/ir/NnDialect.h"
#include "compiler/schedule/demand.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace aot::schedule {

// Numbers of the function's argument and result. Each occurs in one state at most; their types are equal.
struct State {
  unsigned input = 0, output = 0;
};

// On a group: pairs (operand, result) that are one buffer. Each element of the operand is read before that of the
// result is written, so that nothing but the kernel's view of its arguments changes.
inline constexpr char kInPlace[] = "aot.in_place";

// The value whose memory this one shares: reshapes and bit casts are free.
mlir::Value StorageOf(mlir::Value value);

// For each state, in this order of preference: the group that writes it runs after all that read the old value; or it
// is the last to read it, element by element or as the target of a scatter, and is marked kInPlace; or it writes to
// memory of its own, and a copy at the end of the run brings the value into the buffer. `function` is one of groups,
// whose results that aren't their state's input come from distinct groups' results. `conditional` is
// ConditionalGroups(function): reading a condition is reading, too.
void PlaceStates(mlir::func::FuncOp function, llvm::ArrayRef<State> states,
                 const llvm::DenseMap<mlir::Operation*, Demand>& conditional);

// A group before the end of `function` that copies `value`; its result.
mlir::Value AppendCopy(mlir::func::FuncOp function, mlir::Value value);

}  // namespace aot::schedule
