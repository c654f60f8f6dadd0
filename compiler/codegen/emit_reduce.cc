// Reductions over axes.
#include "compiler/codegen/elementwise.h"
#include "compiler/codegen/kernel_context.h"
#include "compiler/codegen/rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace aot::codegen {
namespace arith = mlir::arith;

absl::Status EmitReduce(KernelContext& context, mlir::Operation* op) {
  Emitter& e = context.emitter;
  Value input = op->getOperand(0);
  auto type = nn::TensorTypeOf(input);
  mlir::Type element = type.getElementType(), compute = e.ComputeType(element);
  bool is_max = llvm::isa<nn::ReduceMaxOp>(op), is_min = llvm::isa<nn::ReduceMinOp>(op);
  bool is_mean = llvm::isa<nn::ReduceMeanOp>(op), is_product = llvm::isa<nn::ReduceProdOp>(op);
  auto axes = op->getAttrOfType<mlir::DenseI64ArrayAttr>("axes").asArrayRef();
  Rows rows(context.evaluator, type.getShape(), axes, element);
  auto start = [&](int lanes) -> Value {
    if (!is_max && !is_min)
      return is_product ? (llvm::isa<mlir::FloatType>(compute) ? e.FloatConstant(compute, 1, lanes)
                                                               : e.IntConstant(compute, 1, lanes))
                        : e.Zero(compute, lanes);
    if (llvm::isa<mlir::FloatType>(compute)) {
      double infinity = std::numeric_limits<double>::infinity();
      return e.FloatConstant(compute, is_max ? -infinity : infinity, lanes);
    }
    auto integer = llvm::cast<mlir::IntegerType>(element);
    bool is_unsigned = integer.isUnsigned() || integer.getWidth() == 1;
    llvm::APInt extreme = is_unsigned ? (is_max ? llvm::APInt::getMinValue(integer.getWidth())
                                                : llvm::APInt::getMaxValue(integer.getWidth()))
                                      : (is_max ? llvm::APInt::getSignedMinValue(integer.getWidth())
                                                : llvm::APInt::getSignedMaxValue(integer.getWidth()));
    return e.IntConstant(compute, extreme.getSExtValue(), lanes);
  };
  auto join = [&](Value a, Value b) -> Value {
    if (is_max) return EmitMax(e, a, b, element);
    if (is_min) return EmitMin(e, a, b, element);
    return is_product ? EmitMul(e, a, b) : EmitAdd(e, a, b);
  };
  rows.ForEach([&](const Indices& at, int lanes) {
    Value result = rows.Fold(
        at, lanes, [&](int width) { return llvm::SmallVector<Value>{start(width)}; },
        [&](const Indices& index, Value, int width, mlir::ValueRange carried) {
          return llvm::SmallVector<Value>{join(carried[0], context.evaluator.Evaluate(input, index, width))};
        },
        [&](mlir::ValueRange a, mlir::ValueRange b) { return llvm::SmallVector<Value>{join(a[0], b[0])}; })[0];
    if (is_mean) {
      if (llvm::isa<mlir::FloatType>(compute)) {
        result = arith::DivFOp::create(e.builder(), e.location(), result,
                                       e.FloatConstant(compute, static_cast<double>(rows.elements_per_row()), lanes));
      } else {
        Value count = e.IntConstant(compute, std::max<int64_t>(1, rows.elements_per_row()), lanes);
        bool is_unsigned = llvm::cast<mlir::IntegerType>(element).isUnsigned();
        result = is_unsigned ? Value(arith::DivUIOp::create(e.builder(), e.location(), result, count))
                             : Value(arith::DivSIOp::create(e.builder(), e.location(), result, count));
      }
    }
    context.evaluator.BindElement(op->getResult(0), result);
    context.StoreResults(at, lanes);
    context.evaluator.UnbindElements();
  });
  return absl::OkStatus();
}

