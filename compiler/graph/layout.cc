#include "compiler/graph/layout.h"

#include "compiler/graph/op_classes.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/Builders.h"

namespace aot::graph {
namespace {

using llvm::isa;
using llvm::SmallVector;
using mlir::Value;
using nn::TensorTypeOf;

int64_t ResultRank(mlir::Operation* op) { return TensorTypeOf(op->getResult(0)).getRank(); }

// The element order of a per-dimension list, for channels last.
SmallVector<int64_t> Reorder(llvm::ArrayRef<int64_t> values) {
  SmallVector<int64_t> result;
  for (int64_t p : ToLast(static_cast<int64_t>(values.size()))) result.push_back(values[p]);
  return result;
}

// Where dimension `axis` lies in channels last.
int64_t AxisInLast(int64_t axis, int64_t rank) { return FromLast(rank)[axis]; }

Value Transpose(mlir::Operation* user, Value value, llvm::ArrayRef<int64_t> perm) {
  mlir::OpBuilder builder(user);
  return nn::TransposeOp::create(builder, user->getLoc(), Permuted(TensorTypeOf(value), perm), value, perm);
}

// An operand of lower rank that broadcasts: its dimensions are the last ones, so the missing ones are added before it
// is transposed.
Value BroadcastOperandToLast(mlir::Operation* user, Value value, int64_t rank) {
  auto type = TensorTypeOf(value);
  if (type.getNumElements() == 1) return value;
  SmallVector<int64_t> shape(rank - type.getRank(), 1);
  llvm::append_range(shape, type.getShape());
  mlir::OpBuilder builder(user);
  Value full = nn::ReshapeOp::create(builder, user->getLoc(), type.clone(shape), value);
  return Transpose(user, full, ToLast(rank));
}

// Poolings and convolutions: filters go to the layout that NnOps.td gives for channels last.
void SetChannelsLast(mlir::Operation* op) {
  op->setAttr("channels_last", mlir::UnitAttr::get(op->getContext()));
  if (!isa<nn::ConvOp, nn::ConvTransposeOp>(op)) return;
  SmallVector<int64_t> perm;
  int64_t rank = TensorTypeOf(op->getOperand(1)).getRank();
  for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
  bool transposed = isa<nn::ConvTransposeOp>(op);
  perm.push_back(transposed ? 0 : 1);
  perm.push_back(transposed ? 1 : 0);
  op->setOperand(1, Transpose(op, op->getOperand(1), perm));
}

void ReorderAttribute(mlir::Operation* op, llvm::StringRef name) {
  auto values = op->getAttrOfType<mlir::DenseI64ArrayAttr>(name);
  op->setAttr(name, mlir::DenseI64ArrayAttr::get(op->getContext(), Reorder(values.asArrayRef())));
}

void ReorderResize(nn::ResizeOp op) {
  int64_t rank = ResultRank(op);
  SmallVector<float> scales, roi;
  for (int64_t p : ToLast(rank)) scales.push_back(op.getScales()[p]);
  if (static_cast<int64_t>(op.getRoi().size()) == 2 * rank) {
    for (int64_t half : {int64_t{0}, rank})
      for (int64_t p : ToLast(rank)) roi.push_back(op.getRoi()[half + p]);
  }
  op.setScales(scales);
  op.setRoi(roi);
}

}  // namespace

SmallVector<int64_t> ToLast(int64_t rank) {
  SmallVector<int64_t> perm = {0};
  for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}

SmallVector<int64_t> FromLast(int64_t rank) {
  SmallVector<int64_t> perm = {0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i) perm.push_back(i);
  return perm;
}

mlir::RankedTensorType Permuted(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> perm) {
  SmallVector<int64_t> shape;
  for (int64_t p : perm) shape.push_back(type.getDimSize(p));
  return type.clone(shape);
}

bool IsFreeToLast(llvm::ArrayRef<int64_t> shape) {
  return shape[1] == 1 || llvm::all_of(shape.drop_front(2), [](int64_t size) { return size == 1; });
}

LayoutRole RoleOf(mlir::Operation* op) {
  if (op->getNumResults() == 0) return LayoutRole::kFixed;
  if (isa<nn::TransposeOp>(op)) return LayoutRole::kTranspose;
  int64_t rank = ResultRank(op);
  if (rank < 3) return LayoutRole::kFixed;
  bool in_two_dimensions = rank <= 4, is_last = op->hasAttr("channels_last");
  if (isa<nn::ConvOp, nn::ConvTransposeOp>(op))
    return in_two_dimensions && !is_last ? LayoutRole::kLast : LayoutRole::kFixed;
  if (isa<nn::MaxPoolOp, nn::AvgPoolOp, nn::LpPoolOp>(op))
    return in_two_dimensions && !is_last ? LayoutRole::kPooling : LayoutRole::kFixed;
  if (isa<nn::BatchNormOp>(op)) return is_last ? LayoutRole::kFixed : LayoutRole::kEither;
  if (auto reshape = llvm::dyn_cast<nn::ReshapeOp>(op)) {
    // Reshapes among the spatial dimensions.
    auto from = TensorTypeOf(reshape.getInput()).getShape(), to = TensorTypeOf(reshape).getShape();
    return from.size() >= 3 && from.take_front(2) == to.take_front(2) ? LayoutRole::kEither : LayoutRole::kFixed;
  }
  if (IsElementwise(op) ||
      isa<nn::ConcatOp, nn::SliceOp, nn::PadOp, nn::BroadcastOp, nn::ReduceSumOp, nn::ReduceMeanOp, nn::ReduceProdOp,
          nn::ReduceMaxOp, nn::ReduceMinOp, nn::ArgMaxOp, nn::ArgMinOp, nn::CumSumOp, nn::SoftmaxOp, nn::LogSoftmaxOp,
          nn::HardmaxOp, nn::ResizeOp, nn::TopKOp>(op))
    return LayoutRole::kEither;
  return LayoutRole::kFixed;
}

bool HasOwnLayout(mlir::OpOperand& operand) {
  mlir::Operation* op = operand.getOwner();
  if (IsElementwise(op) || isa<nn::BroadcastOp>(op)) return TensorTypeOf(operand.get()).getRank() == ResultRank(op);
  return isa<nn::ConcatOp>(op) || operand.getOperandNumber() == 0;
}

void MakeChannelsLast(mlir::Operation* op, llvm::function_ref<Value(Value)> to_last) {
  int64_t rank = ResultRank(op);
  bool broadcasts = IsElementwise(op) || isa<nn::BroadcastOp>(op);
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    if (HasOwnLayout(operand)) {
      operand.set(to_last(operand.get()));
    } else if (broadcasts) {
      operand.set(BroadcastOperandToLast(op, operand.get(), rank));
    }
  }
  for (Value result : op->getResults()) result.setType(Permuted(TensorTypeOf(result), ToLast(rank)));

  if (isa<nn::ConvOp, nn::ConvTransposeOp, nn::MaxPoolOp, nn::AvgPoolOp, nn::LpPoolOp, nn::BatchNormOp>(op)) {
    SetChannelsLast(op);
  } else if (isa<nn::SliceOp>(op)) {
    ReorderAttribute(op, "starts");
    ReorderAttribute(op, "steps");
  } else if (isa<nn::PadOp>(op)) {
    ReorderAttribute(op, "begins");
  } else if (auto resize = llvm::dyn_cast<nn::ResizeOp>(op)) {
    ReorderResize(resize);
  } else if (auto axis = op->getAttrOfType<mlir::IntegerAttr>("axis")) {
    op->setAttr("axis", mlir::IntegerAttr::get(axis.getType(), AxisInLast(axis.getInt(), rank)));
  } else if (auto axes = op->getAttrOfType<mlir::DenseI64ArrayAttr>("axes")) {
    SmallVector<int64_t> moved;
    for (int64_t a : axes.asArrayRef()) moved.push_back(AxisInLast(a, rank));
    llvm::sort(moved);
    op->setAttr("axes", mlir::DenseI64ArrayAttr::get(op->getContext(), moved));
  }
}

}  // namespace aot::graph
