#include "compiler/codegen/resize_taps.h"

#include <algorithm>
#include <limits>

#include "compiler/reference/resize_taps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace aot::codegen {
ResizeTaps MakeResizeTaps(nn::ResizeOp op, size_t d) {
  size_t rank = nn::TensorTypeOf(op.getInput()).getRank();
  reference::ResizeAxis axis;
  axis.input = nn::TensorTypeOf(op.getInput()).getDimSize(d);
  axis.output = nn::TensorTypeOf(op.getResult()).getDimSize(d);
  axis.scale = op.getScales()[d];
  if (op.getRoi().size() == 2 * rank) {
    axis.roi_begin = op.getRoi()[d];
    axis.roi_end = op.getRoi()[d + rank];
  }
  axis.mode = reference::ParseResizeMode(op.getMode().str()).value_or(axis.mode);
  axis.coordinates = reference::ParseResizeCoordinates(op.getCoordinates().str()).value_or(axis.coordinates);
  axis.nearest = reference::ParseResizeNearest(op.getNearest().str()).value_or(axis.nearest);
  axis.cubic_coeff_a = op.getCubicCoeffA().convertToDouble();
  axis.exclude_outside = op.getExcludeOutside();
  axis.antialias = op.getAntialias();
  auto positions = reference::ResizeTaps(axis);

  ResizeTaps taps;
  for (const auto& position : positions) taps.count = std::max(taps.count, static_cast<int>(position.size()));
  for (auto& position : positions) {
    bool outside = position.empty();
    if (outside) position.push_back({0, 0});
    // Positions at the border have fewer taps: the last one is split, so that no element is multiplied by zero
    // (infinity times zero is NaN).
    while (static_cast<int>(position.size()) < taps.count) {
      position.back().weight /= 2;
      position.push_back(position.back());
    }
    for (const reference::ResizeTap& tap : position) {
      taps.indices.push_back(static_cast<int32_t>(tap.index));
      taps.weights.push_back(outside ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(tap.weight));
    }
  }
  return taps;
}

namespace {

Buffer MakeTable(Emitter& e, mlir::Type element, mlir::DenseElementsAttr values) {
  auto& builder = e.builder();
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<mlir::ModuleOp>();
  auto type = mlir::MemRefType::get({values.getNumElements()}, element);
  // One table a content.
  for (auto global : module.getOps<mlir::memref::GlobalOp>()) {
    if (global.getInitialValue() == mlir::Attribute(values) && global.getType() == type)
      return {mlir::memref::GetGlobalOp::create(builder, e.location(), type, global.getSymName()), element};
  }
  std::string name = "table_" + std::to_string(llvm::range_size(module.getOps<mlir::memref::GlobalOp>()));
  mlir::OpBuilder at_start = mlir::OpBuilder::atBlockBegin(module.getBody());
  mlir::memref::GlobalOp::create(at_start, e.location(), name, at_start.getStringAttr("private"), type, values,
                                 /*constant=*/true, at_start.getI64IntegerAttr(4));
  return {mlir::memref::GetGlobalOp::create(builder, e.location(), type, name), element};
}

}  // namespace

Buffer TableOf(Emitter& e, const std::vector<int32_t>& values) {
  mlir::Type i32 = e.builder().getI32Type();
  auto type = mlir::RankedTensorType::get({static_cast<int64_t>(values.size())}, i32);
  return MakeTable(e, i32, mlir::DenseElementsAttr::get(type, llvm::ArrayRef<int32_t>(values)));
}

Buffer TableOf(Emitter& e, const std::vector<float>& values) {
  mlir::Type f32 = e.builder().getF32Type();
  auto type = mlir::RankedTensorType::get({static_cast<int64_t>(values.size())}, f32);
  return MakeTable(e, f32, mlir::DenseElementsAttr::get(type, llvm::ArrayRef<float>(values)));
}

}  // namespace aot::codegen
