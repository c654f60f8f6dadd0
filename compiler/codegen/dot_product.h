// Sums of products of 8-bit (or 16-bit) integers on the target's dot product instruction.
#pragma once

#include "compiler/codegen/emitter.h"

namespace aot::codegen {

// sums[i] + the products of the parts of lhs[i] and rhs[i], for vectors of 32-bit integers. The parts are what
// target::DotProduct says: four bytes (unsigned in lhs where the instruction has it so), or two 16-bit integers. Any
// number of lanes up to the native one that is a power of two. The target must have a dot product.
Value EmitDotProduct(Emitter& emitter, Value lhs, Value rhs, Value sums, int lanes);

// Whether the target multiplies pairs of 16-bit integers, which is quicker than a product of 32 bits.
bool HasShortMulAdd(Emitter& emitter);
// sums[i] + lhs[i] * rhs[i] on such a target, for 32-bit lanes whose values fit in 16 bits; of rhs the upper halves are
// zero (LowerHalves).
Value EmitShortMulAdd(Emitter& emitter, Value lhs, Value rhs, Value sums, int lanes);
Value LowerHalves(Emitter& emitter, Value words, int lanes);

// The 32-bit word at a byte position that need not be aligned, in every lane.
Value LoadWord(Emitter& emitter, const Buffer& bytes, Value position, int lanes);

// Each byte of each lane as the other signedness has it: plus or minus 128.
Value FlipSigns(Emitter& emitter, Value words, int lanes);

// 8-bit elements as 16-bit integers, without their zero point.
Value EmitCentred(Emitter& emitter, Value elements, mlir::Type from, int64_t zero_point, int lanes);

}  // namespace aot::codegen
