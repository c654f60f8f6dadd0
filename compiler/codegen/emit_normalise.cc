// Softmax and normalisations: passes over rows.
#include "compiler/codegen/elementwise.h"
#include "compiler/codegen/kernel_context.h"
#include "compiler/codegen/math_backend.h"
#include "compiler/codegen/rows.h"
#include "compiler/math/functions.h"

namespace aot::codegen {
namespace arith = mlir::arith;
namespace {

using Values = llvm::SmallVector<Value>;

// Sums of step over a row.
Value Sum(Rows& rows, Emitter& e, mlir::Type compute, const Indices& at, int lanes,
          llvm::function_ref<Value(const Indices&, Value, int)> term) {
  return rows.Fold(
      at, lanes, [&](int width) { return Values{e.Zero(compute, width)}; },
      [&](const Indices& index, Value linear, int width, mlir::ValueRange carried) {
        return Values{EmitAdd(e, carried[0], term(index, linear, width))};
      },
      [&](mlir::ValueRange a, mlir::ValueRange b) { return Values{EmitAdd(e, a[0], b[0])}; })[0];
}

template <typename Op>
Value Make(Emitter& e, Value a, Value b) {
  return Op::create(e.builder(), e.location(), a, b);
}

}  // namespace

absl::Status EmitSoftmax(KernelContext& context, mlir::Operation* op) {
  Emitter& e = context.emitter;
  Value input = op->getOperand(0), result = op->getResult(0);
  auto type = nn::TensorTypeOf(input);
  mlir::Type element = type.getElementType(), f32 = e.builder().getF32Type();
  if (e.ComputeType(element) != f32 && !element.isF64()) return absl::UnimplementedError("softmax needs a float type");
  mlir::Type compute = e.ComputeType(element);
  int64_t axis = op->getAttrOfType<mlir::IntegerAttr>("axis").getInt();
  Rows rows(context.evaluator, type.getShape(), {axis}, element);
  bool is_log = llvm::isa<nn::LogSoftmaxOp>(op), is_hard = llvm::isa<nn::HardmaxOp>(op);
  auto exp = [&](Value x, int lanes) {
    return EmitMath(
        e, compute, lanes, [](auto& backend, Value v) { return math::ExpOfNegative(backend, v); }, x);
  };
  Buffer kept;  // e^(x - max) of the row
  bool keep = llvm::isa<nn::SoftmaxOp>(op);
  if (keep) kept = context.Scratch(context.plan.input_offset, rows.elements_per_row() * 16, compute);
  rows.ForEach([&](const Indices& at, int lanes) {
    double infinity = std::numeric_limits<double>::infinity();
    Value largest = rows.Fold(
        at, lanes, [&](int width) { return Values{e.FloatConstant(compute, -infinity, width)}; },
        [&](const Indices& index, Value, int width, mlir::ValueRange carried) {
          return Values{EmitMax(e, context.evaluator.Evaluate(input, index, width), carried[0], element)};
        },
        [&](mlir::ValueRange a, mlir::ValueRange b) { return Values{EmitMax(e, a[0], b[0], element)}; })[0];
    auto finish = [&](const Indices& index, int width, Value value) {
      context.evaluator.BindElement(result, value);
      context.StoreResults(index, width);
      context.evaluator.UnbindElements();
    };
    if (is_hard) {
      // The first position of the largest element.
      Value count = e.Constant(rows.elements_per_row());
      Value first = rows.Fold(
          at, lanes, [&](int width) { return Values{e.Splat(count, width)}; },
          [&](const Indices& index, Value linear, int width, mlir::ValueRange carried) {
            Value x = context.evaluator.Evaluate(input, index, width);
            Value here =
                arith::CmpFOp::create(e.builder(), e.location(), arith::CmpFPredicate::OEQ, x, e.Splat(largest, width));
            // A NaN is the largest element; then nothing compares equal to it.
            Value nan = arith::CmpFOp::create(e.builder(), e.location(), arith::CmpFPredicate::UNO, x, x);
            here = arith::OrIOp::create(e.builder(), e.location(), here, nan);
            Value position =
                rows.lanes_along_row() ? e.LaneVector({linear, width > 1 ? 1 : 0}, width) : e.Splat(linear, width);
            Value candidate = arith::SelectOp::create(e.builder(), e.location(), here, position, e.Splat(count, width));
            return Values{Make<arith::MinSIOp>(e, candidate, carried[0])};
          },
          [&](mlir::ValueRange a, mlir::ValueRange b) { return Values{Make<arith::MinSIOp>(e, a[0], b[0])}; })[0];
      rows.Visit(at, lanes, [&](const Indices& index, Value linear, int width) {
        Value position =
            rows.lanes_along_row() ? e.LaneVector({linear, width > 1 ? 1 : 0}, width) : e.Splat(linear, width);
        Value here =
            arith::CmpIOp::create(e.builder(), e.location(), arith::CmpIPredicate::eq, position, e.Splat(first, width));
        finish(index, width,
               arith::SelectOp::create(e.builder(), e.location(), here, e.FloatConstant(compute, 1, width),
                                       e.Zero(compute, width)));
      });
      return;
    }
    auto shifted = [&](const Indices& index, int width) {
      return Make<arith::SubFOp>(e, context.evaluator.Evaluate(input, index, width), e.Splat(largest, width));
    };
    // Position of an element in the kept row: neighbouring rows lie side by side.
    auto slot = [&](Value linear) { return rows.lanes_along_row() ? linear : e.Mul(linear, lanes); };
    Value sum = Sum(rows, e, compute, at, lanes, [&](const Indices& index, Value linear, int width) {
      Value power = exp(shifted(index, width), width);
      if (keep) e.Store(power, kept, slot(linear), 1, width);
      return power;
    });
    if (is_log) {
      Value log = EmitMath(
          e, compute, lanes, [](auto& backend, Value v) { return math::Log(backend, v); }, sum);
      rows.Visit(at, lanes, [&](const Indices& index, Value, int width) {
        finish(index, width, Make<arith::SubFOp>(e, shifted(index, width), e.Splat(log, width)));
      });
      return;
    }
    Value scale = Make<arith::DivFOp>(e, e.FloatConstant(compute, 1, lanes), sum);
    rows.Visit(at, lanes, [&](const Indices& index, Value linear, int width) {
      finish(index, width, EmitMul(e, e.Load(kept, slot(linear), 1, width), e.Splat(scale, width)));
    });
  });
  return absl::OkStatus();
}

absl::Status EmitNorm(KernelContext& context, mlir::Operation* op) {
  Emitter& e = context.emitter;
  Value input = op->getOperand(0), result = op->getResult(0), scale, bias;
  auto type = nn::TensorTypeOf(input);
  mlir::Type element = type.getElementType(), compute = e.ComputeType(element);
  if (!llvm::isa<mlir::FloatType>(compute)) return absl::UnimplementedError("normalisation needs a float type");
  llvm::SmallVector<int64_t> reduced;
  bool subtract_mean = true, per_channel = false;
  if (auto layer = llvm::dyn_cast<nn::LayerNormOp>(op)) {
    scale = layer.getScale();
    bias = layer.getBias();
    for (int64_t d = layer.getAxis(); d < type.getRank(); ++d) reduced.push_back(d);
  } else if (auto rms = llvm::dyn_cast<nn::RmsNormOp>(op)) {
    scale = rms.getScale();
    subtract_mean = false;
    for (int64_t d = rms.getAxis(); d < type.getRank(); ++d) reduced.push_back(d);
  } else {
    auto instance = llvm::cast<nn::InstanceNormOp>(op);
    scale = instance.getScale();
    bias = instance.getBias();
    per_channel = true;
    for (int64_t d = 2; d < type.getRank(); ++d) reduced.push_back(d);
  }
  double epsilon = op->getAttrOfType<mlir::FloatAttr>("epsilon").getValueAsDouble();
  Rows rows(context.evaluator, type.getShape(), reduced, element);
  // scale and bias: [C] at the channel, or broadcast to the input.
  auto parameter = [&](Value value, const Indices& index, int width) {
    Indices at;
    if (per_channel) {
      at = {index[1]};
    } else {
      auto shape = nn::TensorTypeOf(value).getShape();
      size_t skip = index.size() - shape.size();
      for (size_t d = 0; d < shape.size(); ++d)
        at.push_back(shape[d] == 1 ? LaneIndex{e.Constant(0), 0} : index[d + skip]);
    }
    return EmitCast(e, context.evaluator.Evaluate(value, at, width), nn::TensorTypeOf(value).getElementType(), compute,
                    width);
  };
  rows.ForEach([&](const Indices& at, int lanes) {
    Value count = e.FloatConstant(compute, static_cast<double>(rows.elements_per_row()), lanes), mean;
    if (subtract_mean) {
      Value sum = Sum(rows, e, compute, at, lanes, [&](const Indices& index, Value, int width) {
        return context.evaluator.Evaluate(input, index, width);
      });
      mean = Make<arith::DivFOp>(e, sum, count);
    }
    auto centred = [&](const Indices& index, int width) {
      Value x = context.evaluator.Evaluate(input, index, width);
      return mean ? Make<arith::SubFOp>(e, x, e.Splat(mean, width)) : x;
    };
    Value squares = Sum(rows, e, compute, at, lanes, [&](const Indices& index, Value, int width) {
      Value x = centred(index, width);
      return EmitMul(e, x, x);
    });
    Value variance = EmitAdd(e, Make<arith::DivFOp>(e, squares, count), e.FloatConstant(compute, epsilon, lanes));
    Value deviation = mlir::math::SqrtOp::create(e.builder(), e.location(), variance);
    Value factor = Make<arith::DivFOp>(e, e.FloatConstant(compute, 1, lanes), deviation);
    rows.Visit(at, lanes, [&](const Indices& index, Value, int width) {
      Value value = EmitMul(e, centred(index, width), e.Splat(factor, width));
      if (scale) value = EmitMul(e, value, parameter(scale, index, width));
      if (bias) value = EmitAdd(e, value, parameter(bias, index, width));
      context.evaluator.BindElement(result, value);
      context.StoreResults(index, width);
      context.evaluator.UnbindElements();
    });
  });
  return absl::OkStatus();
}

absl::Status EmitLrn(KernelContext& context, nn::LrnOp op) {
  Emitter& e = context.emitter;
  auto type = nn::TensorTypeOf(op.getInput());
  auto shape = type.getShape();
  mlir::Type compute = e.ComputeType(type.getElementType());
  int64_t size = op.getSize(), before = (size - 1) / 2, after = size - 1 - before;
  e.Nest(shape.drop_back(), [&](llvm::ArrayRef<Value> outer) {
    e.Vectors(shape.back(), shape.size() == 2 ? 1 : e.Lanes(compute), [&](Value start, int lanes) {
      Indices index;
      for (Value iv : outer) index.push_back({iv, 0});
      index.push_back({start, lanes > 1 ? 1 : 0});
      Value channel = index[1].base;
      Value first = e.Max(e.Add(channel, -before), e.Constant(0));
      Value last = e.Min(e.Add(channel, after + 1), e.Constant(shape[1]));
      Value sum = e.Fold(first, last, e.Zero(compute, lanes), [&](Value c, mlir::ValueRange carried) {
        Indices neighbour = index;
        neighbour[1].base = c;
        Value x = context.evaluator.Evaluate(op.getInput(), neighbour, lanes);
        return Values{e.MulAdd(x, x, carried[0])};
      })[0];
      auto divided = [&](auto& b, Value x, Value squares) {
        Value alpha = b.Constant(op.getAlpha().convertToDouble() / static_cast<double>(size));
        Value base = b.MulAdd(squares, alpha, b.Constant(op.getBias().convertToDouble()));
        return b.Div(x, math::Pow(b, base, b.Constant(op.getBeta().convertToDouble())));
      };
      Value x = context.evaluator.Evaluate(op.getInput(), index, lanes);
      Value value = EmitMath(e, compute, lanes, divided, x, sum);
      context.evaluator.BindElement(op.getResult(), value);
      context.StoreResults(index, lanes);
      context.evaluator.UnbindElements();
    });
  });
  return absl::OkStatus();
}

}  // namespace aot::codegen
