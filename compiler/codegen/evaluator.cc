#include "compiler/codegen/evaluator.h"

#include <cmath>

#include "compiler/codegen/elementwise.h"
#include "compiler/codegen/resize_taps.h"
#include "compiler/ir/attributes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace aot::codegen {
namespace arith = mlir::arith;
namespace {

llvm::ArrayRef<int64_t> ShapeOf(Value value) { return nn::TensorTypeOf(value).getShape(); }
mlir::Type ElementOf(Value value) { return nn::TensorTypeOf(value).getElementType(); }

bool IsUniform(const Indices& index) {
  for (const LaneIndex& i : index)
    if (i.step != 0) return false;
  return true;
}

Indices AtLane(Emitter& e, const Indices& index, int lane) {
  Indices at;
  for (const LaneIndex& i : index) at.push_back({e.Add(i.base, i.step * lane), 0});
  return at;
}

}  // namespace

void Evaluator::BindElement(Value value, Value element) {
  elements_[value] = RoundTo(ElementOf(value), element);
  ++epoch_;
}

// Floats below 32 bits are computed as f32 but every operation's result has the precision of its type, fused or not.
Value Evaluator::RoundTo(mlir::Type element, Value value) {
  if (!llvm::isa<mlir::FloatType>(element) || e_.ComputeType(element) == element) return value;
  auto vector = llvm::dyn_cast<mlir::VectorType>(value.getType());
  int lanes = vector ? static_cast<int>(vector.getNumElements()) : 1;
  return e_.Widen(e_.Narrow(value, element, lanes), element, lanes);
}

bool Evaluator::IsMap(mlir::Operation* op) {
  return op->hasTrait<nn::Elementwise>() || op->hasTrait<nn::DataMovement>() ||
         llvm::isa<nn::ConstantOp, nn::GatherOp, nn::GatherElementsOp, nn::GatherNdOp, nn::OneHotOp, nn::ResizeOp,
                   nn::QuantizeOp, nn::DequantizeOp>(op);
}

LaneIndex Evaluator::Position(llvm::ArrayRef<int64_t> shape, const Indices& index) {
  LaneIndex position{e_.Constant(0), 0};
  int64_t stride = 1;
  // From the inside out: the outer terms change least, so sums are shared between neighbours.
  llvm::SmallVector<Value> terms;
  for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
    terms.push_back(e_.Mul(index[d].base, stride));
    position.step += index[d].step * stride;
    stride *= shape[d];
  }
  for (Value term : llvm::reverse(terms)) position.base = e_.Add(position.base, term);
  return position;
}

Value Evaluator::Evaluate(Value value, const Indices& index, int lanes) {
  auto bound = elements_.find(value);
  if (bound != elements_.end()) return bound->second;
  Emitter::MemoKey key = {lanes, epoch_, reinterpret_cast<int64_t>(value.getAsOpaquePointer())};
  for (const LaneIndex& i : index) {
    key.push_back(reinterpret_cast<int64_t>(i.base.getAsOpaquePointer()));
    key.push_back(i.step);
  }
  if (Value known = e_.Recall(key)) return known;
  Value made;
  auto buffer = buffers_.find(value);
  if (buffer != buffers_.end()) {
    LaneIndex position = Position(ShapeOf(value), index);
    made = e_.Load(buffer->second, position.base, position.step, lanes);
  } else {
    made = Compute(value.getDefiningOp(), index, lanes);
  }
  e_.Remember(key, made);
  return made;
}

void Evaluator::Prefetch(Value value, const Indices& index, llvm::DenseSet<Value>& seen) {
  if (!seen.insert(value).second) return;
  auto buffer = buffers_.find(value);
  if (buffer != buffers_.end()) {
    e_.Prefetch(buffer->second, Position(ShapeOf(value), index).base);
    return;
  }
  mlir::Operation* op = value.getDefiningOp();
  if (!op || !op->hasTrait<nn::Elementwise>()) return;
  for (Value operand : op->getOperands())
    if (ShapeOf(operand) == ShapeOf(value)) Prefetch(operand, index, seen);
}

