#include "compiler/graph/group_verifier.h"

#include "compiler/graph/op_classes.h"
#include "llvm/ADT/STLExtras.h"

namespace aot::graph {
namespace {

using mlir::failure;
using mlir::LogicalResult;
using mlir::success;
using mlir::Value;
using nn::TensorTypeOf;

bool IsFromInput(Value value) {
  mlir::Operation* op = value.getDefiningOp();
  return !op || llvm::isa<nn::ConstantOp>(op);
}

bool IsUsedInGroup(mlir::Operation* op) {
  return llvm::any_of(op->getUsers(), [](mlir::Operation* user) { return !llvm::isa<nn::YieldOp>(user); });
}

LogicalResult VerifyInputs(nn::GroupOp group) {
  int next = 0;
  for (mlir::Operation& op : group.getBody().front()) {
    for (Value operand : op.getOperands()) {
      auto argument = llvm::dyn_cast<mlir::BlockArgument>(operand);
      if (!argument || static_cast<int>(argument.getArgNumber()) < next) continue;
      if (static_cast<int>(argument.getArgNumber()) > next) return op.emitOpError("uses group inputs out of order");
      ++next;
    }
  }
  if (next != static_cast<int>(group.getInputs().size())) return group.emitOpError("has an input without use");
  return success();
}

LogicalResult VerifyOperation(mlir::Operation& op, bool is_single) {
  switch (Classify(&op)) {
    case OpClass::kConstant: {
      auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(llvm::cast<nn::ConstantOp>(op).getValue());
      if (!dense || !dense.isSplat()) return op.emitOpError("is no immediate");
      return success();
    }
    case OpClass::kReshape:
      if (IsFromInput(op.getOperand(0)) || !IsUsedInGroup(&op)) return op.emitOpError("must stand between operations");
      if (!MovesUnitDimensionsOnly(TensorTypeOf(op.getOperand(0)), TensorTypeOf(op.getResult(0))))
        return op.emitOpError("in a group must not reorder");
      return success();
    case OpClass::kConcat:
      return IsUsedInGroup(&op) ? op.emitOpError("must come last") : success();
    case OpClass::kPad:
      if (IsUsedInGroup(&op) && !IsFromInput(op.getOperand(0))) return op.emitOpError("must come first or last");
      return success();
    case OpClass::kMap:
      if (llvm::isa<nn::ResizeOp>(op) && !IsFromInput(op.getOperand(0)))
        return op.emitOpError("must read a group input");
      return success();
    case OpClass::kAlone:
      return is_single ? success() : op.emitOpError("must be alone in its group");
    default:
      return success();
  }
}

bool IsSideOperation(mlir::Operation& op, int64_t limit) {
  bool is_index_arithmetic =
      IsElementwise(&op) || llvm::isa<nn::TransposeOp, nn::BroadcastOp, nn::SliceOp, nn::ReshapeOp>(op);
  return is_index_arithmetic &&
         llvm::all_of(op.getOperands(), [&](Value operand) { return TensorTypeOf(operand).getNumElements() <= limit; });
}

LogicalResult VerifyAroundAnchor(nn::GroupOp group, mlir::Operation* anchor) {
  auto shape = TensorTypeOf(anchor->getResult(0)).getShape();
  for (Value result : group.getResults())
    if (TensorTypeOf(result).getShape() != shape)
      return group.emitOpError("has a result of another shape than its anchor's");
  for (mlir::OpOperand& operand : anchor->getOpOperands())
    if (!llvm::isa<mlir::BlockArgument>(operand.get()) && (operand.getOperandNumber() != 0 || !AcceptsPrologue(anchor)))
      return anchor->emitOpError("must read group inputs");

  // What the anchor reads, directly or not.
  llvm::DenseSet<mlir::Operation*> prologue, epilogue = {anchor};
  for (mlir::Operation& op : llvm::reverse(group.getBody().front()))
    if (llvm::any_of(op.getUsers(), [&](mlir::Operation* user) { return user == anchor || prologue.contains(user); }))
      prologue.insert(&op);
  for (mlir::Operation& op : group.getBody().front()) {
    OpClass op_class = Classify(&op);
    if (&op == anchor || op_class == OpClass::kConstant || op_class == OpClass::kOther) continue;
    if (op_class == OpClass::kAnchor) return op.emitOpError("is a second anchor");
    bool follows = llvm::any_of(op.getOperands(), [&](Value v) { return epilogue.contains(v.getDefiningOp()); });
    if (prologue.contains(&op)) {
      if (!IsElementwise(&op) || follows) return op.emitOpError("can't be a prologue");
    } else if (follows) {
      if (!IsElementwise(&op) || TensorTypeOf(op.getResult(0)).getShape() != shape)
        return op.emitOpError("can't be an epilogue");
      epilogue.insert(&op);
    } else if (!IsSideOperation(op, TensorTypeOf(anchor->getResult(0)).getNumElements())) {
      return op.emitOpError("can't be an operand of an epilogue");
    }
  }
  return success();
}

LogicalResult VerifyGroup(nn::GroupOp group) {
  if (failed(VerifyInputs(group))) return failure();
  mlir::Operation* anchor = nullptr;
  int operations = 0;
  for (mlir::Operation& op : group.getBody().front().without_terminator()) {
    OpClass op_class = Classify(&op);
    if (op_class != OpClass::kConstant) ++operations;
    if (op_class == OpClass::kAnchor && !anchor) anchor = &op;
  }
  for (mlir::Operation& op : group.getBody().front())
    if (failed(VerifyOperation(op, operations == 1))) return failure();
  if (anchor) return VerifyAroundAnchor(group, anchor);
  mlir::Operation* last = group.getBody().front().getTerminator()->getPrevNode();
  for (Value yielded : group.getBody().front().getTerminator()->getOperands())
    if (yielded.getDefiningOp() != last)
      return group.emitOpError("without an anchor must give its last operation's result");
  return success();
}

}  // namespace

LogicalResult VerifyGroups(mlir::func::FuncOp function) {
  for (mlir::Block& block : function.getBody()) {
    for (mlir::Operation& op : block) {
      if (auto group = llvm::dyn_cast<nn::GroupOp>(op)) {
        if (failed(VerifyGroup(group))) return failure();
      } else if (!llvm::isa<nn::ConstantOp, nn::ReshapeOp, nn::BitcastOp>(op) &&
                 !op.hasTrait<mlir::OpTrait::IsTerminator>()) {
        return op.emitOpError("is outside any group");
      }
    }
  }
  return success();
}

}  // namespace aot::graph
