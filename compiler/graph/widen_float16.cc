// nn-widen-float16: arithmetic on float16 and bfloat16 happens in float32, and so do the values between operations.
//
// Code generation computes these types in float32 in any case (no x86-64 level and few Arm cores do otherwise), so
// rounding each value to 16 bits in between costs time and accuracy. Weights, inputs, outputs and explicit conversions
// keep their type; products read 16-bit weights as they are.
#include "compiler/graph/passes.h"

namespace aot::graph {

#define GEN_PASS_DEF_WIDENFLOAT16
#include "compiler/graph/Passes.h.inc"

namespace {

using mlir::RankedTensorType;
using mlir::Value;

bool IsNarrow(Value value) {
  auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
  return type && (type.getElementType().isF16() || type.getElementType().isBF16());
}

Value Cast(mlir::OpBuilder& builder, mlir::Location location, Value value, mlir::Type element) {
  auto type = nn::TensorTypeOf(value).clone(element);
  return nn::CastOp::create(builder, location, type, value, /*saturate=*/true);
}

// Operations that only move elements keep 16 bits as long as what they move has them.
bool OnlyMoves(mlir::Operation* op) {
  return op->hasTrait<nn::DataMovement>() ||
         llvm::isa<nn::GatherOp, nn::GatherElementsOp, nn::GatherNdOp, nn::OneHotOp, nn::ConstantOp, nn::CastOp>(op);
}

struct WidenFloat16 : impl::WidenFloat16Base<WidenFloat16> {
  using WidenFloat16Base::WidenFloat16Base;

  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    mlir::Type f32 = mlir::Float32Type::get(&getContext());
    mlir::Operation* terminator = function.getBody().front().getTerminator();
    llvm::SmallVector<mlir::Type> results(terminator->getOperandTypes());
    for (mlir::Operation& op : function.getBody().front().without_terminator()) {
      if (llvm::isa<nn::CastOp, nn::ConstantOp>(op)) continue;
      bool narrow = llvm::any_of(op.getOperands(), IsNarrow) || llvm::any_of(op.getResults(), IsNarrow);
      bool wide = llvm::any_of(op.getOperands(), [&](Value v) { return widened_.contains(v); });
      if (llvm::isa<nn::BitcastOp>(op)) {
        // It is about the narrow form, so that comes back.
        mlir::OpBuilder builder(&op);
        if (wide) op.setOperand(0, Cast(builder, op.getLoc(), op.getOperand(0), widened_[op.getOperand(0)]));
        continue;
      }
      if (!narrow || (OnlyMoves(&op) && !wide)) continue;
      mlir::OpBuilder builder(&op);
      bool product = llvm::isa<nn::ConvOp, nn::ConvTransposeOp, nn::MatMulOp>(op);
      for (mlir::OpOperand& operand : op.getOpOperands()) {
        if (!IsNarrow(operand.get()) || (product && operand.get().getDefiningOp<nn::ConstantOp>())) continue;
        operand.set(Widened(builder, operand.get(), f32));
      }
      for (Value result : op.getResults()) {
        if (!IsNarrow(result)) continue;
        widened_[result] = nn::TensorTypeOf(result).getElementType();
        result.setType(nn::TensorTypeOf(result).clone(f32));
      }
    }
    // Results of the function keep their types.
    mlir::OpBuilder builder(terminator);
    for (auto [operand, type] : llvm::zip(terminator->getOpOperands(), results)) {
      if (operand.get().getType() != type)
        operand.set(
            Cast(builder, terminator->getLoc(), operand.get(), llvm::cast<RankedTensorType>(type).getElementType()));
    }
  }

  // One conversion for all users of a value.
  Value Widened(mlir::OpBuilder& builder, Value value, mlir::Type f32) {
    Value& wide = casts_[value];
    if (!wide) {
      wide = Cast(builder, value.getLoc(), value, f32);
      widened_[wide] = nn::TensorTypeOf(value).getElementType();
    }
    return wide;
  }

  llvm::DenseMap<Value, mlir::Type> widened_;  // to the element type before
  llvm::DenseMap<Value, Value> casts_;
};

}  // namespace
}  // namespace aot::graph