Value Evaluator::Scalarise(Value value, const Indices& index, int lanes) {
  llvm::SmallVector<Value> scalars;
  for (int lane = 0; lane < lanes; ++lane) scalars.push_back(Evaluate(value, AtLane(e_, index, lane), 1));
  return e_.FromLanes(scalars);
}

Indices Evaluator::BroadcastIndex(Value operand, const Indices& index) {
  auto shape = ShapeOf(operand);
  Indices at;
  size_t skip = index.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d)
    at.push_back(shape[d] == 1 ? LaneIndex{e_.Constant(0), 0} : index[d + skip]);
  return at;
}

Value Evaluator::Compute(mlir::Operation* op, const Indices& index, int lanes) {
  if (op->hasTrait<nn::Elementwise>()) {
    llvm::SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(Evaluate(operand, BroadcastIndex(operand, index), lanes));
    Value result = EmitElementwise(e_, op, operands, lanes);
    // A conversion has rounded already.
    return llvm::isa<nn::CastOp>(op) || !result ? result : RoundTo(ElementOf(op->getResult(0)), result);
  }
  // Movement whose lanes all read one element is done once.
  if (lanes > 1 && IsUniform(index)) return e_.Splat(Evaluate(op->getResult(0), index, 1), lanes);
  return llvm::TypeSwitch<mlir::Operation*, Value>(op)
      .Case([&](nn::ConstantOp c) { return EvaluateConstant(c, index, lanes); })
      .Case([&](nn::ReshapeOp r) { return Reshape(r, index, lanes); })
      .Case([&](nn::TransposeOp t) {
        Indices at(index.size());
        for (auto [i, p] : llvm::enumerate(t.getPerm())) at[p] = index[i];
        return Evaluate(t.getInput(), at, lanes);
      })
      .Case([&](nn::BroadcastOp b) { return Evaluate(b.getInput(), BroadcastIndex(b.getInput(), index), lanes); })
      .Case([&](nn::SliceOp s) {
        Indices at;
        for (auto [i, start, step] : llvm::zip(index, s.getStarts(), s.getSteps()))
          at.push_back({e_.Add(e_.Mul(i.base, step), start), i.step * step});
        return Evaluate(s.getInput(), at, lanes);
      })
      .Case([&](nn::ConcatOp c) { return Concat(c, index, lanes); })
      .Case([&](nn::PadOp p) { return Pad(p, index, lanes); })
      .Case([&](nn::GatherOp g) { return Gather(g, index, lanes); })
      .Case([&](nn::GatherElementsOp g) { return GatherElements(g, index, lanes); })
      .Case([&](nn::GatherNdOp g) { return GatherNd(g, index, lanes); })
      .Case([&](nn::OneHotOp o) { return OneHot(o, index, lanes); })
      .Case([&](nn::ResizeOp r) { return Resize(r, index, lanes); })
      .Case([&](nn::QuantizeOp q) { return Quantize(q, index, lanes); })
      .Case([&](nn::DequantizeOp d) { return Dequantize(d, index, lanes); })
      .Default([](mlir::Operation*) { return Value(); });
}

Value Evaluator::EvaluateConstant(nn::ConstantOp op, const Indices& index, int lanes) {
  // Only splats stay inside groups (compiler/graph's fusion); larger constants are group operands.
  auto dense = llvm::cast<mlir::DenseElementsAttr>(op.getValue());
  mlir::Type element = dense.getElementType(), compute = e_.ComputeType(element);
  if (llvm::isa<mlir::FloatType>(element))
    return e_.FloatConstant(compute, dense.getSplatValue<llvm::APFloat>().convertToDouble(), lanes);
  return e_.IntConstant(compute, dense.getSplatValue<llvm::APInt>().getSExtValue(), lanes);
}

namespace {

bool IsOne(Value value) {
  auto constant = value.getDefiningOp<nn::ConstantOp>();
  auto dense = constant ? llvm::dyn_cast<mlir::DenseElementsAttr>(constant.getValue()) : mlir::DenseElementsAttr();
  return dense && dense.isSplat() && llvm::isa<mlir::FloatType>(dense.getElementType()) &&
         dense.getSplatValue<llvm::APFloat>().isExactlyValue(1.0);
}

}  // namespace

