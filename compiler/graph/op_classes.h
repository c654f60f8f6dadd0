// How fusion and code generation see each operation of the nn dialect.
#pragma once

#include <cstdint>

#include "compiler/ir/NnDialect.h"

namespace aot::graph {

enum class OpClass {
  kConstant,     // nn.constant
  kReshape,      // nn.reshape: an alias at function level
  kElementwise,  // one scalar function of the operands' elements
  kMap,          // any element of the result can be computed alone, from few elements of the operands
  kPad,          // a map that must test whether an index is inside
  kConcat,       // operands written one after the other
  kAnchor,       // loops over more than the result: products, pools, reductions, normalisations
  kAlone,        // never shares a group
  kOther,        // terminators and nn.group
};

OpClass Classify(mlir::Operation* op);

inline bool IsElementwise(mlir::Operation* op) { return Classify(op) == OpClass::kElementwise; }

// Anchors whose input may be computed on the fly by elementwise operations: reductions, softmax and normalisations.
bool AcceptsPrologue(mlir::Operation* anchor);

// How often code for the anchor reads each element of its input: 1 for reductions, 3 for softmax and normalisations.
int64_t InputPasses(mlir::Operation* anchor);

// A few machine instructions an element, so that computing it again costs less than storing and loading it.
bool IsCheap(mlir::Operation* op);

// A reshape that only adds or removes dimensions of size 1.
bool MovesUnitDimensionsOnly(mlir::RankedTensorType from, mlir::RankedTensorType to);

}  // namespace aot::graph
