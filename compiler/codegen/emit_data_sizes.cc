// Operations that find as many elements as the data has: positions that hold, distinct rows, boxes that don't overlap,
// and packing by run-time dimensions. They stand alone in their group and write their results directly; what is beyond
// the number found is 0. No step depends on time or order of anything but the data.
#include "compiler/codegen/kernel_context.h"
#include "compiler/codegen/sort.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace aot::codegen {
namespace arith = mlir::arith;
namespace {

using Values = llvm::SmallVector<Value>;

llvm::ArrayRef<int64_t> ShapeOf(Value value) { return nn::TensorTypeOf(value).getShape(); }
int64_t Elements(Value value) { return nn::TensorTypeOf(value).getNumElements(); }

// Writes elements of 64-bit integer buffers from index values, and reads them; a null buffer takes nothing.
class Integers {
 public:
  explicit Integers(Emitter& e) : e_(e) {}

  void Store(Value index, const Buffer* buffer, Value position) {
    if (buffer) e_.Store(Cast(index, e_.builder().getI64Type()), *buffer, position, 1, 1);
  }
  Value Load(const Buffer& buffer, Value position) {
    return Cast(e_.Load(buffer, position, 1, 1), e_.builder().getIndexType());
  }
  // Fills the elements from `first` on with zeros.
  void Clear(const Buffer* buffer, Value first, int64_t size) {
    if (!buffer) return;
    e_.For(first, e_.Constant(size), 1, [&](Value i) { Store(e_.Constant(0), buffer, i); });
  }

 private:
  Value Cast(Value value, mlir::Type type) {
    return arith::IndexCastOp::create(e_.builder(), e_.location(), type, value);
  }

  Emitter& e_;
};

}  // namespace

absl::Status EmitNonZero(KernelContext& context, nn::NonZeroOp op) {
  Emitter& e = context.emitter;
  Integers integers(e);
  const int64_t size = Elements(op.getInput());
  const Buffer& input = context.evaluator.BufferOf(op.getInput());
  const Buffer* positions = context.ResultOf(op.getPositions());
  Value count = e.Fold(e.Constant(0), e.Constant(size), {e.Constant(0)}, [&](Value i, mlir::ValueRange found) {
    return e.If(
        e.Load(input, i, 1, 1), found.getTypes(),
        [&] {
          integers.Store(i, positions, found[0]);
          return Values{e.Add(found[0], 1)};
        },
        [&] { return Values{found[0]}; });
  })[0];
  integers.Clear(positions, count, size);
  integers.Store(count, context.ResultOf(op.getCount()), e.Constant(0));
  return absl::OkStatus();
}

namespace {

// -1, 0 or 1 for two scalars, as an index: NaN equals NaN and is above every number.
Value Order(Emitter& e, Value a, Value b, mlir::Type element) {
  auto& builder = e.builder();
  mlir::Location loc = e.location();
  Value less, greater;
  if (llvm::isa<mlir::FloatType>(element)) {
    using P = arith::CmpFPredicate;
    auto compare = [&](P p, Value x, Value y) -> Value { return arith::CmpFOp::create(builder, loc, p, x, y); };
    auto below = [&](Value x, Value y) -> Value {
      Value x_is_number = compare(P::ORD, x, x), y_is_nan = compare(P::UNO, y, y);
      return arith::OrIOp::create(builder, loc, compare(P::OLT, x, y), e.And(x_is_number, y_is_nan));
    };
    less = below(a, b);
    greater = below(b, a);
  } else {
    // Booleans are one unsigned bit.
    const bool is_unsigned = element.isInteger(1) || llvm::cast<mlir::IntegerType>(element).isUnsigned();
    const auto p = is_unsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    less = arith::CmpIOp::create(builder, loc, p, a, b);
    greater = arith::CmpIOp::create(builder, loc, p, b, a);
  }
  return e.Select(less, e.Constant(-1), e.Select(greater, e.Constant(1), e.Constant(0)));
}

}  // namespace

