// The 8- and 4-bit floats, which no target computes with: conversions of their bit patterns to and from f32,
// branch-free and with the results of reference/float_formats.
#pragma once

#include "compiler/codegen/emitter.h"

namespace aot::codegen {

// Floats that lie in memory as bytes: float8 in all its forms and float4.
bool IsNarrowFloat(mlir::Type element);

// i8 patterns to f32, exactly.
Value DecodeNarrowFloat(Emitter& e, Value bits, mlir::Type element, int lanes);

// f32 to i8 patterns, to the nearest and ties to even (float8e8m0: up). What lies beyond the format becomes its largest
// value if `saturate`, else infinity or NaN, whichever the format has.
Value EncodeNarrowFloat(Emitter& e, Value value, mlir::Type element, bool saturate, int lanes);

// A double as a float that rounds to the same float of fewer than 23 bits: what is between two floats becomes the one
// whose last bit is set (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
// rounding to odd", 2008).
Value RoundToOdd(Emitter& e, Value value, int lanes);

}  // namespace aot::codegen
