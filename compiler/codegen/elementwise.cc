#include "compiler/codegen/elementwise.h"

#include "compiler/codegen/math_backend.h"
#include "compiler/codegen/remainder.h"
#include "compiler/ir/NnDialect.h"
#include "compiler/math/functions.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace aot::codegen {
namespace arith = mlir::arith;
namespace {

using Predicate = arith::CmpFPredicate;
using IntPredicate = arith::CmpIPredicate;

bool IsFloat(mlir::Type element) { return llvm::isa<mlir::FloatType>(element); }
bool IsUnsigned(mlir::Type element) {
  auto integer = llvm::dyn_cast<mlir::IntegerType>(element);
  return integer && (integer.isUnsigned() || integer.getWidth() == 1);
}

// Emission of one operation: its types and short names for arith operations.
struct Scalar {
  Emitter& e;
  int lanes;
  mlir::Type element;  // nn type of the operands
  mlir::Type compute;

  template <typename Op, typename... Args>
  Value Make(Args... args) {
    return Op::create(e.builder(), e.location(), args...);
  }
  Value Const(double value) {
    return IsFloat(compute) ? e.FloatConstant(compute, value, lanes)
                            : e.IntConstant(compute, static_cast<int64_t>(value), lanes);
  }
  Value Compare(Predicate float_predicate, IntPredicate signed_predicate, IntPredicate unsigned_predicate, Value a,
                Value b) {
    if (IsFloat(compute)) return Make<arith::CmpFOp>(float_predicate, a, b);
    return Make<arith::CmpIOp>(IsUnsigned(element) ? unsigned_predicate : signed_predicate, a, b);
  }
  Value Less(Value a, Value b) { return Compare(Predicate::OLT, IntPredicate::slt, IntPredicate::ult, a, b); }
  Value Equal(Value a, Value b) { return Compare(Predicate::OEQ, IntPredicate::eq, IntPredicate::eq, a, b); }
  Value Select(Value m, Value a, Value b) { return Make<arith::SelectOp>(m, a, b); }
  Value AllOnes() { return e.IntConstant(compute, -1, lanes); }

  // A function of compiler/math in the compute type.
  template <typename Function, typename... Values>
  Value Math(Function function, Values... values) {
    return EmitMath(e, compute, lanes, function, values...);
  }

