#include "compiler/graph/op_classes.h"

#include "llvm/ADT/STLExtras.h"

namespace aot::graph {

using llvm::isa;

OpClass Classify(mlir::Operation* op) {
  if (isa<nn::ConstantOp>(op)) return OpClass::kConstant;
  if (isa<nn::ReshapeOp>(op)) return OpClass::kReshape;
  if (op->hasTrait<nn::Elementwise>() || isa<nn::QuantizeOp, nn::DequantizeOp>(op)) return OpClass::kElementwise;
  if (isa<nn::PadOp>(op)) return OpClass::kPad;
  if (isa<nn::ConcatOp>(op)) return OpClass::kConcat;
  if (isa<nn::TransposeOp, nn::BroadcastOp, nn::SliceOp, nn::GatherOp, nn::GatherElementsOp, nn::GatherNdOp,
          nn::OneHotOp, nn::ResizeOp>(op))
    return OpClass::kMap;
  if (isa<nn::ArgMaxOp, nn::ArgMinOp, nn::CumSumOp, nn::ScatterElementsOp, nn::ScatterNdOp, nn::TopKOp, nn::LstmOp,
          nn::GruOp, nn::RnnOp, nn::BitcastOp, nn::NonZeroOp, nn::UniqueOp, nn::NonMaxSuppressionOp, nn::PackOp>(op))
    return OpClass::kAlone;
  if (isa<nn::GroupOp>(op) || op->hasTrait<mlir::OpTrait::IsTerminator>()) return OpClass::kOther;
  return OpClass::kAnchor;
}

bool AcceptsPrologue(mlir::Operation* anchor) {
  return isa<nn::ReduceSumOp, nn::ReduceMeanOp, nn::ReduceProdOp, nn::ReduceMaxOp, nn::ReduceMinOp, nn::SoftmaxOp,
             nn::LogSoftmaxOp, nn::HardmaxOp, nn::LayerNormOp, nn::RmsNormOp, nn::InstanceNormOp, nn::GroupNormOp>(
      anchor);
}

int64_t InputPasses(mlir::Operation* anchor) {
  return isa<nn::ReduceSumOp, nn::ReduceMeanOp, nn::ReduceProdOp, nn::ReduceMaxOp, nn::ReduceMinOp>(anchor) ? 1 : 3;
}

bool IsCheap(mlir::Operation* op) {
  if (isa<nn::DivOp, nn::ModOp>(op)) return false;
  return isa<nn::AbsOp, nn::NegOp, nn::AddOp, nn::SubOp, nn::MulOp, nn::MinOp, nn::MaxOp, nn::ReluOp, nn::LeakyReluOp,
             nn::CastOp, nn::WhereOp, nn::EqualOp, nn::LessOp, nn::LessEqualOp, nn::GreaterOp, nn::GreaterEqualOp,
             nn::LogicalNotOp, nn::LogicalAndOp, nn::LogicalOrOp, nn::LogicalXorOp, nn::TransposeOp, nn::BroadcastOp,
             nn::SliceOp, nn::ReshapeOp, nn::DequantizeOp>(op);
}

bool MovesUnitDimensionsOnly(mlir::RankedTensorType from, mlir::RankedTensorType to) {
  auto without_units = [](mlir::RankedTensorType type) {
    llvm::SmallVector<int64_t> shape;
    llvm::copy_if(type.getShape(), std::back_inserter(shape), [](int64_t size) { return size != 1; });
    return shape;
  };
  return without_units(from) == without_units(to);
}

}  // namespace aot::graph
