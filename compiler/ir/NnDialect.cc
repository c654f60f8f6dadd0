#include "compiler/ir/NnDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "compiler/ir/NnDialect.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/ir/NnOps.cpp.inc"

namespace aot::nn {

void NnDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/ir/NnOps.cpp.inc"
      >();
}

mlir::Operation* NnDialect::materializeConstant(mlir::OpBuilder& builder, mlir::Attribute value, mlir::Type type,
                                                mlir::Location loc) {
  auto elements = llvm::dyn_cast<mlir::ElementsAttr>(value);
  if (!elements || elements.getType() != type) return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

mlir::FailureOr<llvm::SmallVector<int64_t>> BroadcastShapes(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs) {
  size_t rank = std::max(lhs.size(), rhs.size());
  llvm::SmallVector<int64_t> shape(rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t a = i + lhs.size() < rank ? 1 : lhs[i + lhs.size() - rank];
    int64_t b = i + rhs.size() < rank ? 1 : rhs[i + rhs.size() - rank];
    if (a != b && a != 1 && b != 1) return mlir::failure();
    shape[i] = a == 1 ? b : a;
  }
  return shape;
}

mlir::Value MakeConstant(mlir::OpBuilder& builder, mlir::Location location, mlir::RankedTensorType type,
                         llvm::ArrayRef<double> values) {
  mlir::Type element = type.getElementType();
  llvm::SmallVector<mlir::Attribute> attributes;
  for (double value : values) {
    if (auto float_type = llvm::dyn_cast<mlir::FloatType>(element)) {
      attributes.push_back(mlir::FloatAttr::get(float_type, value));
    } else {
      attributes.push_back(mlir::IntegerAttr::get(
          element, llvm::APInt(element.getIntOrFloatBitWidth(), static_cast<uint64_t>(static_cast<int64_t>(value)),
                               /*isSigned=*/false, /*implicitTrunc=*/true)));
    }
  }
  return ConstantOp::create(builder, location, type, mlir::DenseElementsAttr::get(type, attributes));
}

mlir::ElementsAttr ConstantValue(mlir::Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? constant.getValue() : mlir::ElementsAttr();
}

}  // namespace aot::nn
