// The self-test vector of an artifact: inputs that compiler and device make alike, and sampled outputs of reference/.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/emit/manifest_data.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace aot::compiler {

// `function` is the imported model before any pass: expected values never come from the code under test. nullopt if the
// model has more arithmetic than the reference does in a few seconds, tensors of a gigabyte, or types that can't be
// generated; such an artifact has no self-test.
absl::StatusOr<std::optional<emit::SelfTest>> MakeSelfTest(mlir::func::FuncOp function);

}  // namespace aot::compiler
