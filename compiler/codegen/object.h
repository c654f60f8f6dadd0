// From kernel functions in MLIR, and from LLVM IR, to object files.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "compiler/target/target.h"
#include "llvm/IR/Module.h"
#include "mlir/IR/BuiltinOps.h"

namespace aot::codegen {

// Lowers a module of arith, scf, vector and memref functions and emits an ELF object. Thread-safe with one MLIR context
// a thread.
absl::StatusOr<std::string> LowerToObject(mlir::ModuleOp module, const target::Description& target);

// Emits an LLVM module that is complete but for triple and data layout.
absl::StatusOr<std::string> EmitObject(llvm::Module& module, const target::Description& target);

// Registers the backends; called by the functions above.
void InitializeBackends();

}  // namespace aot::codegen