  Value Div(Value a, Value b);
  Value Mod(Value a, Value b, bool fmod);
  Value IntPow(Value a, Value b);
  Value Shift(Value a, Value b, bool left);
};

// Integer division as nn.div defines it: x/0 = 0, MIN/-1 = MIN, and nothing traps.
Value Scalar::Div(Value a, Value b) {
  if (IsFloat(compute)) return Make<arith::DivFOp>(a, b);
  Value zero = Const(0), one = Const(1);
  Value by_zero = Make<arith::CmpIOp>(IntPredicate::eq, b, zero);
  if (IsUnsigned(element)) {
    Value quotient = Make<arith::DivUIOp>(a, Select(by_zero, one, b));
    return Select(by_zero, zero, quotient);
  }
  Value by_minus_one = Make<arith::CmpIOp>(IntPredicate::eq, b, AllOnes());
  Value safe = Select(Make<arith::OrIOp>(by_zero, by_minus_one), one, b);
  Value quotient = Make<arith::DivSIOp>(a, safe);
  quotient = Select(by_minus_one, Make<arith::SubIOp>(zero, a), quotient);
  return Select(by_zero, zero, quotient);
}

Value Scalar::Mod(Value a, Value b, bool fmod) {
  if (IsFloat(compute)) return EmitRemainder(e, a, b, /*floored=*/!fmod, lanes);
  Value zero = Const(0), one = Const(1);
  Value by_zero = Make<arith::CmpIOp>(IntPredicate::eq, b, zero);
  if (IsUnsigned(element)) {
    Value rest = Make<arith::RemUIOp>(a, Select(by_zero, one, b));
    return Select(by_zero, zero, rest);
  }
  Value by_minus_one = Make<arith::CmpIOp>(IntPredicate::eq, b, AllOnes());
  Value none = Make<arith::OrIOp>(by_zero, by_minus_one);
  Value rest = Make<arith::RemSIOp>(a, Select(none, one, b));
  if (!fmod) {
    // The sign of the divisor: add it where the signs differ.
    Value differs = Make<arith::CmpIOp>(IntPredicate::slt, Make<arith::XOrIOp>(rest, b), zero);
    Value nonzero = Make<arith::CmpIOp>(IntPredicate::ne, rest, zero);
    rest = Select(Make<arith::AndIOp>(differs, nonzero), Make<arith::AddIOp>(rest, b), rest);
  }
  return Select(none, zero, rest);
}

// Binary exponentiation over all bits of the exponent; negative exponents give 1/a truncated.
Value Scalar::IntPow(Value a, Value b) {
  Value result = Const(1), base = a, zero = Const(0), one = Const(1);
  int width = static_cast<int>(compute.getIntOrFloatBitWidth());
  for (int bit = 0; bit < width; ++bit) {
    Value has = Make<arith::AndIOp>(Make<arith::ShRUIOp>(b, Const(bit)), one);
    result = Select(Make<arith::CmpIOp>(IntPredicate::ne, has, zero), Make<arith::MulIOp>(result, base), result);
    base = Make<arith::MulIOp>(base, base);
  }
  if (IsUnsigned(element)) return result;
  Value negative = Make<arith::CmpIOp>(IntPredicate::slt, b, zero);
  Value odd = Make<arith::CmpIOp>(IntPredicate::ne, Make<arith::AndIOp>(b, one), zero);
  Value inverse = Select(Make<arith::CmpIOp>(IntPredicate::eq, a, one), one,
                         Select(Make<arith::CmpIOp>(IntPredicate::eq, a, AllOnes()), Select(odd, a, one), zero));
  return Select(negative, inverse, result);
}

Value Scalar::Shift(Value a, Value b, bool left) {
  Value width = e.IntConstant(compute, compute.getIntOrFloatBitWidth(), lanes);
  Value fits = Make<arith::CmpIOp>(IntPredicate::ult, b, width);
  Value count = Select(fits, b, Const(0));
  Value shifted = left ? Value(Make<arith::ShLIOp>(a, count)) : Value(Make<arith::ShRUIOp>(a, count));
  return Select(fits, shifted, Const(0));
}

#define AOT_MATH(NAME) [&](auto& b, Value x) { return math::NAME(b, x); }

Value EmitUnary(Scalar& s, mlir::Operation* op, Value x) {
  bool is_float = IsFloat(s.compute);
  Emitter& e = s.e;
  auto attribute = [&](const char* name) { return op->getAttrOfType<mlir::FloatAttr>(name).getValueAsDouble(); };
  return llvm::TypeSwitch<mlir::Operation*, Value>(op)
      .Case([&](nn::AbsOp) -> Value {
        if (is_float) return s.Make<mlir::math::AbsFOp>(x);
        if (IsUnsigned(s.element)) return x;
        return s.Select(s.Less(x, s.Const(0)), s.Make<arith::SubIOp>(s.Const(0), x), x);
      })
      .Case([&](nn::NegOp) -> Value {
        return is_float ? Value(s.Make<arith::NegFOp>(x)) : Value(s.Make<arith::SubIOp>(s.Const(0), x));
      })
      .Case([&](nn::SignOp) -> Value {
        Value positive = s.Select(s.Less(s.Const(0), x), s.Const(1), s.Const(0));
        if (IsUnsigned(s.element)) return positive;
        Value sign = s.Select(s.Less(x, s.Const(0)), s.Const(-1), positive);
        return is_float ? s.Select(s.Make<arith::CmpFOp>(Predicate::UNO, x, x), x, sign) : sign;
      })
      .Case([&](nn::SqrtOp) -> Value { return s.Make<mlir::math::SqrtOp>(x); })
      .Case([&](nn::ReciprocalOp) -> Value { return s.Make<arith::DivFOp>(s.Const(1), x); })
      .Case([&](nn::FloorOp) -> Value { return is_float ? Value(s.Make<mlir::math::FloorOp>(x)) : x; })
      .Case([&](nn::CeilOp) -> Value { return is_float ? Value(s.Make<mlir::math::CeilOp>(x)) : x; })
      .Case([&](nn::RoundOp) -> Value { return is_float ? Value(s.Make<mlir::math::RoundEvenOp>(x)) : x; })
      .Case([&](nn::ReluOp) -> Value {
        // Compare and select: NaN stays, and no target turns it into a call.
        return s.Select(s.Less(x, s.Const(0)), s.Const(0), x);
      })
      .Case([&](nn::LogicalNotOp) -> Value { return s.Make<arith::XOrIOp>(x, s.AllOnes()); })
      .Case([&](nn::BitwiseNotOp) -> Value { return s.Make<arith::XOrIOp>(x, s.AllOnes()); })
      .Case([&](nn::IsNanOp) -> Value { return s.Make<arith::CmpFOp>(Predicate::UNO, x, x); })
      .Case([&](nn::IsInfOp inf) -> Value {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        Value no = e.IntConstant(e.builder().getI1Type(), 0, s.lanes);
        Value up = inf.getDetectPositive() ? Value(s.Make<arith::CmpFOp>(Predicate::OEQ, x, s.Const(kInfinity))) : no;
        Value down =
            inf.getDetectNegative() ? Value(s.Make<arith::CmpFOp>(Predicate::OEQ, x, s.Const(-kInfinity))) : no;
        return s.Make<arith::OrIOp>(up, down);
      })
      .Case([&](nn::ExpOp) { return s.Math(AOT_MATH(Exp), x); })
      .Case([&](nn::LogOp) { return s.Math(AOT_MATH(Log), x); })
      .Case([&](nn::SinOp) { return s.Math(AOT_MATH(Sin), x); })
      .Case([&](nn::CosOp) { return s.Math(AOT_MATH(Cos), x); })
      .Case([&](nn::TanOp) { return s.Math(AOT_MATH(Tan), x); })
      .Case([&](nn::AsinOp) { return s.Math(AOT_MATH(Asin), x); })
      .Case([&](nn::AcosOp) { return s.Math(AOT_MATH(Acos), x); })
      .Case([&](nn::AtanOp) { return s.Math(AOT_MATH(Atan), x); })
      .Case([&](nn::SinhOp) { return s.Math(AOT_MATH(Sinh), x); })
      .Case([&](nn::CoshOp) { return s.Math(AOT_MATH(Cosh), x); })
      .Case([&](nn::TanhOp) { return s.Math(AOT_MATH(Tanh), x); })
      .Case([&](nn::AsinhOp) { return s.Math(AOT_MATH(Asinh), x); })
      .Case([&](nn::AcoshOp) { return s.Math(AOT_MATH(Acosh), x); })
      .Case([&](nn::AtanhOp) { return s.Math(AOT_MATH(Atanh), x); })
      .Case([&](nn::ErfOp) { return s.Math(AOT_MATH(Erf), x); })
      .Case([&](nn::SigmoidOp) { return s.Math(AOT_MATH(Sigmoid), x); })
      .Case([&](nn::SoftplusOp) { return s.Math(AOT_MATH(Softplus), x); })
      .Case([&](nn::SoftsignOp) { return s.Math(AOT_MATH(Softsign), x); })
      .Case([&](nn::MishOp) { return s.Math(AOT_MATH(Mish), x); })
      .Case([&](nn::HardSwishOp) { return s.Math(AOT_MATH(HardSwish), x); })
      .Case([&](nn::LeakyReluOp) {
        return s.Math([&](auto& b, Value v) { return math::LeakyRelu(b, v, attribute("alpha")); }, x);
      })
      .Case([&](nn::EluOp) { return s.Math([&](auto& b, Value v) { return math::Elu(b, v, attribute("alpha")); }, x); })
      .Case([&](nn::SeluOp) {
        return s.Math([&](auto& b, Value v) { return math::Selu(b, v, attribute("alpha"), attribute("gamma")); }, x);
      })
      .Case(
          [&](nn::CeluOp) { return s.Math([&](auto& b, Value v) { return math::Celu(b, v, attribute("alpha")); }, x); })
      .Case([&](nn::HardSigmoidOp) {
        return s.Math([&](auto& b, Value v) { return math::HardSigmoid(b, v, attribute("alpha"), attribute("beta")); },
                      x);
      })
      .Case([&](nn::ThresholdedReluOp) {
        return s.Math([&](auto& b, Value v) { return math::ThresholdedRelu(b, v, attribute("alpha")); }, x);
      })
      .Case([&](nn::ShrinkOp) {
        return s.Math([&](auto& b, Value v) { return math::Shrink(b, v, attribute("bias"), attribute("lambd")); }, x);
      })
      .Case([&](nn::GeluOp gelu) {
        return gelu.getApproximate() ? s.Math(AOT_MATH(GeluTanh), x) : s.Math(AOT_MATH(Gelu), x);
      })
      .Default([](mlir::Operation*) { return Value(); });
}
#undef AOT_MATH

Value EmitBinary(Scalar& s, mlir::Operation* op, Value a, Value b) {
  bool is_float = IsFloat(s.compute);
  return llvm::TypeSwitch<mlir::Operation*, Value>(op)
      .Case([&](nn::AddOp) { return EmitAdd(s.e, a, b); })
      .Case(
          [&](nn::SubOp) { return is_float ? Value(s.Make<arith::SubFOp>(a, b)) : Value(s.Make<arith::SubIOp>(a, b)); })
      .Case([&](nn::MulOp) { return EmitMul(s.e, a, b); })
      .Case([&](nn::DivOp) { return s.Div(a, b); })
      .Case([&](nn::ModOp mod) { return s.Mod(a, b, mod.getFmod()); })
      .Case([&](nn::PowOp) {
        if (!is_float) return s.IntPow(a, b);
        return s.Math([](auto& backend, Value x, Value y) { return math::Pow(backend, x, y); }, a, b);
      })
      .Case([&](nn::MinOp) { return EmitMin(s.e, a, b, s.element); })
      .Case([&](nn::MaxOp) { return EmitMax(s.e, a, b, s.element); })
      .Case([&](nn::PreluOp) { return s.Select(s.Less(a, s.Const(0)), EmitMul(s.e, a, b), a); })
      .Case<nn::LogicalAndOp, nn::BitwiseAndOp>([&](auto) { return Value(s.Make<arith::AndIOp>(a, b)); })
      .Case<nn::LogicalOrOp, nn::BitwiseOrOp>([&](auto) { return Value(s.Make<arith::OrIOp>(a, b)); })
      .Case<nn::LogicalXorOp, nn::BitwiseXorOp>([&](auto) { return Value(s.Make<arith::XOrIOp>(a, b)); })
      .Case([&](nn::ShiftLeftOp) { return s.Shift(a, b, true); })
      .Case([&](nn::ShiftRightOp) { return s.Shift(a, b, false); })
      .Case([&](nn::EqualOp) { return s.Equal(a, b); })
      .Case([&](nn::LessOp) { return s.Less(a, b); })
      .Case([&](nn::GreaterOp) { return s.Less(b, a); })
      .Case([&](nn::LessEqualOp) { return s.Compare(Predicate::OLE, IntPredicate::sle, IntPredicate::ule, a, b); })
      .Case([&](nn::GreaterEqualOp) { return s.Compare(Predicate::OLE, IntPredicate::sle, IntPredicate::ule, b, a); })
      .Default([](mlir::Operation*) { return Value(); });
}

}  // namespace

