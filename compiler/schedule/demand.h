// Which steps are only needed where a condition holds: what feeds one side of an nn.where whose condition is a single
// truth value, as run-time Ifs become. The entry function skips the others.
#pragma once

#include <optional>

#include "compiler/ir/NnDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace aot::schedule {

// The value of `condition` (one i1 at function level) under which something is needed.
struct Demand {
  mlir::Value condition;
  bool wanted = true;
  bool operator==(const Demand& other) const { return condition == other.condition && wanted == other.wanted; }
};

// For a function of groups, reshapes and constants: the groups that are needed under one condition alone. Groups that
// always run are not in it. Skipping a group leaves its results undefined; only sides of nn.where that aren't taken
// read them.
llvm::DenseMap<mlir::Operation*, Demand> ConditionalGroups(mlir::func::FuncOp function);

}  // namespace aot::schedule
