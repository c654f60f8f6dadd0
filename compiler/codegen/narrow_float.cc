#include "compiler/codegen/narrow_float.h"

#include <cmath>
#include <limits>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace aot::codegen {
namespace arith = mlir::arith;
namespace {

using IntPredicate = arith::CmpIPredicate;

constexpr int kMantissaBits = 23, kBias = 127;  // of f32
constexpr int64_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;

// How the topmost patterns of a format are used; as in reference/float_formats.cc.
enum class Specials : uint8_t { kIeee, kOneNan, kMinusZero, kNone };

struct Format {
  int exponent_bits, mantissa_bits, bias;
  Specials specials;

  int64_t sign() const { return int64_t{1} << (exponent_bits + mantissa_bits); }
  int64_t largest() const {
    if (specials == Specials::kIeee) return sign() - 1 - (int64_t{1} << mantissa_bits);
    return specials == Specials::kOneNan ? sign() - 2 : sign() - 1;
  }
  int64_t nan() const {
    if (specials == Specials::kIeee) return largest() + 1 + (int64_t{1} << (mantissa_bits - 1));
    return specials == Specials::kOneNan ? sign() - 1 : sign();
  }
};

Format FormatOf(mlir::Type element) {
  if (llvm::isa<mlir::Float8E4M3FNType>(element)) return {4, 3, 7, Specials::kOneNan};
  if (llvm::isa<mlir::Float8E4M3FNUZType>(element)) return {4, 3, 8, Specials::kMinusZero};
  if (llvm::isa<mlir::Float8E5M2Type>(element)) return {5, 2, 15, Specials::kIeee};
  if (llvm::isa<mlir::Float8E5M2FNUZType>(element)) return {5, 2, 16, Specials::kMinusZero};
  return {2, 1, 1, Specials::kNone};  // float4e2m1
}

bool IsScale(mlir::Type element) { return llvm::isa<mlir::Float8E8M0FNUType>(element); }

// Arithmetic on i32 lanes.
class Bits {
 public:
  Bits(Emitter& e, int lanes) : e_(e), lanes_(lanes) {
    i32_ = e.builder().getI32Type();
    f32_ = e.builder().getF32Type();
  }

  Value C(int64_t value) { return e_.IntConstant(i32_, value, lanes_); }
  Value F(double value) { return e_.FloatConstant(f32_, value, lanes_); }
  Value OfFloat(Value value) { return Make<arith::BitcastOp>(e_.VectorOf(i32_, lanes_), value); }
  Value ToFloat(Value bits) { return Make<arith::BitcastOp>(e_.VectorOf(f32_, lanes_), bits); }
  Value Widen(Value byte) { return Make<arith::ExtUIOp>(e_.VectorOf(i32_, lanes_), byte); }
  Value ToByte(Value bits) { return Make<arith::TruncIOp>(e_.VectorOf(e_.builder().getI8Type(), lanes_), bits); }
  Value And(Value a, Value b) { return Make<arith::AndIOp>(a, b); }
  Value Or(Value a, Value b) { return Make<arith::OrIOp>(a, b); }
  Value Add(Value a, Value b) { return Make<arith::AddIOp>(a, b); }
  Value Sub(Value a, Value b) { return Make<arith::SubIOp>(a, b); }
  Value Left(Value a, int64_t by) { return Make<arith::ShLIOp>(a, C(by)); }
  Value Right(Value a, int64_t by) { return Make<arith::ShRUIOp>(a, C(by)); }
  Value Equal(Value a, int64_t b) { return Make<arith::CmpIOp>(IntPredicate::eq, a, C(b)); }
  Value Above(Value a, int64_t b) { return Make<arith::CmpIOp>(IntPredicate::sgt, a, C(b)); }
  Value Select(Value condition, Value a, Value b) { return Make<arith::SelectOp>(condition, a, b); }
  Value AddFloats(Value a, Value b) { return Make<arith::AddFOp>(a, b); }
  Value MulFloats(Value a, Value b) { return Make<arith::MulFOp>(a, b); }

 private:
  template <typename Op, typename... Args>
  Value Make(Args... args) {
    return Op::create(e_.builder(), e_.location(), args...);
  }

  Emitter& e_;
  int lanes_;
  mlir::Type i32_, f32_;
};

// 2^(pattern - 127); 255 is NaN. The pattern is f32's exponent, but for 0, whose power f32 has as a subnormal.
Value DecodeScale(Bits b, Value bits) {
  Value value = b.Select(b.Equal(bits, 0), b.C(int64_t{1} << (kMantissaBits - 1)), b.Left(bits, kMantissaBits));
  return b.ToFloat(b.Select(b.Equal(bits, 255), b.C(kInfinity | 1 << (kMantissaBits - 1)), value));
}

// Up to the next power of two. Negative numbers, NaN and, unless it saturates, what is beyond 2^127 become NaN.
Value EncodeScale(Bits b, Value bits, bool saturate) {
  Value magnitude = b.And(bits, b.C(kMagnitude)), exponent = b.Right(magnitude, kMantissaBits);
  Value inexact = b.Above(b.And(magnitude, b.C((int64_t{1} << kMantissaBits) - 1)), 0);
  Value normal = b.Add(exponent, b.Select(inexact, b.C(1), b.C(0)));
  Value subnormal = b.Select(b.Above(magnitude, int64_t{1} << (kMantissaBits - 1)), b.C(1), b.C(0));
  Value pattern = b.Select(b.Equal(exponent, 0), subnormal, normal);
  pattern = b.Select(b.Above(pattern, 254), b.C(saturate ? 254 : 255), pattern);
  Value negative = b.Equal(b.Right(bits, 31), 1);
  Value zero = b.Equal(magnitude, 0);
  pattern = b.Select(negative, b.Select(zero, b.C(0), b.C(255)), pattern);
  return b.Select(b.Above(magnitude, kInfinity), b.C(255), pattern);
}

}  // namespace

