// The backends that compute: floats and doubles of the host. They always fuse MulAdd, as the AVX2 and Arm targets do.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace aot::math {

// No state; the backend concept is described in backend.h.
template <class Float>
struct BasicScalarBackend {
  static constexpr bool kDouble = std::is_same_v<Float, double>;
  using F = Float;
  using I = std::conditional_t<kDouble, int64_t, int32_t>;
  using U = std::make_unsigned_t<I>;
  using M = bool;

  F Constant(double value) { return static_cast<F>(value); }
  I ConstantInt(int64_t value) { return static_cast<I>(value); }

  F Add(F a, F b) { return a + b; }
  F Sub(F a, F b) { return a - b; }
  F Mul(F a, F b) { return a * b; }
  F Div(F a, F b) { return a / b; }
  F MulAdd(F a, F b, F c) { return std::fma(a, b, c); }
  F Neg(F a) { return -a; }
  F Abs(F a) { return std::fabs(a); }
  F Sqrt(F a) { return std::sqrt(a); }
  F Round(F a) { return std::nearbyint(a); }

  // Unsigned arithmetic wraps without undefined behaviour.
  I AddInt(I a, I b) { return static_cast<I>(static_cast<U>(a) + static_cast<U>(b)); }
  I SubInt(I a, I b) { return static_cast<I>(static_cast<U>(a) - static_cast<U>(b)); }
  I MulInt(I a, I b) { return static_cast<I>(static_cast<U>(a) * static_cast<U>(b)); }
  I AndInt(I a, I b) { return a & b; }
  I OrInt(I a, I b) { return a | b; }
  I XorInt(I a, I b) { return a ^ b; }
  I ShlInt(I a, int count) { return static_cast<I>(static_cast<U>(a) << count); }
  I ShrInt(I a, int count) { return a >> count; }
  I ShrLogical(I a, int count) { return static_cast<I>(static_cast<U>(a) >> count); }

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
  template <class Function>
  std::array<F, 2> IfAny(M m, Function function) {
    return m ? function() : std::array<F, 2>{};
  }

  BasicScalarBackend<double> Wide() { return {}; }
  double Extend(F a) { return a; }
  F Truncate(double a) { return static_cast<F>(a); }
};

using ScalarBackend = BasicScalarBackend<float>;
using DoubleScalarBackend = BasicScalarBackend<double>;

}  // namespace aot::math
