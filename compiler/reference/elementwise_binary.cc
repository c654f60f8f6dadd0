// Elementwise operations of two operands with NumPy's broadcasting, and where.
//
// Integers are computed in 64 bits and stored modulo their width. Division truncates, x / 0 = 0 and MIN / -1 = MIN; mod
// by 0 is 0.
#include <cmath>
#include <type_traits>

#include "compiler/math/exp_log.h"
#include "compiler/math/scalar_backend.h"
#include "compiler/reference/broadcast.h"
#include "compiler/reference/conversion.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"

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

// Applies function to the operands broadcast to `shape`, as values of A and B, giving values of R.
template <class R, class A, class B, class Function>
std::vector<R> Zip(const Tensor& lhs, const Tensor& rhs, const Shape& shape, Function function) {
  Values<A> a(lhs);
  Values<B> b(rhs);
  Strides a_strides = *BroadcastStrides(lhs.shape(), shape), b_strides = *BroadcastStrides(rhs.shape(), shape);
  std::vector<R> results(static_cast<size_t>(*ElementCount(shape)));
  if (results.empty()) return results;
  int64_t a_step = InnerStride(a_strides), b_step = InnerStride(b_strides);
  ForEachRow<2>(shape, {a_strides, b_strides}, [&](int64_t position, const auto& offsets, int64_t length) {
    R* out = results.data() + position;
    const A* x = a.data() + offsets[0];
    const B* y = b.data() + offsets[1];
    for (int64_t i = 0; i < length; ++i) out[i] = static_cast<R>(function(x[i * a_step], y[i * b_step]));
  });
  return results;
}

// That both operands broadcast to the result's shape, all of it.
void RequireBroadcast(Call& call, const Tensor& lhs, const Tensor& rhs, const TensorType& type) {
  std::optional<Shape> shape = BroadcastShape(lhs.shape(), rhs.shape());
  if (!call.Require(shape.has_value(), "operand shapes ", ToString(lhs.shape()), " and ", ToString(rhs.shape()),
                    " do not broadcast")) {
    return;
  }
  call.RequireShape("the result", type.shape, *shape);
}

struct Operands {
  const Tensor& lhs;
  const Tensor& rhs;
  const TensorType& type;
};
// Two numeric operands of one element type.
Operands SameTypeOperands(Call& call) {
  Operands operands{call.Operand(0, "lhs"), call.Operand(1, "rhs"), call.Result()};
  call.RequireNumeric(operands.lhs);
  call.RequireElement("operand 1 (rhs)", operands.rhs.element(), operands.lhs.element());
  RequireBroadcast(call, operands.lhs, operands.rhs, operands.type);
  return operands;
}

template <class Function>
Results Arithmetic(Call& call, Function function) {
  Operands o = SameTypeOperands(call);
  call.RequireElement("the result", o.type.element, o.lhs.element());
  if (!call.ok()) return call.status();
  return WithComputeType(o.lhs.element(), [&](auto tag) -> Results {
    using T = decltype(tag);
    return OneResult(FromValues<T>(o.type, Zip<T, T, T>(o.lhs, o.rhs, o.type.shape, function)));
  });
}

template <class Function>
Results Compare(Call& call, Function function) {
  Operands o = SameTypeOperands(call);
  call.RequireElement("the result", o.type.element, ElementType::kBool);
  if (!call.ok()) return call.status();
  return WithComputeType(o.lhs.element(), [&](auto tag) -> Results {
    using T = decltype(tag);
    return OneResult(FromValues<int64_t>(o.type, Zip<int64_t, T, T>(o.lhs, o.rhs, o.type.shape, function)));
  });
}

// Bits as 64-bit patterns; `accepts` says which element types the operation takes.
template <class Function>
Results OnBits(Call& call, bool (*accepts)(ElementType), Function function) {
  Operands o = SameTypeOperands(call);
  call.RequireSupported(accepts(o.lhs.element()), o.lhs.element());
  call.RequireElement("the result", o.type.element, o.lhs.element());
  if (!call.ok()) return call.status();
  return OneResult(
      FromValues<uint64_t>(o.type, Zip<uint64_t, uint64_t, uint64_t>(o.lhs, o.rhs, o.type.shape, function)));
}
bool IsBool(ElementType type) { return type == ElementType::kBool; }
bool IsInteger(ElementType type) { return IsSignedInteger(type) || IsUnsignedInteger(type); }

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
  if constexpr (std::is_same_v<T, float>) {
    math::ScalarBackend backend;
    return math::Pow(backend, a, b);
  } else {
    return std::pow(a, b);
  }
}