Value EmitAdd(Emitter& e, Value a, Value b) {
  if (IsFloat(mlir::getElementTypeOrSelf(a.getType()))) return arith::AddFOp::create(e.builder(), e.location(), a, b);
  return arith::AddIOp::create(e.builder(), e.location(), a, b);
}

Value EmitMul(Emitter& e, Value a, Value b) {
  if (IsFloat(mlir::getElementTypeOrSelf(a.getType()))) return arith::MulFOp::create(e.builder(), e.location(), a, b);
  return arith::MulIOp::create(e.builder(), e.location(), a, b);
}

// NaN wins: `a` if it is larger or NaN, else b (which wins when it is NaN, as no comparison with it holds).
static Value EmitExtreme(Emitter& e, Value a, Value b, mlir::Type element, bool largest) {
  auto& builder = e.builder();
  mlir::Location at = e.location();
  if (IsFloat(element)) {
    Value better = arith::CmpFOp::create(builder, at, largest ? Predicate::OGT : Predicate::OLT, a, b);
    Value nan = arith::CmpFOp::create(builder, at, Predicate::UNO, a, a);
    Value first = arith::OrIOp::create(builder, at, better, nan);
    return arith::SelectOp::create(builder, at, first, a, b);
  }
  if (IsUnsigned(element))
    return largest ? Value(arith::MaxUIOp::create(builder, at, a, b))
                   : Value(arith::MinUIOp::create(builder, at, a, b));
  return largest ? Value(arith::MaxSIOp::create(builder, at, a, b)) : Value(arith::MinSIOp::create(builder, at, a, b));
}

