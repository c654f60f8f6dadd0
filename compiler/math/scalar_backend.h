// The backend that computes: floats of the host. It always fuses MulAdd, as the AVX2 and Arm targets do.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace aot::math {

// No state; the backend concept is described in backend.h.
struct ScalarBackend {
  using F = float;
  using I = int32_t;
  using M = bool;

  F Constant(float value) { return value; }
  I ConstantInt(int32_t value) { return value; }

  F Add(F a, F b) { return a + b; }
  F Sub(F a, F b) { return a - b; }
  F Mul(F a, F b) { return a * b; }
  F Div(F a, F b) { return a / b; }
  F MulAdd(F a, F b, F c) { return std::fma(a, b, c); }
  F Neg(F a) { return -a; }
  F Abs(F a) { return std::fabs(a); }
  F Sqrt(F a) { return std::sqrt(a); }

  // Unsigned arithmetic wraps without undefined behaviour.
  I AddInt(I a, I b) { return static_cast<I>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)); }
  I SubInt(I a, I b) { return static_cast<I>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b)); }
  I MulInt(I a, I b) { return static_cast<I>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b)); }
  I AndInt(I a, I b) { return a & b; }
  I OrInt(I a, I b) { return a | b; }
  I XorInt(I a, I b) { return a ^ b; }
  I ShlInt(I a, int count) { return static_cast<I>(static_cast<uint32_t>(a) << count); }
  I ShrInt(I a, int count) { return a >> count; }
  I ShrLogical(I a, int count) { return static_cast<I>(static_cast<uint32_t>(a) >> count); }

  I Bits(F a) {
    I bits;
    std::memcpy(&bits, &a, sizeof bits);
    return bits;
  }
  F FromBits(I a) {
    F value;
    std::memcpy(&value, &a, sizeof value);
    return value;
  }
  I ToInt(F a) { return static_cast<I>(a); }
  F ToFloat(I a) { return static_cast<F>(a); }

  M Less(F a, F b) { return a < b; }
  M LessEqual(F a, F b) { return a <= b; }
  M Equal(F a, F b) { return a == b; }
  M Greater(F a, F b) { return a > b; }
  M IsNan(F a) { return a != a; }
  M LessInt(I a, I b) { return a < b; }
  M EqualInt(I a, I b) { return a == b; }
  M And(M a, M b) { return a && b; }
  M Or(M a, M b) { return a || b; }
  M Not(M a) { return !a; }
  F Select(M m, F a, F b) { return m ? a : b; }
  I SelectInt(M m, I a, I b) { return m ? a : b; }
};

}  // namespace aot::math