absl::Status EmitUnique(KernelContext& context, nn::UniqueOp op) {
  Emitter& e = context.emitter;
  Integers integers(e);
  const int64_t rows = ShapeOf(op.getInput())[0], columns = ShapeOf(op.getInput())[1];
  const Buffer& input = context.evaluator.BufferOf(op.getInput());
  mlir::Type i64 = e.builder().getI64Type(), element = input.element;
  const Buffer order = context.Scratch(context.plan.list_offsets[0], rows, i64);
  // Once rows are sorted: the first of those that equal each one. While sorting: room for merging.
  const Buffer first = context.Scratch(context.plan.list_offsets[1], rows, i64);
  const Buffer number = context.Scratch(context.plan.list_offsets[2], rows, i64);
  auto compare = [&](Value a, Value b) -> Value {
    Value row_a = e.Mul(a, columns), row_b = e.Mul(b, columns);
    return e.Fold(e.Constant(0), e.Constant(columns), {e.Constant(0)}, [&](Value i, mlir::ValueRange before) {
      return e.If(
          e.Equal(before[0], e.Constant(0)), before.getTypes(),
          [&] {
            Value x = e.Load(input, e.Add(row_a, i), 1, 1), y = e.Load(input, e.Add(row_b, i), 1, 1);
            return Values{Order(e, x, y, element)};
          },
          [&] { return Values{before[0]}; });
    })[0];
  };

  e.For(rows, [&](Value i) { integers.Store(i, &order, i); });
  SortIndices(e, e.Constant(rows), rows, order, first,
              [&](Value a, Value b) { return e.Less(compare(a, b), e.Constant(0)); });
  e.For(rows, [&](Value k) {
    Value row = integers.Load(order, k);
    Value before = integers.Load(order, e.Max(e.Sub(k, e.Constant(1)), e.Constant(0)));
    Value same = e.And(e.Less(e.Constant(0), k), e.Equal(compare(before, row), e.Constant(0)));
    integers.Store(e.Select(same, integers.Load(first, before), row), &first, row);
  });

  const Buffer* positions = context.ResultOf(op.getPositions());
  const Buffer* inverse = context.ResultOf(op.getInverse());
  const Buffer* repeats = context.ResultOf(op.getRepeats());
  Value count = e.Fold(e.Constant(0), e.Constant(rows), {e.Constant(0)}, [&](Value k, mlir::ValueRange found) {
    Value row = op.getSorted() ? integers.Load(order, k) : k;
    Value representative = integers.Load(first, row);
    Value is_new = e.Equal(representative, row);
    e.If(
        is_new, {},
        [&] {
          integers.Store(row, positions, found[0]);
          integers.Store(found[0], &number, row);
          integers.Store(e.Constant(0), repeats, found[0]);
          return Values{};
        },
        [] { return Values{}; });
    Value own = integers.Load(number, representative);
    integers.Store(own, &number, row);
    integers.Store(own, inverse, row);
    if (repeats) integers.Store(e.Add(integers.Load(*repeats, own), 1), repeats, own);
    return Values{e.Select(is_new, e.Add(found[0], 1), found[0])};
  })[0];
  integers.Clear(positions, count, rows);
  integers.Clear(repeats, count, rows);
  integers.Store(count, context.ResultOf(op.getCount()), e.Constant(0));
  return absl::OkStatus();
}

namespace {

// Corners of a box, low before high.
struct Box {
  Value low_y, low_x, high_y, high_x;
};

class Boxes {
 public:
  Boxes(KernelContext& context, nn::NonMaxSuppressionOp op)
      : e_(context.emitter), boxes_(context.evaluator.BufferOf(op.getBoxes())), center_(op.getCenter()) {}

