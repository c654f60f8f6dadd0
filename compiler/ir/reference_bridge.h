// Between the nn dialect and reference/: the same operation, type or tensor on either side.
//
// reference/ knows nothing of MLIR, and an nn operation carries nothing that reference::Evaluate doesn't take, so the
// mapping is mechanical: the name without its prefix, the attributes by name, the operands in the order of NnOps.td.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/reference/evaluate.h"
#include "compiler/reference/tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace aot::nn {

// The tensor type in MLIR: signed integers are signless, unsigned ones unsigned, booleans i1. Null for strings and
// undefined types.
mlir::RankedTensorType ToMlirType(const reference::TensorType& type, mlir::MLIRContext* context);
// INVALID_ARGUMENT if it is no statically shaped tensor of a type that ONNX has.
absl::StatusOr<reference::TensorType> ToTensorType(mlir::Type type);

// The reference's description of any nn operation but nn.constant and the structural ones (group, yield).
reference::Operation ToReference(mlir::Operation* operation);
// The operands at the positions that NnOps.td gives them; null where an optional one is absent.
std::vector<mlir::Value> ReferenceOperands(mlir::Operation* operation);

// The elements of a constant. Bytes of resource blobs and of dense attributes are not copied: the tensor is valid while
// the context (and what its blobs point into) lives.
absl::StatusOr<reference::Tensor> ToTensor(mlir::ElementsAttr elements);
// A splat or dense attribute for small tensors, else a resource blob that shares the tensor's bytes and keeps their
// owner alive. The type must have a counterpart in MLIR.
mlir::ElementsAttr FromTensor(const reference::Tensor& tensor, mlir::MLIRContext* context);

// Runs a whole function of nn operations, one after the other, freeing values after their last use. nn.group runs its
// body. INVALID_ARGUMENT if the inputs don't have the types of the arguments; else the status of the operation that
// failed, with its location.
absl::StatusOr<std::vector<reference::Tensor>> Interpret(mlir::func::FuncOp function,
                                                         absl::Span<const reference::Tensor> inputs);

}  // namespace aot::nn
