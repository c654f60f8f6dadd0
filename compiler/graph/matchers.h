// Small questions about values and constants that several passes ask.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/NnDialect.h"

namespace aot::graph {

inline bool IsConstant(mlir::Value value) { return static_cast<bool>(nn::ConstantValue(value)); }
inline bool HasFloatElements(mlir::Value value) {
  return llvm::isa<mlir::FloatType>(nn::TensorTypeOf(value).getElementType());
}

// The one value of all elements of a constant of floats or integers, if it is small or a splat attribute.
std::optional<double> SplatValue(mlir::Value value);
bool IsSplat(mlir::Value value, double expected);

// All elements of a constant of floats, converted; nullopt if the value is none.
std::optional<std::vector<double>> FloatElements(mlir::Value value);

// A constant like `like` but with these elements (rounded to its element type) in this shape.
mlir::Value MakeFloatConstant(mlir::OpBuilder& builder, mlir::Location location, mlir::Type element,
                              llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> elements);

// `value`, a constant of floats that broadcasts against a tensor of the given rank, as one factor for each of
// `channels` indices along `axis`; nullopt if it varies along another dimension.
std::optional<std::vector<double>> PerChannel(mlir::Value value, int64_t rank, int64_t axis, int64_t channels);

// Whether the sums of two constants' elements have about the elements' own magnitude. Where these cancel, two additions
// can't become one: the first rounds to the larger constant's last place, and x + 1.5 * 2^23 - 1.5 * 2^23 is how models
// write round(x).
bool KeepsMagnitude(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b);

}  // namespace aot::graph
