#include "compiler/codegen/sort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace aot::codegen {
namespace arith = mlir::arith;
namespace {

using Values = llvm::SmallVector<Value>;

}  // namespace

// Merges neighbouring runs of 1, 2, 4... elements, bottom up.
void SortIndices(Emitter& e, Value count, int64_t most, const Buffer& order, const Buffer& room,
                 llvm::function_ref<Value(Value, Value)> before) {
  int64_t levels = 0;
  while (levels < 62 && (int64_t{1} << levels) < most) ++levels;
  auto& builder = e.builder();
  mlir::Location loc = e.location();
  mlir::Type index = builder.getIndexType();
  auto add = [&](Value a, Value b) { return e.Add(a, b); };
  auto load = [&](Value at) -> Value {
    return arith::IndexCastOp::create(builder, loc, index, e.Load(order, at, 1, 1));
  };
  // One level: runs of `width` elements become runs of twice as many.
  auto merge_level = [&](Value width) {
    Value pair = add(width, width);
    Value pairs = arith::CeilDivUIOp::create(builder, loc, count, pair);
    e.For(e.Constant(0), pairs, 1, [&](Value number) {
      Value low = arith::MulIOp::create(builder, loc, number, pair);
      Value middle = e.Min(add(low, width), count), high = e.Min(add(low, pair), count);
      e.Fold(low, high, {low, middle}, [&](Value to, mlir::ValueRange heads) {
        Value left = heads[0], right = heads[1];
        Value has_left = e.Less(left, middle), has_right = e.Less(right, high);
        // From the right only if it must come first, so that equal ones keep their order.
        Value from_right = e.If(
            e.And(has_left, has_right), {builder.getI1Type()}, [&] { return Values{before(load(right), load(left))}; },
            [&] { return Values{has_right}; })[0];
        Value from = e.Select(from_right, right, left);
        e.Store(e.Load(order, from, 1, 1), room, to, 1, 1);
        return Values{e.Select(from_right, left, add(left, e.Constant(1))),
                      e.Select(from_right, add(right, e.Constant(1)), right)};
      });
    });
    e.For(e.Constant(0), count, 1, [&](Value i) { e.Store(e.Load(room, i, 1, 1), order, i, 1, 1); });
  };
  e.Fold(e.Constant(0), e.Constant(levels), {e.Constant(1)}, [&](Value level, mlir::ValueRange width) {
    e.If(
        e.Less(width[0], count), {},
        [&] {
          merge_level(width[0]);
          return Values{};
        },
        [] { return Values{}; });
    return Values{add(width[0], width[0])};
  });
}

}  // namespace aot::codegen