  Box Load(Value row) {
    std::array<Value, 4> v;
    for (int64_t i = 0; i < 4; ++i) v[i] = e_.Load(boxes_, e_.Add(e_.Mul(row, 4), i), 1, 1);
    if (!center_) return {Min(v[0], v[2]), Min(v[1], v[3]), Max(v[0], v[2]), Max(v[1], v[3])};
    Value half = e_.FloatConstant(v[0].getType(), 0.5, 1);
    Value width = Make<arith::MulFOp>(v[2], half), height = Make<arith::MulFOp>(v[3], half);
    return {Make<arith::SubFOp>(v[1], height), Make<arith::SubFOp>(v[0], width), Make<arith::AddFOp>(v[1], height),
            Make<arith::AddFOp>(v[0], width)};
  }

  // Whether the intersection over union is above the threshold; the operations are those of the reference.
  Value Overlap(const Box& a, const Box& b, Value threshold) {
    Value height = Make<arith::SubFOp>(Min(a.high_y, b.high_y), Max(a.low_y, b.low_y));
    Value width = Make<arith::SubFOp>(Min(a.high_x, b.high_x), Max(a.low_x, b.low_x));
    Value zero = e_.Zero(height.getType(), 1);
    Value intersection = Make<arith::MulFOp>(height, width);
    Value area = Make<arith::SubFOp>(Make<arith::AddFOp>(Area(a), Area(b)), intersection);
    Value above = Greater(Make<arith::DivFOp>(intersection, area), threshold);
    return e_.And(e_.And(Greater(height, zero), Greater(width, zero)), e_.And(Greater(area, zero), above));
  }

  Value Greater(Value a, Value b) {
    return arith::CmpFOp::create(e_.builder(), e_.location(), arith::CmpFPredicate::OGT, a, b);
  }

 private:
  template <typename Op>
  Value Make(Value a, Value b) {
    return Op::create(e_.builder(), e_.location(), a, b);
  }
  Value Area(const Box& box) {
    return Make<arith::MulFOp>(Make<arith::SubFOp>(box.high_y, box.low_y), Make<arith::SubFOp>(box.high_x, box.low_x));
  }
  Value Min(Value a, Value b) { return e_.Select(Greater(a, b), b, a); }
  Value Max(Value a, Value b) { return e_.Select(Greater(b, a), b, a); }

  Emitter& e_;
  const Buffer& boxes_;
  bool center_;
};

}  // namespace

