// The backend of compiler/math that emits IR: each function of it becomes arith operations on scalars or vectors.
#pragma once

#include "compiler/codegen/emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace aot::codegen {

// Values are f32, i32 and i1 of `lanes` lanes. The emitter must outlive it.
class MathBackend {
 public:
  using F = Value;
  using I = Value;
  using M = Value;

  MathBackend(Emitter& emitter, int lanes)
      : emitter_(emitter),
        lanes_(lanes),
        float_(mlir::Float32Type::get(emitter.builder().getContext())),
        int_(mlir::IntegerType::get(emitter.builder().getContext(), 32)) {}

  F Constant(float value) { return emitter_.FloatConstant(float_, value, lanes_); }
  I ConstantInt(int32_t value) { return emitter_.IntConstant(int_, value, lanes_); }

  F Add(F a, F b) { return Make<mlir::arith::AddFOp>(a, b); }
  F Sub(F a, F b) { return Make<mlir::arith::SubFOp>(a, b); }
  F Mul(F a, F b) { return Make<mlir::arith::MulFOp>(a, b); }
  F Div(F a, F b) { return Make<mlir::arith::DivFOp>(a, b); }
  F MulAdd(F a, F b, F c) { return emitter_.MulAdd(a, b, c); }
  F Neg(F a) { return Make<mlir::arith::NegFOp>(a); }
  F Abs(F a) { return Make<mlir::math::AbsFOp>(a); }
  F Sqrt(F a) { return Make<mlir::math::SqrtOp>(a); }

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

}  // namespace aot::codegen