Value Evaluator::Reshape(nn::ReshapeOp op, const Indices& index, int lanes) {
  auto from = ShapeOf(op.getInput()), to = ShapeOf(op.getResult());
  auto delinearise = [&](llvm::ArrayRef<int64_t> shape, Value position) {
    Indices at(shape.size());
    for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
      at[d] = {d == 0 ? position : e_.Rem(position, shape[d]), 0};
      position = e_.Div(position, shape[d]);
    }
    return at;
  };
  // Dimensions of size 1 aside, the same shape: indices carry over with their lanes.
  auto dense_dims = [](llvm::ArrayRef<int64_t> shape) {
    llvm::SmallVector<size_t> dims;
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] != 1) dims.push_back(d);
    return dims;
  };
  auto from_dims = dense_dims(from), to_dims = dense_dims(to);
  bool same = from_dims.size() == to_dims.size();
  for (size_t i = 0; same && i < from_dims.size(); ++i) same = from[from_dims[i]] == to[to_dims[i]];
  if (same) {
    Indices at(from.size(), LaneIndex{e_.Constant(0), 0});
    for (size_t i = 0; i < from_dims.size(); ++i) at[from_dims[i]] = index[to_dims[i]];
    return Evaluate(op.getInput(), at, lanes);
  }
  if (lanes == 1) return Evaluate(op.getInput(), delinearise(from, Position(to, index).base), 1);
  // Lanes run along an equal innermost dimension: split off the others.
  bool inner_only = !from.empty() && from.back() == to.back();
  for (size_t d = 0; d + 1 < index.size(); ++d) inner_only &= index[d].step == 0;
  if (inner_only) {
    Indices outer(index.begin(), index.end() - 1);
    Indices at = delinearise(from.drop_back(), Position(to.drop_back(), outer).base);
    at.push_back(index.back());
    return Evaluate(op.getInput(), at, lanes);
  }
  return Scalarise(op.getResult(), index, lanes);
}

Value Evaluator::Concat(nn::ConcatOp op, const Indices& index, int lanes) {
  int64_t axis = op.getAxis();
  if (index[axis].step != 0) return Scalarise(op.getResult(), index, lanes);
  Value result;
  int64_t start = 0;
  if (auto position = e_.ConstantOf(index[axis].base)) {
    for (Value input : op.getInputs()) {
      int64_t size = ShapeOf(input)[axis];
      if (*position < start + size) {
        Indices at = index;
        at[axis].base = e_.Constant(*position - start);
        return Evaluate(input, at, lanes);
      }
      start += size;
    }
  }
  // Every operand is read at an index clamped into it; the one that holds the position is selected.
  start = 0;
  for (Value input : op.getInputs()) {
    int64_t size = ShapeOf(input)[axis];
    if (size == 0) continue;
    Indices at = index;
    Value local = e_.Add(index[axis].base, -start);
    at[axis].base = e_.Max(e_.Min(local, e_.Constant(size - 1)), e_.Constant(0));
    Value element = Evaluate(input, at, lanes);
    result = result ? e_.Select(e_.Less(index[axis].base, e_.Constant(start)), result, element) : element;
    start += size;
  }
  return result;
}

