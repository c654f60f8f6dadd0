// Plain, slow, obviously right semantics of every operation of the nn dialect (compiler/ir/NnOps.td), without MLIR.
// Constant folding, self-test vectors, `aotctl verify` and tests use it.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/reference/tensor.h"

namespace aot::reference {

// I64Attr -> int64_t, F32Attr -> double, BoolAttr and UnitAttr -> bool, StrAttr -> string, DenseI64ArrayAttr and
// DenseF32ArrayAttr -> vectors. An attribute that is absent (UnitAttr) is missing from the map.
using Attribute = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>>;
using Attributes = std::map<std::string, Attribute>;

// One operation: the name is that of the nn operation without its prefix ("conv"). Optional operands that are absent
// are null pointers in the operand list, at the position that NnOps.td gives them.
struct Operation {
  std::string name;
  Attributes attributes;
  std::vector<TensorType> results;
};

// INVALID_ARGUMENT if operands and attributes don't fit the operation, UNIMPLEMENTED if the operation or one of its
// types has no reference, RESOURCE_EXHAUSTED if a result exceeds 4 GiB. Thread-safe: no state.
absl::StatusOr<std::vector<Tensor>> Evaluate(const Operation& operation, absl::Span<const Tensor* const> operands);

// Whether Evaluate knows the operation's name.
bool IsKnown(absl::string_view name);

}  // namespace aot::reference