Value EmitMax(Emitter& e, Value a, Value b, mlir::Type element) { return EmitExtreme(e, a, b, element, true); }
Value EmitMin(Emitter& e, Value a, Value b, mlir::Type element) { return EmitExtreme(e, a, b, element, false); }

// Float to integer: truncated, NaN to 0, out of range to the nearest end. The bounds of the clamp are exact in the
// float type.
static Value FloatToInt(Emitter& e, Value value, mlir::Type to, int lanes) {
  auto& builder = e.builder();
  mlir::Location at = e.location();
  mlir::Type from = mlir::getElementTypeOrSelf(value.getType());
  unsigned width = to.getIntOrFloatBitWidth();
  bool is_unsigned = IsUnsigned(to);
  int value_bits = static_cast<int>(is_unsigned ? width : width - 1);
  int precision = from.isF64() ? 53 : 24;
  double low = is_unsigned ? 0.0 : -std::ldexp(1.0, value_bits);
  double above = std::ldexp(1.0, value_bits);  // first value out of range
  // The largest float below `above`.
  double high = value_bits <= precision ? above - 1 : above - std::ldexp(1.0, value_bits - precision);
  Value low_value = e.FloatConstant(from, low, lanes), high_value = e.FloatConstant(from, high, lanes);
  Value below = arith::CmpFOp::create(builder, at, Predicate::OLT, value, low_value);
  Value beyond = arith::CmpFOp::create(builder, at, Predicate::OGE, value, e.FloatConstant(from, above, lanes));
  Value nan = arith::CmpFOp::create(builder, at, Predicate::UNO, value, value);
  Value clamped = arith::SelectOp::create(builder, at, below, low_value, value);
  clamped = arith::SelectOp::create(builder, at, beyond, high_value, clamped);
  clamped = arith::SelectOp::create(builder, at, nan, e.FloatConstant(from, 0, lanes), clamped);
  // Narrow types convert through 32 bits, which every target has as one instruction.
  mlir::Type wide = builder.getIntegerType(std::max(32u, width));
  mlir::Type wide_lanes = e.VectorOf(wide, lanes), to_lanes = e.VectorOf(builder.getIntegerType(width), lanes);
  Value converted = is_unsigned && width >= 32 ? Value(arith::FPToUIOp::create(builder, at, wide_lanes, clamped))
                                               : Value(arith::FPToSIOp::create(builder, at, wide_lanes, clamped));
  if (wide_lanes != to_lanes) converted = arith::TruncIOp::create(builder, at, to_lanes, converted);
  Value largest = e.IntConstant(builder.getIntegerType(width),
                                is_unsigned ? -1 : static_cast<int64_t>((uint64_t{1} << value_bits) - 1), lanes);
  return arith::SelectOp::create(builder, at, beyond, largest, converted);
}

