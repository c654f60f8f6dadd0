// The backends of compiler/math that emit IR: each function of it becomes arith operations on scalars or vectors.
#pragma once

#include <array>

#include "compiler/codegen/emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace aot::codegen {

// Values are f32, i32 and i1, or f64, i64 and i1, of `lanes` lanes. The emitter must outlive it.
template <bool kIsDouble>
class BasicMathBackend {
 public:
  static constexpr bool kDouble = kIsDouble;
  using F = Value;
  using I = Value;
  using M = Value;

  BasicMathBackend(Emitter& emitter, int lanes)
      : emitter_(emitter),
        lanes_(lanes),
        float_(kDouble ? mlir::Type(emitter.builder().getF64Type()) : emitter.builder().getF32Type()),
        int_(emitter.builder().getIntegerType(kDouble ? 64 : 32)) {}

  F Constant(double value) {
    return emitter_.FloatConstant(float_, kDouble ? value : static_cast<float>(value), lanes_);
  }
  I ConstantInt(int64_t value) { return emitter_.IntConstant(int_, value, lanes_); }

  F Add(F a, F b) { return Make<mlir::arith::AddFOp>(a, b); }
  F Sub(F a, F b) { return Make<mlir::arith::SubFOp>(a, b); }
  F Mul(F a, F b) { return Make<mlir::arith::MulFOp>(a, b); }
  F Div(F a, F b) { return Make<mlir::arith::DivFOp>(a, b); }
  F MulAdd(F a, F b, F c) { return emitter_.MulAdd(a, b, c); }
  F Neg(F a) { return Make<mlir::arith::NegFOp>(a); }
  F Abs(F a) { return Make<mlir::math::AbsFOp>(a); }
  F Sqrt(F a) { return Make<mlir::math::SqrtOp>(a); }
  F Round(F a) { return Make<mlir::math::RoundEvenOp>(a); }

  I AddInt(I a, I b) { return Make<mlir::arith::AddIOp>(a, b); }
  I SubInt(I a, I b) { return Make<mlir::arith::SubIOp>(a, b); }
  I MulInt(I a, I b) { return Make<mlir::arith::MulIOp>(a, b); }
  I AndInt(I a, I b) { return Make<mlir::arith::AndIOp>(a, b); }
  I OrInt(I a, I b) { return Make<mlir::arith::OrIOp>(a, b); }
  I XorInt(I a, I b) { return Make<mlir::arith::XOrIOp>(a, b); }
  I ShlInt(I a, int count) { return Make<mlir::arith::ShLIOp>(a, ConstantInt(count)); }
  I ShrInt(I a, int count) { return Make<mlir::arith::ShRSIOp>(a, ConstantInt(count)); }
  I ShrLogical(I a, int count) { return Make<mlir::arith::ShRUIOp>(a, ConstantInt(count)); }

  I Bits(F a) { return Convert<mlir::arith::BitcastOp>(int_, a); }
  F FromBits(I a) { return Convert<mlir::arith::BitcastOp>(float_, a); }
  I ToInt(F a) { return Convert<mlir::arith::FPToSIOp>(int_, a); }
  F ToFloat(I a) { return Convert<mlir::arith::SIToFPOp>(float_, a); }

  M Less(F a, F b) { return Compare(mlir::arith::CmpFPredicate::OLT, a, b); }
  M LessEqual(F a, F b) { return Compare(mlir::arith::CmpFPredicate::OLE, a, b); }
  M Equal(F a, F b) { return Compare(mlir::arith::CmpFPredicate::OEQ, a, b); }
  M Greater(F a, F b) { return Compare(mlir::arith::CmpFPredicate::OGT, a, b); }
  M IsNan(F a) { return Compare(mlir::arith::CmpFPredicate::UNO, a, a); }
  M LessInt(I a, I b) { return CompareInt(mlir::arith::CmpIPredicate::slt, a, b); }
  M EqualInt(I a, I b) { return CompareInt(mlir::arith::CmpIPredicate::eq, a, b); }
  M And(M a, M b) { return Make<mlir::arith::AndIOp>(a, b); }
  M Or(M a, M b) { return Make<mlir::arith::OrIOp>(a, b); }
  M Not(M a) {
    return Make<mlir::arith::XOrIOp>(a, emitter_.IntConstant(mlir::getElementTypeOrSelf(a.getType()), -1, lanes_));
  }
  F Select(M m, F a, F b) { return Make<mlir::arith::SelectOp>(m, a, b); }
  I SelectInt(M m, I a, I b) { return Make<mlir::arith::SelectOp>(m, a, b); }

  template <typename Function>
  std::array<F, 2> IfAny(M m, Function function) {
    Value any = m;
    if (lanes_ > 1)
      any = mlir::vector::ReductionOp::create(emitter_.builder(), emitter_.location(), mlir::vector::CombiningKind::OR,
                                              m);
    mlir::Type type = emitter_.VectorOf(float_, lanes_);
    auto values = emitter_.If(
        any, {type, type},
        [&] {
          std::array<F, 2> made = function();
          return llvm::SmallVector<Value>{made[0], made[1]};
        },
        [&] {
          Value none = Constant(0);
          return llvm::SmallVector<Value>{none, none};
        });
    return {values[0], values[1]};
  }

  BasicMathBackend<true> Wide() { return {emitter_, lanes_}; }
  Value Extend(F a) { return Convert<mlir::arith::ExtFOp>(emitter_.builder().getF64Type(), a); }
  F Truncate(Value a) { return Convert<mlir::arith::TruncFOp>(float_, a); }

 private:
  template <typename Op, typename... Args>
  Value Make(Args... args) {
    return Op::create(emitter_.builder(), emitter_.location(), args...);
  }
  template <typename Op>
  Value Convert(mlir::Type scalar, Value a) {
    return Op::create(emitter_.builder(), emitter_.location(), emitter_.VectorOf(scalar, lanes_), a);
  }
  Value Compare(mlir::arith::CmpFPredicate predicate, Value a, Value b) {
    return mlir::arith::CmpFOp::create(emitter_.builder(), emitter_.location(), predicate, a, b);
  }
  Value CompareInt(mlir::arith::CmpIPredicate predicate, Value a, Value b) {
    return mlir::arith::CmpIOp::create(emitter_.builder(), emitter_.location(), predicate, a, b);
  }

  Emitter& emitter_;
  int lanes_;
  mlir::Type float_, int_;
};

using MathBackend = BasicMathBackend<false>;
using DoubleMathBackend = BasicMathBackend<true>;

// function(backend, values...) in the precision of `compute`, f32 or f64.
template <typename Function, typename... Values>
Value EmitMath(Emitter& emitter, mlir::Type compute, int lanes, Function function, Values... values) {
  if (compute.isF64()) {
    DoubleMathBackend backend(emitter, lanes);
    return function(backend, values...);
  }
  MathBackend backend(emitter, lanes);
  return function(backend, values...);
}

}  // namespace aot::codegen