Value Evaluator::Pad(nn::PadOp op, const Indices& index, int lanes) {
  auto from = ShapeOf(op.getInput()), to = ShapeOf(op.getResult());
  for (size_t d = 0; d < from.size(); ++d) {
    bool moved = op.getBegins()[d] != 0 || from[d] != to[d];
    if (lanes > 1 && moved && index[d].step != 0) return Scalarise(op.getResult(), index, lanes);
  }
  mlir::Type element = ElementOf(op.getResult());
  Value padding = op.getValue() ? Evaluate(op.getValue(),
                                           Indices(ShapeOf(op.getValue()).size(), LaneIndex{e_.Constant(0), 0}), lanes)
                                : e_.Zero(e_.ComputeType(element), lanes);
  if (llvm::is_contained(from, 0)) return padding;
  Indices at = index;
  Value inside;
  for (size_t d = 0; d < from.size(); ++d) {
    int64_t begin = op.getBegins()[d], size = from[d];
    if (begin == 0 && size == to[d]) continue;
    Value position = e_.Add(index[d].base, -begin);
    Value last = e_.Constant(size - 1), zero = e_.Constant(0);
    if (op.getMode() == "constant") {
      Value clamped = e_.Max(e_.Min(position, last), zero);
      Value here = e_.Equal(clamped, position);
      inside = inside ? e_.And(inside, here) : here;
      position = clamped;
    } else if (op.getMode() == "edge") {
      position = e_.Max(e_.Min(position, last), zero);
    } else if (op.getMode() == "wrap") {
      // Shifted by enough whole periods to be non-negative.
      int64_t periods = (std::max<int64_t>(begin, 0) + size - 1) / size;
      position = e_.Rem(e_.Add(position, periods * size), size);
    } else {  // reflect: a triangle wave of period 2 (size - 1)
      int64_t period = std::max<int64_t>(1, 2 * (size - 1));
      int64_t periods = (std::max<int64_t>(begin, 0) + period - 1) / period;
      position = e_.Rem(e_.Add(position, periods * period), period);
      position = e_.Min(position, e_.Sub(e_.Constant(period), position));
      if (size == 1) position = zero;
    }
    at[d].base = position;
  }
  Value value = Evaluate(op.getInput(), at, lanes);
  return inside ? e_.Select(inside, value, padding) : value;
}

Value Evaluator::LoadIndex(Value indices, const Indices& at, int64_t size) {
  Value raw = Evaluate(indices, at, 1);
  auto& builder = e_.builder();
  mlir::Location loc = e_.location();
  mlir::Type element = ElementOf(indices);
  if (llvm::isa<mlir::FloatType>(element)) raw = EmitCast(e_, raw, element, builder.getI64Type(), 1);
  Value position = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), raw);
  position = e_.Select(e_.Less(position, e_.Constant(0)), e_.Add(position, size), position);
  return e_.Max(e_.Min(position, e_.Constant(size - 1)), e_.Constant(0));
}

Value Evaluator::Gather(nn::GatherOp op, const Indices& index, int lanes) {
  int64_t axis = op.getAxis();
  size_t rank = ShapeOf(op.getIndices()).size();
  Indices where(index.begin() + axis, index.begin() + axis + rank);
  if (!IsUniform(where)) return Scalarise(op.getResult(), index, lanes);
  Indices at(index.begin(), index.begin() + axis);
  at.push_back({LoadIndex(op.getIndices(), where, ShapeOf(op.getInput())[axis]), 0});
  at.append(index.begin() + axis + rank, index.end());
  return Evaluate(op.getInput(), at, lanes);
}

Value Evaluator::GatherElements(nn::GatherElementsOp op, const Indices& index, int lanes) {
  if (lanes > 1) return Scalarise(op.getResult(), index, lanes);
  Indices at = index;
  at[op.getAxis()].base = LoadIndex(op.getIndices(), index, ShapeOf(op.getInput())[op.getAxis()]);
  return Evaluate(op.getInput(), at, 1);
}

Value Evaluator::GatherNd(nn::GatherNdOp op, const Indices& index, int lanes) {
  auto index_shape = ShapeOf(op.getIndices()), input_shape = ShapeOf(op.getInput());
  size_t batch = op.getBatchDims(), outer = index_shape.size() - 1;
  int64_t depth = index_shape.back();
  Indices where(index.begin(), index.begin() + outer);
  if (!IsUniform(where)) return Scalarise(op.getResult(), index, lanes);
  Indices at(index.begin(), index.begin() + batch);
  for (int64_t k = 0; k < depth; ++k) {
    Indices tuple = where;
    tuple.push_back({e_.Constant(k), 0});
    at.push_back({LoadIndex(op.getIndices(), tuple, input_shape[batch + k]), 0});
  }
  at.append(index.begin() + outer, index.end());
  return Evaluate(op.getInput(), at, lanes);
}