// A 64-bit integer that float64 holds and that rounds to the same float of 32 and fewer bits: beyond 2^53 the low bits
// are merged into one.
static Value WithStickyBit(Emitter& e, Value value, bool is_unsigned, int lanes) {
  auto& builder = e.builder();
  mlir::Location at = e.location();
  mlir::Type i64 = builder.getI64Type();
  auto constant = [&](int64_t c) { return e.IntConstant(i64, c, lanes); };
  auto equal = [&](Value a, int64_t c) -> Value {
    return arith::CmpIOp::create(builder, at, IntPredicate::eq, a, constant(c));
  };
  Value low = arith::AndIOp::create(builder, at, value, constant(0xFFF));
  Value sticky = arith::SelectOp::create(builder, at, equal(low, 0), constant(0), constant(0x800));
  Value merged =
      arith::OrIOp::create(builder, at, arith::AndIOp::create(builder, at, value, constant(~int64_t{0xFFF})), sticky);
  Value high = is_unsigned ? Value(arith::ShRUIOp::create(builder, at, value, constant(53)))
                           : Value(arith::ShRSIOp::create(builder, at, value, constant(53)));
  Value exact = equal(high, 0);
  if (!is_unsigned) exact = arith::OrIOp::create(builder, at, exact, equal(high, -1));
  return arith::SelectOp::create(builder, at, exact, value, merged);
}

