#include "compiler/schedule/demand.h"

namespace aot::schedule {
namespace {

// When a value is needed: never, under one condition, or always (a null condition).
using Need = std::optional<Demand>;
using Needs = llvm::DenseMap<mlir::Value, Need>;

void Join(Needs& needs, mlir::Value value, const Need& need) {
  if (!need) return;
  Need& known = needs[value];
  if (!known) {
    known = need;
  } else if (!(*known == *need)) {
    known = Demand();
  }
}

Need NeedOf(const Needs& needs, mlir::ValueRange values) {
  Needs joined;
  for (mlir::Value value : values) Join(joined, values.front(), needs.lookup(value));
  return values.empty() ? Need() : joined.lookup(values.front());
}

// Spreads the needs of a group's results to its inputs.
void Visit(nn::GroupOp group, Needs& outer) {
  mlir::Block& body = group.getBody().front();
  Needs inner;
  for (auto [value, result] : llvm::zip(body.getTerminator()->getOperands(), group.getResults()))
    Join(inner, value, outer.lookup(result));
  for (mlir::Operation& op : llvm::reverse(body.without_terminator())) {
    const Need need = NeedOf(inner, op.getResults());
    auto where = llvm::dyn_cast<nn::WhereOp>(op);
    auto condition = where ? llvm::dyn_cast<mlir::BlockArgument>(where.getCondition()) : mlir::BlockArgument();
    // An outer condition stays: it skips more.
    const bool splits = condition && need && !need->condition && nn::TensorTypeOf(condition).getNumElements() == 1;
    for (mlir::OpOperand& operand : op.getOpOperands()) {
      Need of_operand = need;
      if (splits && operand.getOperandNumber() > 0)
        of_operand = Demand{group.getInputs()[condition.getArgNumber()], operand.getOperandNumber() == 1};
      Join(inner, operand.get(), of_operand);
    }
  }
  for (auto [input, argument] : llvm::zip(group.getInputs(), body.getArguments()))
    Join(outer, input, inner.lookup(argument));
}

}  // namespace

llvm::DenseMap<mlir::Operation*, Demand> ConditionalGroups(mlir::func::FuncOp function) {
  llvm::DenseMap<mlir::Operation*, Demand> conditional;
  Needs needs;
  mlir::Block& block = function.getBody().front();
  for (mlir::Value output : block.getTerminator()->getOperands()) Join(needs, output, Demand());
  for (mlir::Operation& op : llvm::reverse(block.without_terminator())) {
    const Need need = NeedOf(needs, op.getResults());
    if (auto group = llvm::dyn_cast<nn::GroupOp>(op)) {
      if (need && need->condition) conditional[group] = *need;
      Visit(group, needs);
    } else {
      for (mlir::Value operand : op.getOperands()) Join(needs, operand, need);
    }
  }
  return conditional;
}

}  // namespace aot::schedule
