// Remainders of floats, exact like C's fmod.
#pragma once

#include "compiler/codegen/emitter.h"

namespace aot::codegen {

// a - n b for the integer n that leaves the sign of a (C's fmod) or, `floored`, of b. Both are f32 or both f64, of
// `lanes` lanes. The remainder itself is never rounded; only adding b to it for the other sign is. b = 0, infinite a
// and NaN give NaN.
Value EmitRemainder(Emitter& e, Value a, Value b, bool floored, int lanes);

}  // namespace aot::codegen