Value EmitCast(Emitter& e, Value value, mlir::Type from, mlir::Type to, int lanes, bool saturate) {
  auto& builder = e.builder();
  mlir::Location at = e.location();
  mlir::Type compute = e.ComputeType(to);
  mlir::Type wanted = e.VectorOf(compute, lanes);
  mlir::Type have = mlir::getElementTypeOrSelf(value.getType());
  if (from == to) return value;
  if (to.isInteger(1)) {
    Value zero = e.Zero(have, lanes);
    if (IsFloat(from)) return arith::CmpFOp::create(builder, at, Predicate::UNE, value, zero);
    return arith::CmpIOp::create(builder, at, IntPredicate::ne, value, zero);
  }
  if (IsFloat(from) && IsFloat(to)) {
    // A narrow result is rounded where it is made, so that users in the same kernel see the rounded value.
    if (to != compute) return e.Widen(e.Narrow(value, to, lanes, saturate), to, lanes);
    if (have.getIntOrFloatBitWidth() < compute.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(builder, at, wanted, value);
    return have == compute ? value : Value(arith::TruncFOp::create(builder, at, wanted, value));
  }
  if (IsFloat(from)) return FloatToInt(e, value, to, lanes);
  if (IsFloat(to)) {
    // What float32 would round on the way to a narrower type goes through float64.
    bool narrow = to != compute, through_double = narrow && have.getIntOrFloatBitWidth() >= 32;
    if (through_double && have.getIntOrFloatBitWidth() == 64) value = WithStickyBit(e, value, IsUnsigned(from), lanes);
    mlir::Type real = through_double ? e.VectorOf(builder.getF64Type(), lanes) : wanted;
    Value converted = IsUnsigned(from) ? Value(arith::UIToFPOp::create(builder, at, real, value))
                                       : Value(arith::SIToFPOp::create(builder, at, real, value));
    return narrow ? e.Widen(e.Narrow(converted, to, lanes, saturate), to, lanes) : converted;
  }
  unsigned a = have.getIntOrFloatBitWidth(), b = compute.getIntOrFloatBitWidth();
  if (a == b) return value;
  if (a > b) return arith::TruncIOp::create(builder, at, wanted, value);
  return IsUnsigned(from) ? Value(arith::ExtUIOp::create(builder, at, wanted, value))
                          : Value(arith::ExtSIOp::create(builder, at, wanted, value));
}

Value EmitElementwise(Emitter& emitter, mlir::Operation* op, llvm::ArrayRef<Value> operands, int lanes) {
  mlir::Type element = nn::TensorTypeOf(op->getOperand(0)).getElementType();
  if (auto cast = llvm::dyn_cast<nn::CastOp>(op))
    return EmitCast(emitter, operands[0], element, nn::TensorTypeOf(cast.getResult()).getElementType(), lanes,
                    cast.getSaturate());
  if (llvm::isa<nn::WhereOp>(op))
    return arith::SelectOp::create(emitter.builder(), emitter.location(), operands[0], operands[1], operands[2]);
  Scalar scalar{emitter, lanes, element, emitter.ComputeType(element)};
  if (operands.size() == 1) return EmitUnary(scalar, op, operands[0]);
  Value rhs = operands[1];
  // pow and the shifts allow a second type.
  mlir::Type rhs_element = nn::TensorTypeOf(op->getOperand(1)).getElementType();
  if (llvm::isa<nn::PowOp>(op) && !IsFloat(element) && IsFloat(rhs_element)) {
    // An integer to a power that may have a fraction goes through float64, exactly where the power is an integer, and
    // saturates.
    mlir::Type wide = emitter.builder().getF64Type();
    Scalar real{emitter, lanes, wide, wide};
    Value base = EmitCast(emitter, operands[0], element, wide, lanes);
    return EmitCast(emitter, EmitBinary(real, op, base, EmitCast(emitter, rhs, rhs_element, wide, lanes)), wide,
                    element, lanes);
  }
  if (rhs_element != element) rhs = EmitCast(emitter, rhs, rhs_element, element, lanes);
  return EmitBinary(scalar, op, operands[0], rhs);
}

bool IsExpensive(mlir::Operation* op) {
  return !llvm::isa<nn::AbsOp, nn::NegOp, nn::SignOp, nn::FloorOp, nn::CeilOp, nn::RoundOp, nn::ReluOp,
                    nn::LogicalNotOp, nn::BitwiseNotOp, nn::AddOp, nn::SubOp, nn::MulOp, nn::MinOp, nn::MaxOp,
                    nn::WhereOp, nn::CastOp, nn::EqualOp, nn::LessOp, nn::GreaterOp, nn::LessEqualOp,
                    nn::GreaterEqualOp, nn::LogicalAndOp, nn::LogicalOrOp, nn::LogicalXorOp, nn::LeakyReluOp,
                    nn::HardSigmoidOp, nn::HardSwishOp>(op);
}

}  // namespace aot::codegen
