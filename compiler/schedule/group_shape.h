// Simplifies the shape of one group without changing what it computes: fewer dimensions mean longer inner loops and
// less index arithmetic.
#pragma once

#include "compiler/ir/NnDialect.h"

namespace aot::schedule {

// Merges neighbouring dimensions that all elementwise operations of the group treat alike, drops spatial dimensions of
// one element that a convolution only carries along, and turns a convolution with one tap into a matrix product over
// all pixels. Changes the types of the group's operands, body and results, which keep their elements in order. The
// group must be alone in a function whose arguments are its operands.
void SimplifyShapes(nn::GroupOp group);

}  // namespace aot::schedule