absl::Status EmitArgReduce(KernelContext& context, mlir::Operation* op) {
  Emitter& e = context.emitter;
  bool largest = llvm::isa<nn::ArgMaxOp>(op);
  bool select_last = op->getAttrOfType<mlir::BoolAttr>("select_last").getValue();
  int64_t axis = op->getAttrOfType<mlir::IntegerAttr>("axis").getInt();
  Value input = op->getOperand(0);
  auto type = nn::TensorTypeOf(input);
  mlir::Type element = type.getElementType();
  mlir::Type result_type = e.ComputeType(nn::TensorTypeOf(op->getResult(0)).getElementType());
  auto& builder = e.builder();
  mlir::Location loc = e.location();
  llvm::SmallVector<int64_t> outer(nn::TensorTypeOf(op->getResult(0)).getShape());
  e.Nest(outer, [&](llvm::ArrayRef<Value> ivs) {
    Indices at;
    for (Value iv : ivs) at.push_back({iv, 0});
    Value first = context.evaluator.Evaluate(input, at, 1);
    auto best = e.Fold(
        e.Constant(1), e.Constant(type.getDimSize(axis)), {first, e.Constant(0)},
        [&](Value i, mlir::ValueRange carried) {
          Indices index = at;
          index[axis].base = i;
          Value x = context.evaluator.Evaluate(input, index, 1);
          // Better, or as good where the last one counts. A NaN is better than any number.
          Value better;
          if (llvm::isa<mlir::FloatType>(element)) {
            auto compare = [&](arith::CmpFPredicate predicate, Value a, Value b) -> Value {
              return arith::CmpFOp::create(builder, loc, predicate, a, b);
            };
            Value nan = compare(arith::CmpFPredicate::UNO, x, x),
                  best_nan = compare(arith::CmpFPredicate::UNO, carried[0], carried[0]);
            better = compare(largest ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, x, carried[0]);
            if (select_last)
              better = arith::OrIOp::create(builder, loc, better, compare(arith::CmpFPredicate::OEQ, x, carried[0]));
            // Once the best is a NaN, only a later NaN can replace it.
            Value by_nan = select_last
                               ? nan
                               : Value(arith::AndIOp::create(
                                     builder, loc, nan, compare(arith::CmpFPredicate::ORD, carried[0], carried[0])));
            better = e.Select(best_nan, select_last ? nan : Value(e.IntConstant(builder.getI1Type(), 0, 1)),
                              Value(arith::OrIOp::create(builder, loc, better, by_nan)));
          } else {
            bool is_unsigned = llvm::cast<mlir::IntegerType>(element).isUnsigned();
            using P = arith::CmpIPredicate;
            P predicate = largest ? (select_last ? (is_unsigned ? P::uge : P::sge) : (is_unsigned ? P::ugt : P::sgt))
                                  : (select_last ? (is_unsigned ? P::ule : P::sle) : (is_unsigned ? P::ult : P::slt));
            better = arith::CmpIOp::create(builder, loc, predicate, x, carried[0]);
          }
          return llvm::SmallVector<Value>{e.Select(better, x, carried[0]), e.Select(better, i, carried[1])};
        });
    Value position = arith::IndexCastOp::create(builder, loc, result_type, best[1]);
    context.evaluator.BindElement(op->getResult(0), position);
    context.StoreResults(at, 1);
    context.evaluator.UnbindElements();
  });
  return absl::OkStatus();
}

absl::Status EmitCumSum(KernelContext& context, nn::CumSumOp op) {
  Emitter& e = context.emitter;
  int64_t axis = op.getAxis();
  auto shape = nn::TensorTypeOf(op.getResult()).getShape();
  mlir::Type compute = e.ComputeType(nn::TensorTypeOf(op.getResult()).getElementType());
  llvm::SmallVector<int64_t> outer(shape);
  int64_t length = outer[axis];
  outer[axis] = 1;
  e.Nest(outer, [&](llvm::ArrayRef<Value> ivs) {
    Indices at;
    for (Value iv : ivs) at.push_back({iv, 0});
    e.Fold(e.Constant(0), e.Constant(length), e.Zero(compute, 1), [&](Value i, mlir::ValueRange carried) {
      Indices index = at;
      index[axis].base = op.getReverse() ? e.Sub(e.Constant(length - 1), i) : i;
      Value sum = EmitAdd(e, carried[0], context.evaluator.Evaluate(op.getInput(), index, 1));
      context.evaluator.BindElement(op.getResult(), op.getExclusive() ? carried[0] : sum);
      context.StoreResults(index, 1);
      context.evaluator.UnbindElements();
      return llvm::SmallVector<Value>{sum};
    });
  });
  return absl::OkStatus();
}

}  // namespace aot::codegen
