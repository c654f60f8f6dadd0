// Elementwise arithmetic of two operands with NumPy's broadcasting.
//
// Integers are computed in 64 bits and stored modulo their width. Division truncates, x / 0 = 0 and MIN / -1 = MIN; mod
// by 0 is 0.
#include <cmath>
#include <type_traits>

#include "compiler/math/exp_log.h"
#include "compiler/math/scalar_backend.h"
#include "compiler/reference/conversion.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"
#include "compiler/reference/zip.h"

namespace aot::reference {
namespace {

// Wrapping integer arithmetic; floats as they are.
template <class T>
using Modular = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;

template <class T>
T Divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return static_cast<T>(-static_cast<uint64_t>(a));
    }
    return a / b;
  }
}

// C's remainder: the sign of a.
template <class T>
T RemainderTruncated(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return a % b;
  }
}

// Python's remainder: the sign of b.
template <class T>
T RemainderFloored(T a, T b) {
  T r = RemainderTruncated(a, b);
  if constexpr (std::is_floating_point_v<T>) {
    if (r == 0) return std::copysign(r, b);
  }
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

template <class T>
T Minimum(T a, T b) {
  if (a != a) return a;
  return b < a || b != b ? b : a;
}
template <class T>
T Maximum(T a, T b) {
  if (a != a) return a;
  return b > a || b != b ? b : a;
}

// Exponentiation by squaring, wrapping; a negative exponent leaves only 1 and -1 different from 0.
template <class T>
T IntegerPower(T base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if constexpr (std::is_signed_v<T>) {
      if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    }
    return 0;
  }
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (uint64_t e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

template <class Function>
Results Arithmetic(Call& call, Function function) {
  BinaryOperands o = SameTypeOperands(call);
  call.RequireElement("the result", o.type.element, o.lhs.element());
  if (!call.ok()) return call.status();
  return WithComputeType(o.lhs.element(), [&](auto tag) -> Results {
    using T = decltype(tag);
    return OneResult(FromValues<T>(o.type, Zip<T, T, T>(o.lhs, o.rhs, o.type.shape, function)));
  });
}

Results Add(Call& call) {
  return Arithmetic(call, [](auto a, auto b) { return Modular<decltype(a)>(a) + Modular<decltype(a)>(b); });
}
Results Sub(Call& call) {
  return Arithmetic(call, [](auto a, auto b) { return Modular<decltype(a)>(a) - Modular<decltype(a)>(b); });
}
Results Mul(Call& call) {
  return Arithmetic(call, [](auto a, auto b) { return Modular<decltype(a)>(a) * Modular<decltype(a)>(b); });
}
Results Div(Call& call) {
  return Arithmetic(call, [](auto a, auto b) { return Divide(a, b); });
}
Results Min(Call& call) {
  return Arithmetic(call, [](auto a, auto b) { return Minimum(a, b); });
}
Results Max(Call& call) {
  return Arithmetic(call, [](auto a, auto b) { return Maximum(a, b); });
}
Results Prelu(Call& call) {
  return Arithmetic(call, [](auto a, auto b) {
    return a < 0 ? static_cast<decltype(a)>(Modular<decltype(a)>(a) * Modular<decltype(a)>(b)) : a;
  });
}
Results Mod(Call& call) {
  if (call.Flag("fmod")) return Arithmetic(call, [](auto a, auto b) { return RemainderTruncated(a, b); });
  return Arithmetic(call, [](auto a, auto b) { return RemainderFloored(a, b); });
}

template <class T>
T FloatPower(T a, T b) {
  math::BasicScalarBackend<T> backend;
  return math::Pow(backend, a, b);
}

template <class A, class B>
A Power(A a, B b, ElementType type) {
  if constexpr (std::is_floating_point_v<A>) {
    return FloatPower<A>(a, static_cast<A>(b));
  } else if constexpr (std::is_floating_point_v<B>) {
    return static_cast<A>(FloatToInteger(FloatPower(static_cast<double>(a), static_cast<double>(b)), type));
  } else {
    return IntegerPower<A>(a, static_cast<int64_t>(b));
  }
}

// In the type of the base; a float base converts an integral exponent, an integer base with a float exponent goes
// through double.
Results Pow(Call& call) {
  const Tensor &lhs = call.Operand(0, "lhs"), &rhs = call.Operand(1, "rhs");
  const TensorType& type = call.Result();
  call.RequireNumeric(lhs);
  call.RequireNumeric(rhs);
  call.RequireElement("the result", type.element, lhs.element());
  RequireBroadcast(call, lhs, rhs, type);
  if (!call.ok()) return call.status();
  return WithComputeType(lhs.element(), [&](auto base_tag) -> Results {
    using A = decltype(base_tag);
    return WithComputeType(rhs.element(), [&](auto exponent_tag) -> Results {
      using B = decltype(exponent_tag);
      return OneResult(FromValues<A>(
          type, Zip<A, A, B>(lhs, rhs, type.shape, [&](A a, B b) { return Power<A, B>(a, b, type.element); })));
    });
  });
}

constexpr Kernel kKernels[] = {
    {"add", Add}, {"sub", Sub}, {"mul", Mul}, {"div", Div},     {"pow", Pow},
    {"min", Min}, {"max", Max}, {"mod", Mod}, {"prelu", Prelu},
};

}  // namespace

absl::Span<const Kernel> BinaryKernels() { return kKernels; }

}  // namespace aot::reference