template <class A, class B>
A Power(A a, B b, ElementType type) {
  if constexpr (std::is_floating_point_v<A>) {
    return FloatPower<A>(a, static_cast<A>(b));
  } else if constexpr (std::is_floating_point_v<B>) {
    return static_cast<A>(FloatToInteger(std::pow(static_cast<double>(a), static_cast<double>(b)), type));
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

Results Equal(Call& call) {
  const Tensor &lhs = call.Operand(0, "lhs"), &rhs = call.Operand(1, "rhs");
  if (lhs.element() != ElementType::kString || rhs.element() != ElementType::kString) {
    return Compare(call, [](auto a, auto b) { return a == b; });
  }
  const TensorType& type = call.Result();
  call.RequireElement("the result", type.element, ElementType::kBool);
  RequireBroadcast(call, lhs, rhs, type);
  if (!call.ok()) return call.status();
  Tensor result(type);
  Strides a = *BroadcastStrides(lhs.shape(), type.shape), b = *BroadcastStrides(rhs.shape(), type.shape);
  ForEachRow<2>(type.shape, {a, b}, [&](int64_t position, const auto& offsets, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      const std::string& x = (*lhs.strings)[static_cast<size_t>(offsets[0] + i * InnerStride(a))];
      const std::string& y = (*rhs.strings)[static_cast<size_t>(offsets[1] + i * InnerStride(b))];
      result.SetInt(position + i, x == y);
    }
  });
  return OneResult(std::move(result));
}
Results Less(Call& call) {
  return Compare(call, [](auto a, auto b) { return a < b; });
}
Results LessEqual(Call& call) {
  return Compare(call, [](auto a, auto b) { return a <= b; });
}
Results Greater(Call& call) {
  return Compare(call, [](auto a, auto b) { return a > b; });
}
Results GreaterEqual(Call& call) {
  return Compare(call, [](auto a, auto b) { return a >= b; });
}

Results LogicalAnd(Call& call) {
  return OnBits(call, IsBool, [](uint64_t a, uint64_t b) { return a & b; });
}
Results LogicalOr(Call& call) {
  return OnBits(call, IsBool, [](uint64_t a, uint64_t b) { return a | b; });
}
Results LogicalXor(Call& call) {
  return OnBits(call, IsBool, [](uint64_t a, uint64_t b) { return a ^ b; });
}
Results BitwiseAnd(Call& call) {
  return OnBits(call, IsInteger, [](uint64_t a, uint64_t b) { return a & b; });
}
Results BitwiseOr(Call& call) {
  return OnBits(call, IsInteger, [](uint64_t a, uint64_t b) { return a | b; });
}
Results BitwiseXor(Call& call) {
  return OnBits(call, IsInteger, [](uint64_t a, uint64_t b) { return a ^ b; });
}
Results ShiftLeft(Call& call) {
  return OnBits(call, IsUnsignedInteger, [](uint64_t a, uint64_t b) { return b < 64 ? a << b : 0; });
}
Results ShiftRight(Call& call) {
  return OnBits(call, IsUnsignedInteger, [](uint64_t a, uint64_t b) { return b < 64 ? a >> b : 0; });
}

// Copies elements, so it takes every element type.
Results Where(Call& call) {
  const Tensor& condition = call.Operand(0, "condition");
  const Tensor &lhs = call.Operand(1, "lhs"), &rhs = call.Operand(2, "rhs");
  const TensorType& type = call.Result();
  call.RequireElement("operand 0 (condition)", condition.element(), ElementType::kBool);
  call.RequireElement("operand 2 (rhs)", rhs.element(), lhs.element());
  call.RequireElement("the result", type.element, lhs.element());
  std::optional<Shape> shape = BroadcastShape(lhs.shape(), rhs.shape());
  if (shape.has_value()) shape = BroadcastShape(condition.shape(), *shape);
  call.Require(shape.has_value(), "operand shapes ", ToString(condition.shape()), ", ", ToString(lhs.shape()), " and ",
               ToString(rhs.shape()), " do not broadcast");
  if (!call.ok()) return call.status();
  call.RequireShape("the result", type.shape, *shape);
  if (!call.ok()) return call.status();
  Tensor result(type);
  std::array<Strides, 3> strides = {*BroadcastStrides(condition.shape(), type.shape),
                                    *BroadcastStrides(lhs.shape(), type.shape),
                                    *BroadcastStrides(rhs.shape(), type.shape)};
  ForEachRow<3>(type.shape, strides, [&](int64_t position, const auto& offsets, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      size_t chosen = condition.bytes()[static_cast<size_t>(offsets[0] + i * InnerStride(strides[0]))] != 0 ? 1 : 2;
      CopyElements(chosen == 1 ? lhs : rhs, offsets[chosen] + i * InnerStride(strides[chosen]), result, position + i,
                   1);
    }
  });
  return OneResult(std::move(result));
}

constexpr Kernel kKernels[] = {
    {"add", Add},
    {"sub", Sub},
    {"mul", Mul},
    {"div", Div},
    {"pow", Pow},
    {"min", Min},
    {"max", Max},
    {"mod", Mod},
    {"prelu", Prelu},
    {"logical_and", LogicalAnd},
    {"logical_or", LogicalOr},
    {"logical_xor", LogicalXor},
    {"bitwise_and", BitwiseAnd},
    {"bitwise_or", BitwiseOr},
    {"bitwise_xor", BitwiseXor},
    {"shift_left", ShiftLeft},
    {"shift_right", ShiftRight},
    {"equal", Equal},
    {"less", Less},
    {"less_equal", LessEqual},
    {"greater", Greater},
    {"greater_equal", GreaterEqual},
    {"where", Where},
};

}  // namespace

absl::Span<const Kernel> BinaryKernels() { return kKernels; }

}  // namespace aot::reference