// Of each batch and class: what passes the score threshold, sorted by score, then from the best on what overlaps none
// of those taken before.
absl::Status EmitNonMaxSuppression(KernelContext& context, nn::NonMaxSuppressionOp op) {
  Emitter& e = context.emitter;
  Integers integers(e);
  Boxes boxes(context, op);
  auto shape = ShapeOf(op.getScores());
  const int64_t batches = shape[0], classes = shape[1], count = shape[2], room = ShapeOf(op.getSelected())[0];
  const Buffer& scores = context.evaluator.BufferOf(op.getScores());
  mlir::Type i64 = e.builder().getI64Type(), index_type = e.builder().getIndexType();
  const Buffer candidates = context.Scratch(context.plan.list_offsets[0], count, i64);
  // While sorting: room for merging. Then the boxes taken of this class.
  const Buffer taken = context.Scratch(context.plan.list_offsets[1], count, i64);
  Value zero = e.Constant(0);
  auto parameter = [&](Value operand) -> Value {
    return operand ? e.Load(context.evaluator.BufferOf(operand), zero, 1, 1) : Value();
  };
  Value iou = parameter(op.getIouThreshold()), least = parameter(op.getScoreThreshold());
  if (!iou) iou = e.Zero(e.builder().getF32Type(), 1);
  Value limit = integers.Load(context.evaluator.BufferOf(op.getLimit()), zero);
  const Buffer* selected = context.ResultOf(op.getSelected());

  // Selects from one class; gives the number of boxes selected so far.
  auto select = [&](Value batch, Value category, Value done) -> Value {
    Value line = e.Mul(e.Add(e.Mul(batch, classes), category), count);
    auto score = [&](Value i) { return e.Load(scores, e.Add(line, i), 1, 1); };
    Value passing = e.Fold(zero, e.Constant(count), {zero}, [&](Value i, mlir::ValueRange found) {
      Value x = score(i);
      Value passes = least ? boxes.Greater(x, least)
                           : Value(arith::CmpFOp::create(e.builder(), e.location(), arith::CmpFPredicate::ORD, x, x));
      // The list is as long as what was visited: writing ahead of its end is harmless.
      integers.Store(i, &candidates, found[0]);
      return Values{e.Select(passes, e.Add(found[0], 1), found[0])};
    })[0];
    SortIndices(e, passing, count, candidates, taken, [&](Value a, Value b) {
      // By falling score; the sort keeps the order of equal ones.
      return boxes.Greater(score(a), score(b));
    });
    Value first_box = e.Mul(batch, count);
    return e.Fold(zero, passing, {zero, done}, [&](Value k, mlir::ValueRange so_far) {
      Value has_room = e.And(e.Less(so_far[0], limit), e.Less(so_far[1], e.Constant(room)));
      return e.If(
          has_room, so_far.getTypes(),
          [&] {
            Value candidate = integers.Load(candidates, k);
            const Box box = boxes.Load(e.Add(first_box, candidate));
            Value none = e.IntConstant(e.builder().getI1Type(), 0, 1);
            Value hidden = e.Fold(zero, so_far[0], {none}, [&](Value t, mlir::ValueRange before) {
              const Box other = boxes.Load(e.Add(first_box, integers.Load(taken, t)));
              Value overlaps = boxes.Overlap(box, other, iou);
              return Values{arith::OrIOp::create(e.builder(), e.location(), before[0], overlaps)};
            })[0];
            return e.If(
                hidden, {index_type, index_type},
                [&] {
                  return Values{so_far[0], so_far[1]};
                },
                [&] {
                  integers.Store(candidate, &taken, so_far[0]);
                  Value row = e.Mul(so_far[1], 3);
                  integers.Store(batch, selected, row);
                  integers.Store(category, selected, e.Add(row, 1));
                  integers.Store(candidate, selected, e.Add(row, 2));
                  return Values{e.Add(so_far[0], 1), e.Add(so_far[1], 1)};
                });
          },
          [&] {
            return Values{so_far[0], so_far[1]};
          });
    })[1];
  };
  Value found = e.Fold(zero, e.Constant(batches), {zero}, [&](Value batch, mlir::ValueRange outer) {
    return e.Fold(zero, e.Constant(classes), outer,
                  [&](Value category, mlir::ValueRange inner) { return Values{select(batch, category, inner[0])}; });
  })[0];
  integers.Clear(selected, e.Mul(found, 3), room * 3);
  integers.Store(found, context.ResultOf(op.getCount()), zero);
  return absl::OkStatus();
}

absl::Status EmitPack(KernelContext& context, nn::PackOp op) {
  Emitter& e = context.emitter;
  Integers integers(e);
  auto shape = ShapeOf(op.getInput());
  const Buffer& input = context.evaluator.BufferOf(op.getInput());
  const Buffer& result = context.results[0];
  Values sizes;
  for (size_t d = 0; d < shape.size(); ++d)
    sizes.push_back(e.Min(integers.Load(context.evaluator.BufferOf(op.getDims()), e.Constant(static_cast<int64_t>(d))),
                          e.Constant(shape[d])));
  // `next` is where the next element goes.
  std::function<Value(size_t, Value, Value)> copy = [&](size_t depth, Value position, Value next) -> Value {
    if (depth == shape.size()) {
      e.Store(e.Load(input, position, 1, 1), result, next, 1, 1);
      return e.Add(next, 1);
    }
    return e.Fold(e.Constant(0), sizes[depth], {next}, [&](Value i, mlir::ValueRange so_far) {
      return Values{copy(depth + 1, e.Add(e.Mul(position, shape[depth]), i), so_far[0])};
    })[0];
  };
  Value end = copy(0, e.Constant(0), e.Constant(0));
  Value nothing = e.Zero(e.ComputeType(result.element), 1);
  e.For(end, e.Constant(Elements(op.getInput())), 1, [&](Value i) { e.Store(nothing, result, i, 1, 1); });
  return absl::OkStatus();
}

}  // namespace aot::codegen
