// Scalar functions of the elementwise operations, on scalars or vectors.
#pragma once

#include "compiler/codegen/emitter.h"
#include "mlir/IR/Operation.h"

namespace aot::codegen {

// The operation applied to operands of the compute type and `lanes` lanes; null if it has no emission for its types.
Value EmitElementwise(Emitter& emitter, mlir::Operation* op, llvm::ArrayRef<Value> operands, int lanes);

// Conversion between element types, as nn.cast defines it.
Value EmitCast(Emitter& emitter, Value value, mlir::Type from, mlir::Type to, int lanes, bool saturate = true);

// The combining functions of reductions, in the compute type of `element`.
Value EmitMax(Emitter& emitter, Value a, Value b, mlir::Type element);
Value EmitMin(Emitter& emitter, Value a, Value b, mlir::Type element);
Value EmitAdd(Emitter& emitter, Value a, Value b);
Value EmitMul(Emitter& emitter, Value a, Value b);

// True for operations whose emission has tens of instructions: they are not worth evaluating twice.
bool IsExpensive(mlir::Operation* op);

}  // namespace aot::codegen