bool IsNarrowFloat(mlir::Type element) {
  return llvm::isa<mlir::FloatType>(element) && element.getIntOrFloatBitWidth() <= 8;
}

Value RoundToOdd(Emitter& e, Value value, int lanes) {
  Bits b(e, lanes);
  auto& builder = e.builder();
  mlir::Location at = e.location();
  Value nearest = arith::TruncFOp::create(builder, at, e.VectorOf(builder.getF32Type(), lanes), value);
  Value back = arith::ExtFOp::create(builder, at, value.getType(), nearest);
  auto magnitude = [&](Value x) -> Value { return mlir::math::AbsFOp::create(builder, at, x); };
  auto compare = [&](arith::CmpFPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpFOp::create(builder, at, predicate, x, y);
  };
  // An inexact even float has moved: its odd neighbour lies on the other side of the value. False of NaN.
  Value bits = b.OfFloat(nearest);
  Value inexact = compare(arith::CmpFPredicate::ONE, back, value);
  Value moved = arith::AndIOp::create(builder, at, inexact, b.Equal(b.And(bits, b.C(1)), 0));
  Value outward = compare(arith::CmpFPredicate::OGT, magnitude(back), magnitude(value));
  Value odd = b.Select(outward, b.Sub(bits, b.C(1)), b.Add(bits, b.C(1)));
  return b.ToFloat(b.Select(moved, odd, bits));
}

Value DecodeNarrowFloat(Emitter& e, Value bits, mlir::Type element, int lanes) {
  Bits b(e, lanes);
  bits = b.Widen(bits);
  if (IsScale(element)) return DecodeScale(b, bits);
  Format f = FormatOf(element);
  Value magnitude = b.And(bits, b.C(f.sign() - 1));
  // The fields at their places in f32, under the wrong bias: one exact multiplication puts that right, for subnormals
  // too.
  Value scaled =
      b.MulFloats(b.ToFloat(b.Left(magnitude, kMantissaBits - f.mantissa_bits)), b.F(std::ldexp(1.0, kBias - f.bias)));
  Value nan = b.C(kInfinity | 1 << (kMantissaBits - 1));
  Value value = b.OfFloat(scaled);
  if (f.specials == Specials::kIeee) {
    value = b.Select(b.Above(magnitude, f.largest()),
                     b.Select(b.Equal(magnitude, f.largest() + 1), b.C(kInfinity), nan), value);
  } else if (f.specials == Specials::kOneNan) {
    value = b.Select(b.Equal(magnitude, f.nan()), nan, value);
  }
  value = b.Or(value, b.Left(b.And(bits, b.C(f.sign())), 31 - f.exponent_bits - f.mantissa_bits));
  if (f.specials == Specials::kMinusZero) value = b.Select(b.Equal(b.And(bits, b.C(255)), f.nan()), nan, value);
  return b.ToFloat(value);
}

Value EncodeNarrowFloat(Emitter& e, Value value, mlir::Type element, bool saturate, int lanes) {
  Bits b(e, lanes);
  Value bits = b.OfFloat(value);
  if (IsScale(element)) return b.ToByte(EncodeScale(b, bits, saturate));
  Format f = FormatOf(element);
  Value magnitude = b.And(bits, b.C(kMagnitude));
  // Normal results: round to even in place, then move the exponent to the format's bias. A carry runs into the exponent
  // as it must.
  int shift = kMantissaBits - f.mantissa_bits;
  Value odd = b.And(b.Right(magnitude, shift), b.C(1));
  Value rounded = b.Right(b.Add(b.Add(magnitude, odd), b.C((int64_t{1} << (shift - 1)) - 1)), shift);
  Value normal = b.Sub(rounded, b.C(static_cast<int64_t>(kBias - f.bias) << f.mantissa_bits));
  // Subnormal results: adding a number whose last place is the format's smallest step rounds to steps.
  int least = 1 - f.bias;  // exponent of the smallest normal number
  Value step = b.F(std::ldexp(1.0, least - f.mantissa_bits + kMantissaBits));
  Value steps = b.Sub(b.OfFloat(b.AddFloats(b.ToFloat(magnitude), step)), b.OfFloat(step));
  int64_t smallest_normal = static_cast<int64_t>(least + kBias) << kMantissaBits;
  Value pattern = b.Select(b.Above(magnitude, smallest_normal - 1), normal, steps);

  Value sign = b.And(b.Right(bits, 31 - f.exponent_bits - f.mantissa_bits), b.C(f.sign()));
  Value beyond = b.Above(pattern, f.largest());
  if (saturate || f.specials == Specials::kNone) {
    pattern = b.Select(beyond, b.C(f.largest()), pattern);
  } else if (f.specials != Specials::kMinusZero) {
    pattern = b.Select(beyond, b.C(f.largest() + 1), pattern);  // infinity, or the only NaN
  }
  Value result = b.Or(pattern, sign);
  if (f.specials == Specials::kMinusZero) {
    result = b.Select(b.Equal(pattern, 0), b.C(0), result);  // there is no minus zero
    if (!saturate) result = b.Select(beyond, b.C(f.nan()), result);
  }
  return b.ToByte(b.Select(b.Above(magnitude, kInfinity), b.C(f.nan()), result));
}

}  // namespace aot::codegen
