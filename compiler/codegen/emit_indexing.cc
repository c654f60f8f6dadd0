// Operations that write where the data says: scatters and top-k. They stand alone in their group and write their
// results directly.
#include "compiler/codegen/elementwise.h"
#include "compiler/codegen/kernel_context.h"
#include "compiler/schedule/state.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace aot::codegen {
namespace arith = mlir::arith;
namespace {

llvm::ArrayRef<int64_t> ShapeOf(Value value) { return nn::TensorTypeOf(value).getShape(); }

Value Combine(Emitter& e, llvm::StringRef reduction, Value old, Value update, mlir::Type element) {
  if (reduction == "add") return EmitAdd(e, old, update);
  if (reduction == "mul") return EmitMul(e, old, update);
  if (reduction == "min") return EmitMin(e, old, update, element);
  if (reduction == "max") return EmitMax(e, old, update, element);
  return update;
}

Indices ToIndices(llvm::ArrayRef<Value> ivs) {
  Indices index;
  for (Value iv : ivs) index.push_back({iv, 0});
  return index;
}

// Copies the scatter's input into its result.
void CopyInput(KernelContext& context, Value input) {
  Emitter& e = context.emitter;
  auto shape = ShapeOf(input);
  int64_t inner = shape.empty() ? 1 : shape.back();
  e.Nest(shape.empty() ? shape : shape.drop_back(), [&](llvm::ArrayRef<Value> outer) {
    e.Vectors(inner, e.Lanes(context.results[0].element), [&](Value start, int lanes) {
      Indices index = ToIndices(outer);
      if (!shape.empty()) index.push_back({start, 1});
      e.Store(context.evaluator.Evaluate(input, index, lanes), context.results[0],
              context.evaluator.Position(shape, index).base, 1, lanes);
    });
  });
}

}  // namespace

absl::Status EmitScatter(KernelContext& context, mlir::Operation* op) {
  Emitter& e = context.emitter;
  Value input = op->getOperand(0), indices = op->getOperand(1), updates = op->getOperand(2);
  auto shape = ShapeOf(input), index_shape = ShapeOf(indices);
  llvm::StringRef reduction = op->getAttrOfType<mlir::StringAttr>("reduction").getValue();
  const Buffer& result = context.results[0];
  // A state is updated where it lies; everything else starts as a copy.
  if (!context.group->hasAttr(schedule::kInPlace)) CopyInput(context, input);
  auto elements = llvm::dyn_cast<nn::ScatterElementsOp>(op);
  size_t outer = index_shape.size() - 1;
  int64_t depth = elements ? 0 : index_shape.back();
  // Every update is one step; an index out of range skips it.
  e.Nest(ShapeOf(updates), [&](llvm::ArrayRef<Value> ivs) {
    Indices target;
    Value inside;
    auto resolve = [&](const Indices& at, int64_t size) {
      Value raw = EmitCast(e, context.evaluator.Evaluate(indices, at, 1), nn::TensorTypeOf(indices).getElementType(),
                           e.builder().getI64Type(), 1);
      Value position = arith::IndexCastOp::create(e.builder(), e.location(), e.builder().getIndexType(), raw);
      position = e.Select(e.Less(position, e.Constant(0)), e.Add(position, size), position);
      Value here = e.And(e.Less(e.Constant(-1), position), e.Less(position, e.Constant(size)));
      inside = inside ? e.And(inside, here) : here;
      return LaneIndex{position, 0};
    };
    if (elements) {
      target = ToIndices(ivs);
      target[elements.getAxis()] = resolve(ToIndices(ivs), shape[elements.getAxis()]);
    } else {
      for (int64_t k = 0; k < depth; ++k) {
        Indices tuple = ToIndices(ivs.take_front(outer));
        tuple.push_back({e.Constant(k), 0});
        target.push_back(resolve(tuple, shape[k]));
      }
      for (Value iv : ivs.drop_front(outer)) target.push_back({iv, 0});
    }
    Value update = context.evaluator.Evaluate(updates, ToIndices(ivs), 1);
    auto write = [&] {
      Value position = context.evaluator.Position(shape, target).base;
      Value old = reduction == "none" ? Value() : e.Load(result, position, 0, 1);
      e.Store(Combine(e, reduction, old, update, result.element), result, position, 1, 1);
      return llvm::SmallVector<Value>{};
    };
    if (inside)
      e.If(inside, {}, write, [] { return llvm::SmallVector<Value>{}; });
    else
      write();
  });
  return absl::OkStatus();
}