Value Evaluator::OneHot(nn::OneHotOp op, const Indices& index, int lanes) {
  if (lanes > 1) return Scalarise(op.getResult(), index, lanes);
  int64_t axis = op.getAxis(), depth = ShapeOf(op.getResult())[axis];
  Indices where = index;
  where.erase(where.begin() + axis);
  auto& builder = e_.builder();
  Value raw = Evaluate(op.getIndices(), where, 1);
  mlir::Type element = ElementOf(op.getIndices());
  raw = EmitCast(e_, raw, element, builder.getI64Type(), 1);
  Value position = arith::IndexCastOp::create(builder, e_.location(), builder.getIndexType(), raw);
  position = e_.Select(e_.Less(position, e_.Constant(0)), e_.Add(position, depth), position);
  Value off = Evaluate(op.getOnOff(), {{e_.Constant(0), 0}}, 1), on = Evaluate(op.getOnOff(), {{e_.Constant(1), 0}}, 1);
  return e_.Select(e_.Equal(position, index[axis].base), on, off);
}

Value Evaluator::Resize(nn::ResizeOp op, const Indices& index, int lanes) {
  auto from = ShapeOf(op.getInput()), to = ShapeOf(op.getResult());
  // The taps of each resampled dimension come from tables made at compile time.
  struct Dimension {
    size_t d;
    int taps;
    Buffer indices, weights;
  };
  llvm::SmallVector<Dimension> dims;
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] == to[d] && op.getScales()[d] == 1.0f && op.getCoordinates() != "tf_crop_and_resize") continue;
    if (lanes > 1 && index[d].step != 0) return Scalarise(op.getResult(), index, lanes);
    ResizeTaps taps = MakeResizeTaps(op, d);
    dims.push_back({d, taps.count, TableOf(e_, taps.indices), TableOf(e_, taps.weights)});
  }
  bool nearest = op.getMode() == "nearest", crop = op.getCoordinates() == "tf_crop_and_resize";
  mlir::Type element = ElementOf(op.getInput()), compute = e_.ComputeType(element);
  Indices at = index;
  auto& builder = e_.builder();
  std::function<Value(size_t)> level = [&](size_t i) -> Value {
    if (i == dims.size()) return Evaluate(op.getInput(), at, lanes);
    const Dimension& dim = dims[i];
    Value row = e_.Mul(index[dim.d].base, dim.taps), sum;
    for (int tap = 0; tap < dim.taps; ++tap) {
      Value raw = e_.Load(dim.indices, e_.Add(row, tap), 0, 1);
      at[dim.d].base = arith::IndexCastOp::create(builder, e_.location(), builder.getIndexType(), raw);
      at[dim.d].step = 0;
      Value value = level(i + 1);
      if (nearest && !crop) return value;
      Value weight = e_.Load(dim.weights, e_.Add(row, tap), 0, 1);
      if (compute.isF64()) weight = arith::ExtFOp::create(builder, e_.location(), compute, weight);
      weight = e_.Splat(weight, lanes);
      // Integers are read at the innermost level and stay floats from there on.
      if (!llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(value.getType())))
        value = EmitCast(e_, value, element, builder.getF32Type(), lanes);
      sum = sum ? e_.MulAdd(value, weight, sum) : EmitMul(e_, value, weight);
    }
    return sum;
  };
  Value result = level(0);
  if (crop && !dims.empty()) {
    // Outside the input: the extrapolation value. A tap index of the table is never outside, its weight says so with
    // NaN.
    mlir::Type kind = mlir::getElementTypeOrSelf(result.getType());
    Value outside = arith::CmpFOp::create(builder, e_.location(), arith::CmpFPredicate::UNO, result, result);
    result =
        arith::SelectOp::create(builder, e_.location(), outside,
                                e_.FloatConstant(kind, op.getExtrapolationValue().convertToDouble(), lanes), result);
  }
  if (!llvm::isa<mlir::FloatType>(compute) && llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(result.getType())))
    result = EmitCast(e_, result, builder.getF32Type(), element, lanes);
  return result;
}

