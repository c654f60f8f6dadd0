// The nn dialect (NnOps.td): operations, traits and small queries on their types.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace aot::nn {

// Marks operations that apply one scalar function to each element, with NumPy broadcasting.
template <typename ConcreteType>
class Elementwise : public mlir::OpTrait::TraitBase<ConcreteType, Elementwise> {};

// Marks operations that only move elements.
template <typename ConcreteType>
class DataMovement : public mlir::OpTrait::TraitBase<ConcreteType, DataMovement> {};

// NumPy's broadcast of two shapes, or failure if they don't fit.
mlir::FailureOr<llvm::SmallVector<int64_t>> BroadcastShapes(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);

// Builds an nn.constant of a dense attribute; `values` has one entry (splat) or one for each element.
mlir::Value MakeConstant(mlir::OpBuilder& builder, mlir::Location location, mlir::RankedTensorType type,
                         llvm::ArrayRef<double> values);

inline mlir::RankedTensorType TensorTypeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

// The attribute of a value made by nn.constant, or null.
mlir::ElementsAttr ConstantValue(mlir::Value value);

}  // namespace aot::nn

#include "compiler/ir/NnDialect.h.inc"

#define GET_OP_CLASSES
#include "compiler/ir/NnOps.h.inc"
