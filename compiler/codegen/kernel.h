// One kernel: a fused group in, an object file out.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/NnDialect.h"
#include "compiler/schedule/kernel_plan.h"
#include "compiler/target/target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace aot::codegen {

// Makes a module with one function `symbol` that computes the group: arguments are one flat memref for each operand,
// then one for each result, then scratch (if the plan has any). UNIMPLEMENTED names the operation that has no emission.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> BuildKernel(nn::GroupOp group, const schedule::KernelPlan& plan,
                                                              llvm::StringRef symbol,
                                                              const target::Description& target);

// Registers what BuildKernel and LowerToObject need.
void LoadCodegenDialects(mlir::MLIRContext& context);

}  // namespace aot::codegen