Value Evaluator::Quantize(nn::QuantizeOp op, const Indices& index, int lanes) {
  auto& builder = e_.builder();
  mlir::Location at = e_.location();
  mlir::Type f32 = builder.getF32Type(), i32 = builder.getI32Type(), to = ElementOf(op.getResult());
  auto integer = llvm::dyn_cast<mlir::IntegerType>(to);
  bool narrow = integer && integer.getWidth() <= 16, unscaled = IsOne(op.getScale());
  auto evaluate = [&](Value value, const Indices& where) {
    return EmitCast(e_, Evaluate(value, BroadcastIndex(value, where), lanes), ElementOf(value), f32, lanes);
  };
  // Rounded half to even by a sum whose last place is the ones: the number is in the lower bits, which are those kept.
  constexpr double kOnes = 0x1.8p23;
  Value scaled, sum;
  auto product = op.getInput().getDefiningOp<nn::MulOp>();
  if (narrow && op->hasAttr(nn::kRoundsOnce) && unscaled && product && product->hasOneUse() &&
      ElementOf(op.getInput()).isF32()) {
    Indices where = BroadcastIndex(op.getInput(), index);
    sum = e_.MulAdd(evaluate(product.getLhs(), where), evaluate(product.getRhs(), where),
                    e_.FloatConstant(f32, kOnes, lanes));
  } else {
    scaled = evaluate(op.getInput(), index);
    if (!unscaled) scaled = arith::DivFOp::create(builder, at, scaled, evaluate(op.getScale(), index));
  }
  Value zero;
  if (op.getZeroPoint()) zero = Evaluate(op.getZeroPoint(), BroadcastIndex(op.getZeroPoint(), index), lanes);
  if (!narrow) {
    Value rounded = integer ? Value(mlir::math::RoundEvenOp::create(builder, at, scaled)) : scaled;
    if (zero) rounded = EmitAdd(e_, rounded, EmitCast(e_, zero, to, f32, lanes));
    return EmitCast(e_, rounded, f32, to, lanes);  // saturates
  }
  if (!sum) sum = arith::AddFOp::create(builder, at, scaled, e_.FloatConstant(f32, kOnes, lanes));
  // NaN, which is greater than nothing, becomes the least.
  double least = integer.isUnsigned() ? 0 : -std::ldexp(1.0, static_cast<int>(integer.getWidth()) - 1);
  double most = std::ldexp(1.0, static_cast<int>(integer.getWidth()) - (integer.isUnsigned() ? 0 : 1)) - 1;
  Value low = e_.FloatConstant(f32, kOnes + least, lanes), high = e_.FloatConstant(f32, kOnes + most, lanes);
  if (zero) {
    Value shift = EmitCast(e_, zero, to, f32, lanes);
    low = builder.createOrFold<arith::SubFOp>(at, low, shift);
    high = builder.createOrFold<arith::SubFOp>(at, high, shift);
  }
  auto choose = [&](arith::CmpFPredicate predicate, Value a, Value b) -> Value {
    Value holds = arith::CmpFOp::create(builder, at, predicate, a, b);
    return arith::SelectOp::create(builder, at, holds, a, b);
  };
  Value limited = choose(arith::CmpFPredicate::OLT, choose(arith::CmpFPredicate::OGT, sum, low), high);
  Value number = arith::BitcastOp::create(builder, at, e_.VectorOf(i32, lanes), limited);
  if (zero) number = EmitAdd(e_, number, EmitCast(e_, zero, to, i32, lanes));
  return EmitCast(e_, number, i32, to, lanes);
}

Value Evaluator::Dequantize(nn::DequantizeOp op, const Indices& index, int lanes) {
  auto& builder = e_.builder();
  mlir::Type f32 = builder.getF32Type(), from = ElementOf(op.getInput());
  // Differences of integers are taken as integers, which is exact.
  bool real = llvm::isa<mlir::FloatType>(from);
  mlir::Type wide = real ? f32 : mlir::Type(builder.getI32Type());
  Value input = EmitCast(e_, Evaluate(op.getInput(), BroadcastIndex(op.getInput(), index), lanes), from, wide, lanes);
  if (op.getZeroPoint()) {
    Value zero = Evaluate(op.getZeroPoint(), BroadcastIndex(op.getZeroPoint(), index), lanes);
    zero = EmitCast(e_, zero, from, wide, lanes);
    input = real ? Value(arith::SubFOp::create(builder, e_.location(), input, zero))
                 : Value(arith::SubIOp::create(builder, e_.location(), input, zero));
  }
  Value scale = Evaluate(op.getScale(), BroadcastIndex(op.getScale(), index), lanes);
  return EmitMul(e_, EmitCast(e_, input, wide, f32, lanes), EmitCast(e_, scale, ElementOf(op.getScale()), f32, lanes));
}

}  // namespace aot::codegen