// k passes of selection: the best element that comes after the previous one in the order (value, then index). O(n k),
// no scratch.
absl::Status EmitTopK(KernelContext& context, nn::TopKOp op) {
  Emitter& e = context.emitter;
  auto shape = ShapeOf(op.getInput()), result = ShapeOf(op.getValues());
  int64_t axis = op.getAxis(), length = shape[axis], k = result[axis];
  mlir::Type element = nn::TensorTypeOf(op.getInput()).getElementType();
  bool is_float = llvm::isa<mlir::FloatType>(element), largest = op.getLargest();
  auto& builder = e.builder();
  mlir::Location loc = e.location();
  bool is_unsigned = !is_float && llvm::cast<mlir::IntegerType>(element).isUnsigned();
  auto before = [&](Value a, Value b) -> Value {  // a comes before b by value
    using P = arith::CmpIPredicate;
    if (is_float) {
      // A NaN is larger than every number.
      Value first = largest ? a : b, second = largest ? b : a;
      Value greater = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, first, second);
      Value nan = arith::AndIOp::create(builder, loc,
                                        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, first, first),
                                        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, second, second));
      return arith::OrIOp::create(builder, loc, greater, nan);
    }
    P predicate = largest ? (is_unsigned ? P::ugt : P::sgt) : (is_unsigned ? P::ult : P::slt);
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  };
  auto either = [&](Value a, Value b) -> Value { return arith::OrIOp::create(builder, loc, a, b); };
  llvm::SmallVector<int64_t> outer(result);
  outer[axis] = 1;
  mlir::Type index_type = e.ComputeType(nn::TensorTypeOf(op.getIndices()).getElementType());
  e.Nest(outer, [&](llvm::ArrayRef<Value> ivs) {
    Indices at = ToIndices(ivs);
    Value none = e.Constant(-1), zero = e.Zero(e.ComputeType(element), 1);
    e.Fold(e.Constant(0), e.Constant(k), {zero, none}, [&](Value rank, mlir::ValueRange last) {
      auto best = e.Fold(e.Constant(0), e.Constant(length), {zero, none}, [&](Value i, mlir::ValueRange carried) {
        Indices index = at;
        index[axis].base = i;
        Value x = context.evaluator.Evaluate(op.getInput(), index, 1);
        // After the last one taken: a worse value, or an equal one further on; everything for the first rank.
        Value equal = is_float ? Value(arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, x, last[0]))
                               : Value(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, x, last[0]));
        if (is_float) {
          Value both =
              arith::AndIOp::create(builder, loc, arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x),
                                    arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, last[0], last[0]));
          equal = either(equal, both);
        }
        Value candidate = either(before(last[0], x), e.And(equal, e.Less(last[1], i)));
        candidate = either(candidate, e.Equal(last[1], none));
        Value better = either(e.Equal(carried[1], none), before(x, carried[0]));
        Value take = e.And(candidate, better);
        return llvm::SmallVector<Value>{e.Select(take, x, carried[0]), e.Select(take, i, carried[1])};
      });
      Indices to = at;
      to[axis].base = rank;
      Value position = context.evaluator.Position(result, to).base;
      if (const Buffer* values = context.ResultOf(op.getValues())) e.Store(best[0], *values, position, 1, 1);
      Value number = arith::IndexCastOp::create(builder, loc, index_type, e.Max(best[1], e.Constant(0)));
      if (const Buffer* indices = context.ResultOf(op.getIndices())) e.Store(number, *indices, position, 1, 1);
      return best;
    });
  });
  return absl::OkStatus();
}

}  // namespace aot::codegen
