// A kernel's specification as text: what code generation needs and nothing else, so that equal groups have equal text
// and become one function, and each can be generated in a context of its own.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/NnDialect.h"
#include "compiler/schedule/kernel_plan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace aot::schedule {

struct KernelSpec {
  std::string text;
  KernelPlan plan;
  size_t results = 0;  // how many values it writes
};

KernelSpec MakeKernelSpec(nn::GroupOp group, llvm::ArrayRef<bool> is_constant, const target::Description& target);

// The group of a specification, parsed into `module`, and its plan (the same that MakeKernelSpec gave).
struct ParsedSpec {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  nn::GroupOp group;
  KernelPlan plan;
};
absl::StatusOr<ParsedSpec> ParseKernelSpec(llvm::StringRef text, mlir::MLIRContext& context,
                                           const target::Description& target);

}  // namespace aot::schedule
