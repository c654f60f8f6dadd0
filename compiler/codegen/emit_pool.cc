// Pooling: windows clipped to the input, vectors along channels (channels last) or single elements.
#include "compiler/codegen/elementwise.h"
#include "compiler/codegen/kernel_context.h"
#include "compiler/codegen/math_backend.h"
#include "compiler/math/functions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace aot::codegen {
namespace arith = mlir::arith;

namespace {

struct PoolShape {
  Value input;
  llvm::ArrayRef<int64_t> kernel, strides, pads, dilations;
  bool channels_last;
};

template <typename Op>
PoolShape ShapeOfPool(Op op) {
  return {op.getInput(), op.getKernel(), op.getStrides(), op.getPads(), op.getDilations(), op.getChannelsLast()};
}

// First and one past the last tap of a window whose cells lie in [low, high).
std::pair<Value, Value> TapRange(Emitter& e, Value origin, int64_t kernel, int64_t dilation, int64_t low,
                                 int64_t high) {
  // tap >= ceil((low - origin) / dilation); operands of Div are kept non-negative.
  Value below = e.Max(e.Sub(e.Constant(low), origin), e.Constant(0));
  Value first = e.Div(e.Add(below, dilation - 1), dilation);
  Value room = e.Max(e.Sub(e.Constant(high), origin), e.Constant(0));
  Value last = e.Min(e.Div(e.Add(room, dilation - 1), dilation), e.Constant(kernel));
  return {first, last};
}

}  // namespace

absl::Status EmitPool(KernelContext& context, mlir::Operation* op) {
  Emitter& e = context.emitter;
  auto max_pool = llvm::dyn_cast<nn::MaxPoolOp>(op);
  auto avg_pool = llvm::dyn_cast<nn::AvgPoolOp>(op);
  auto lp_pool = llvm::dyn_cast<nn::LpPoolOp>(op);
  PoolShape pool = max_pool ? ShapeOfPool(max_pool) : avg_pool ? ShapeOfPool(avg_pool) : ShapeOfPool(lp_pool);
  mlir::Type element = nn::TensorTypeOf(op->getResult(0)).getElementType(), compute = e.ComputeType(element);
  if (!max_pool && !llvm::isa<mlir::FloatType>(compute))
    return absl::UnimplementedError("average and Lp pooling need a float type");
  auto in_shape = nn::TensorTypeOf(pool.input).getShape(), shape = nn::TensorTypeOf(op->getResult(0)).getShape();
  size_t spatial = shape.size() - 2, first_spatial = pool.channels_last ? 1 : 2;
  auto& builder = e.builder();
  mlir::Location at = e.location();
  // Higher powers leave float32's range where their root is well inside.
  mlir::Type given = compute;
  bool powers = lp_pool && lp_pool.getP() > 2;
  if (powers) compute = builder.getF64Type();
  auto pow = [](auto& b, Value x, Value y) { return math::Pow(b, x, y); };

  auto initial = [&](int lanes) -> Value {
    if (!max_pool) return e.Zero(compute, lanes);
    if (llvm::isa<mlir::FloatType>(compute))
      return e.FloatConstant(compute, -std::numeric_limits<double>::infinity(), lanes);
    auto integer = llvm::cast<mlir::IntegerType>(element);
    return e.IntConstant(compute, integer.isUnsigned() ? 0 : int64_t(-1) << (integer.getWidth() - 1), lanes);
  };

  int lanes = pool.channels_last ? e.Lanes(element) : 1;
  int64_t inner = shape.back();
  e.Nest(shape.drop_back(), [&](llvm::ArrayRef<Value> outer) {
    e.Vectors(inner, lanes, [&](Value start, int width) {
      llvm::SmallVector<Value> out(outer.begin(), outer.end());
      out.push_back(start);
      Indices index;
      for (Value iv : out) index.push_back({iv, 0});
      index.back().step = 1;
      llvm::SmallVector<Value> origins;
      llvm::SmallVector<std::pair<Value, Value>> ranges;
      Value cells = e.Constant(1);
      for (size_t d = 0; d < spatial; ++d) {
        int64_t size = in_shape[first_spatial + d];
        Value origin = e.Add(e.Mul(out[first_spatial + d], pool.strides[d]), -pool.pads[d]);
        origins.push_back(origin);
        ranges.push_back(TapRange(e, origin, pool.kernel[d], pool.dilations[d], 0, size));
        if (!avg_pool) continue;
        auto counted = avg_pool.getCountIncludePad() ? TapRange(e, origin, pool.kernel[d], pool.dilations[d],
                                                                -pool.pads[d], size + pool.pads[d + spatial])
                                                     : ranges.back();
        Value count = e.Sub(counted.second, counted.first);
        auto a = e.ConstantOf(cells);
        cells = a && *a == 1 ? count : Value(arith::MulIOp::create(builder, at, cells, count));
      }
      Indices source = index;
      std::function<llvm::SmallVector<Value>(size_t, mlir::ValueRange)> level = [&](size_t d,
                                                                                    mlir::ValueRange carried) {
        if (d == spatial) {
          Value x = context.evaluator.Evaluate(pool.input, source, width);
          if (max_pool) return llvm::SmallVector<Value>{EmitMax(e, x, carried[0], element)};
          if (avg_pool) return llvm::SmallVector<Value>{EmitAdd(e, carried[0], x)};
          Value power = mlir::math::AbsFOp::create(builder, at, x);
          if (powers) {
            Value exponent = e.FloatConstant(compute, static_cast<double>(lp_pool.getP()), width);
            power = EmitMath(e, compute, width, pow, EmitCast(e, power, given, compute, width), exponent);
          } else if (lp_pool.getP() == 2) {
            power = EmitMul(e, power, power);
          }
          return llvm::SmallVector<Value>{EmitAdd(e, carried[0], power)};
        }
        return e.Fold(ranges[d].first, ranges[d].second, carried, [&](Value tap, mlir::ValueRange inside) {
          source[first_spatial + d].base = e.Add(origins[d], e.Mul(tap, pool.dilations[d]));
          return level(d + 1, inside);
        });
      };
      Value result = level(0, initial(width))[0];
      if (avg_pool) {
        Value count = arith::IndexCastOp::create(builder, at, builder.getI32Type(), cells);
        Value divisor = arith::SIToFPOp::create(builder, at, compute, count);
        result = arith::DivFOp::create(builder, at, result, e.Splat(divisor, width));
      } else if (lp_pool && lp_pool.getP() == 2) {
        result = mlir::math::SqrtOp::create(builder, at, result);
      } else if (powers) {
        Value inverse = e.FloatConstant(compute, 1 / static_cast<double>(lp_pool.getP()), width);
        result = EmitCast(e, EmitMath(e, compute, width, pow, result, inverse), compute, given, width);
      }
      context.evaluator.BindElement(op->getResult(0), result);
      context.StoreResults(index, width);
      context.evaluator.UnbindElements();
    });
  });
  return absl::OkStatus();
}

}  // namespace aot::codegen
