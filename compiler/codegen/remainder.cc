#include "compiler/codegen/remainder.h"

#include <limits>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace aot::codegen {
namespace arith = mlir::arith;
namespace {

using Predicate = arith::CmpFPredicate;

// One step of the long division takes as many bits of the quotient as half a double has: then the quotient's product
// with either half of the divisor is exact.
constexpr int kStepBits = 26;
constexpr int64_t kLowHalf = (int64_t{1} << 27) - 1;
constexpr int64_t kSign = INT64_MIN, kMagnitude = INT64_MAX;

// Arithmetic on f64 lanes and their bit patterns.
class Doubles {
 public:
  Doubles(Emitter& e, int lanes) : e_(e), lanes_(lanes) {
    f64_ = e.builder().getF64Type();
    i64_ = e.builder().getI64Type();
  }

  Value F(double value) { return e_.FloatConstant(f64_, value, lanes_); }
  Value I(int64_t value) { return e_.IntConstant(i64_, value, lanes_); }
  Value Bits(Value value) { return Make<arith::BitcastOp>(e_.VectorOf(i64_, lanes_), value); }
  Value FromBits(Value bits) { return Make<arith::BitcastOp>(e_.VectorOf(f64_, lanes_), bits); }
  Value Compare(Predicate predicate, Value a, Value b) { return Make<arith::CmpFOp>(predicate, a, b); }
  Value Select(Value condition, Value a, Value b) { return Make<arith::SelectOp>(condition, a, b); }
  template <typename Op, typename... Args>
  Value Make(Args... args) {
    return Op::create(e_.builder(), e_.location(), args...);
  }
  Value ExponentOf(Value value) { return Make<arith::ShRUIOp>(Bits(value), I(52)); }
  Value PowerOfTwo(Value n) { return FromBits(Make<arith::ShLIOp>(Make<arith::AddIOp>(n, I(1023)), I(52))); }

 private:
  Emitter& e_;
  int lanes_;
  mlir::Type f64_, i64_;
};

// How many steps of the division beyond the first the quotient x / y needs: its bits by the exponents, over kStepBits.
Value ExtraSteps(Doubles& d, Value x, Value y) {
  // A subnormal divisor has an exponent only once it is scaled up; x may keep one that is too large.
  Value subnormal = d.Compare(Predicate::OLT, y, d.F(std::numeric_limits<double>::min()));
  Value scaled = d.Select(subnormal, d.Make<arith::MulFOp>(y, d.F(0x1p54)), y);
  Value exponent = d.Make<arith::SubIOp>(d.ExponentOf(scaled), d.Select(subnormal, d.I(54), d.I(0)));
  Value bits = d.Make<arith::SubIOp>(d.ExponentOf(x), exponent);
  bits = d.Make<arith::MaxSIOp>(bits, d.I(0));
  // Divided by 26, exactly for what exponents can differ.
  return d.Make<arith::ShRUIOp>(d.Make<arith::MulIOp>(bits, d.I(2521)), d.I(16));
}

// x mod y of finite x >= 0 and y > 0: long division from the highest bits of the quotient down.
Value RemainderOfMagnitudes(Emitter& e, Doubles& d, Value x, Value y, int lanes) {
  Value extra = ExtraSteps(d, x, y);
  Value shift = d.Make<arith::MulIOp>(extra, d.I(kStepBits));
  // In four parts, none of which is beyond a double's exponents.
  Value quarter = d.Make<arith::ShRUIOp>(shift, d.I(2));
  Value rest = d.Make<arith::SubIOp>(shift, d.Make<arith::MulIOp>(quarter, d.I(3)));
  Value scale = d.PowerOfTwo(quarter), divisor = y;
  for (int i = 0; i < 3; ++i) divisor = d.Make<arith::MulFOp>(divisor, scale);
  divisor = d.Make<arith::MulFOp>(divisor, d.PowerOfTwo(rest));

  Value most = e.Lane(extra, 0);
  for (int lane = 1; lane < lanes; ++lane) most = d.Make<arith::MaxSIOp>(most, e.Lane(extra, lane));
  Value steps = e.Add(d.Make<arith::IndexCastOp>(e.builder().getIndexType(), most), 1);
  auto step = [&](Value, mlir::ValueRange carried) {
    Value remainder = carried[0], by = carried[1];
    // Slightly small, so that rounding never makes the quotient too large; it may be one too small.
    Value ratio = d.Make<arith::MulFOp>(d.Make<arith::DivFOp>(remainder, by), d.F(1 - 0x1p-52));
    Value quotient = d.Make<mlir::math::TruncOp>(ratio);
    Value high = d.FromBits(d.Make<arith::AndIOp>(d.Bits(by), d.I(~kLowHalf)));
    Value low = d.Make<arith::SubFOp>(by, high);
    remainder = d.Make<arith::SubFOp>(remainder, d.Make<arith::MulFOp>(quotient, high));
    remainder = d.Make<arith::SubFOp>(remainder, d.Make<arith::MulFOp>(quotient, low));
    Value too_small = d.Compare(Predicate::OGE, remainder, by);
    remainder = d.Select(too_small, d.Make<arith::SubFOp>(remainder, by), remainder);
    Value next = d.Make<arith::MulFOp>(by, d.F(0x1p-26));
    return llvm::SmallVector<Value>{remainder, d.Select(d.Compare(Predicate::OGT, by, y), next, by)};
  };
  return e.Fold(e.Constant(0), steps, {x, divisor}, step)[0];
}

}  // namespace

Value EmitRemainder(Emitter& e, Value a, Value b, bool floored, int lanes) {
  mlir::Type given = a.getType(), f64 = e.VectorOf(e.builder().getF64Type(), lanes);
  Doubles d(e, lanes);
  // A float32 is a double of 24 bits, and so is its remainder.
  if (given != f64) {
    a = d.Make<arith::ExtFOp>(f64, a);
    b = d.Make<arith::ExtFOp>(f64, b);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  Value x = d.Make<mlir::math::AbsFOp>(a), y = d.Make<mlir::math::AbsFOp>(b);
  Value finite = d.Compare(Predicate::OLT, x, d.F(infinity)), positive = d.Compare(Predicate::OGT, y, d.F(0));
  Value whole = d.Compare(Predicate::OEQ, y, d.F(infinity));
  Value sign = d.Make<arith::AndIOp>(d.Bits(a), d.I(kSign));
  Value magnitude = RemainderOfMagnitudes(e, d, x, y, lanes);
  Value result = d.FromBits(d.Make<arith::OrIOp>(d.Make<arith::AndIOp>(d.Bits(magnitude), d.I(kMagnitude)), sign));
  result = d.Select(whole, a, result);
  if (floored) {
    Value zero = d.FromBits(d.Make<arith::AndIOp>(d.Bits(b), d.I(kSign)));
    Value differ =
        d.Make<arith::CmpIOp>(arith::CmpIPredicate::slt, d.Make<arith::XOrIOp>(d.Bits(result), d.Bits(b)), d.I(0));
    Value moved = d.Select(differ, d.Make<arith::AddFOp>(result, b), result);
    result = d.Select(d.Compare(Predicate::OEQ, result, d.F(0)), zero, moved);
  }
  Value defined = d.Make<arith::AndIOp>(finite, positive);
  result = d.Select(defined, result, d.F(std::numeric_limits<double>::quiet_NaN()));
  return given == f64 ? result : d.Make<arith::TruncFOp>(given, result);
}

}  // namespace aot::codegen
