// Verifiers: what an operation's operands, attributes and result type must agree on.
#include "compiler/ir/NnDialect.h"

namespace aot::nn {
namespace {

using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

LogicalResult VerifyBroadcast(mlir::Operation* op) {
  llvm::SmallVector<int64_t> shape;
  for (mlir::Value operand : op->getOperands()) {
    auto joined = BroadcastShapes(shape, TensorTypeOf(operand).getShape());
    if (failed(joined)) return op->emitOpError("operands don't broadcast: ") << operand.getType();
    shape = *joined;
  }
  auto result = TensorTypeOf(op->getResult(0));
  if (llvm::ArrayRef<int64_t>(shape) != result.getShape())
    return op->emitOpError("result ") << result << " is not the broadcast of the operands";
  return success();
}

int64_t Count(mlir::Value value) { return TensorTypeOf(value).getNumElements(); }

LogicalResult SameElementType(mlir::Operation* op, mlir::Value a, mlir::Value b) {
  if (TensorTypeOf(a).getElementType() != TensorTypeOf(b).getElementType())
    return op->emitOpError("element types differ: ") << a.getType() << " and " << b.getType();
  return success();
}

LogicalResult VerifyReduce(mlir::Operation* op, mlir::Value input, llvm::ArrayRef<int64_t> axes, mlir::Value result) {
  llvm::SmallVector<int64_t> shape(TensorTypeOf(input).getShape());
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
      return op->emitOpError("axis ") << axis << " is out of range";
    shape[axis] = 1;
  }
  if (TensorTypeOf(result).getShape() != llvm::ArrayRef<int64_t>(shape))
    return op->emitOpError("result must keep the reduced dimensions as 1");
  return SameElementType(op, input, result);
}

// Operands of a recurrent layer with `gates` gates; null ones are absent.
LogicalResult VerifyRecurrent(mlir::Operation* op, int64_t gates, mlir::Value input, mlir::Value recurrent,
                              llvm::ArrayRef<mlir::Value> states, mlir::Value lengths) {
  auto x = TensorTypeOf(input).getShape(), r = TensorTypeOf(recurrent).getShape();
  if (x.size() != 3 || r.size() != 2 || x[2] != gates * r[1] || r[0] != x[2])
    return op->emitOpError("input must be [steps, batch, ")
           << gates << " * size] and recurrent [" << gates << " * size, size]";
  llvm::SmallVector<int64_t> state = {x[1], r[1]};
  for (mlir::Value value : states)
    if (value && TensorTypeOf(value).getShape() != llvm::ArrayRef<int64_t>(state))
      return op->emitOpError("a state must be [batch, size]");
  if (lengths && TensorTypeOf(lengths).getShape() != x.slice(1, 1)) return op->emitOpError("lengths must be [batch]");
  auto hidden = TensorTypeOf(op->getResult(0)).getShape();
  if (hidden.take_front(2) != x.take_front(2) || hidden.drop_front(1) != llvm::ArrayRef<int64_t>(state))
    return op->emitOpError("hidden must be [steps, batch, size]");
  for (mlir::Value last : op->getResults().drop_front())
    if (TensorTypeOf(last).getShape() != llvm::ArrayRef<int64_t>(state))
      return op->emitOpError("a last state must be [batch, size]");
  for (mlir::Type type : op->getResultTypes())
    if (!llvm::cast<mlir::RankedTensorType>(type).getElementType().isF32()) return op->emitOpError("takes f32 alone");
  for (mlir::Value value : op->getOperands())
    if (value != lengths && !TensorTypeOf(value).getElementType().isF32()) return op->emitOpError("takes f32 alone");
  return success();
}

LogicalResult RequireInt64(mlir::Operation* op, mlir::ValueRange values) {
  for (mlir::Value value : values)
    if (!TensorTypeOf(value).getElementType().isSignlessInteger(64)) return op->emitOpError("gives and takes i64");
  return success();
}

LogicalResult RequireShape(mlir::Operation* op, mlir::Value value, llvm::ArrayRef<int64_t> shape) {
  if (TensorTypeOf(value).getShape() == shape) return success();
  return op->emitOpError("must not have an operand or result ") << value.getType();
}

}  // namespace

#define AOT_VERIFY_BINARY(OP) \
  LogicalResult OP::verify() { return VerifyBroadcast(*this); }
AOT_VERIFY_BINARY(AddOp)
AOT_VERIFY_BINARY(SubOp)
AOT_VERIFY_BINARY(MulOp)
AOT_VERIFY_BINARY(DivOp)
AOT_VERIFY_BINARY(PowOp)
AOT_VERIFY_BINARY(MinOp)
AOT_VERIFY_BINARY(MaxOp)
AOT_VERIFY_BINARY(ModOp)
AOT_VERIFY_BINARY(PreluOp)
AOT_VERIFY_BINARY(LogicalAndOp)
AOT_VERIFY_BINARY(LogicalOrOp)
AOT_VERIFY_BINARY(LogicalXorOp)
AOT_VERIFY_BINARY(BitwiseAndOp)
AOT_VERIFY_BINARY(BitwiseOrOp)
AOT_VERIFY_BINARY(BitwiseXorOp)
AOT_VERIFY_BINARY(ShiftLeftOp)
AOT_VERIFY_BINARY(ShiftRightOp)
AOT_VERIFY_BINARY(EqualOp)
AOT_VERIFY_BINARY(LessOp)
AOT_VERIFY_BINARY(LessEqualOp)
AOT_VERIFY_BINARY(GreaterOp)
AOT_VERIFY_BINARY(GreaterEqualOp)
AOT_VERIFY_BINARY(WhereOp)
#undef AOT_VERIFY_BINARY

#define AOT_VERIFY_REDUCE(OP) \
  LogicalResult OP::verify() { return VerifyReduce(*this, getInput(), getAxes(), getResult()); }
AOT_VERIFY_REDUCE(ReduceSumOp)
AOT_VERIFY_REDUCE(ReduceMeanOp)
AOT_VERIFY_REDUCE(ReduceProdOp)
AOT_VERIFY_REDUCE(ReduceMaxOp)
AOT_VERIFY_REDUCE(ReduceMinOp)
#undef AOT_VERIFY_REDUCE

namespace {
// A zero point belongs to integers: subtracting it from floats would be an operation of its own.
LogicalResult VerifyZeroPoint(mlir::Operation* op, int64_t zero_point) {
  if (zero_point == 0 || llvm::isa<mlir::IntegerType>(TensorTypeOf(op->getOperand(0)).getElementType()))
    return success();
  return op->emitOpError("a zero point needs integer operands");
}
}  // namespace

LogicalResult MatMulOp::verify() {
  if (failed(VerifyZeroPoint(*this, getLhsZeroPoint()))) return mlir::failure();
  auto lhs = TensorTypeOf(getLhs()).getShape(), rhs = TensorTypeOf(getRhs()).getShape();
  auto result = TensorTypeOf(getResult()).getShape();
  if (lhs.size() < 2 || rhs.size() < 2 || result.size() < 2) return emitOpError("operands must have at least rank 2");
  int64_t m = lhs[lhs.size() - (getTransA() ? 1 : 2)], ka = lhs[lhs.size() - (getTransA() ? 2 : 1)];
  int64_t n = rhs[rhs.size() - (getTransB() ? 2 : 1)], kb = rhs[rhs.size() - (getTransB() ? 1 : 2)];
  if (ka != kb) return emitOpError("inner dimensions differ: ") << ka << " and " << kb;
  auto batch = BroadcastShapes(lhs.drop_back(2), rhs.drop_back(2));
  if (failed(batch)) return emitOpError("batch dimensions don't broadcast");
  batch->push_back(m);
  batch->push_back(n);
  if (llvm::ArrayRef<int64_t>(*batch) != result) return emitOpError("result shape doesn't fit the operands");
  return success();
}

LogicalResult ConvOp::verify() {
  if (failed(VerifyZeroPoint(*this, getInputZeroPoint()))) return mlir::failure();
  auto input = TensorTypeOf(getInput()).getShape(), filter = TensorTypeOf(getFilter()).getShape();
  auto result = TensorTypeOf(getResult()).getShape();
  size_t spatial = input.size() - 2;
  if (input.size() < 3 || filter.size() != input.size() || result.size() != input.size())
    return emitOpError("input, filter and result must have one rank, at least 3");
  if (getStrides().size() != spatial || getDilations().size() != spatial || getPads().size() != 2 * spatial)
    return emitOpError("strides, dilations and pads must have 1, 1 and 2 entries for each spatial dimension");
  int64_t group = getGroup();
  bool last = getChannelsLast();
  int64_t channels = last ? input.back() : input[1], features = last ? filter.back() : filter[0];
  int64_t per_group = last ? filter[spatial] : filter[1];
  if (group < 1 || channels != per_group * group || features % group != 0)
    return emitOpError("group ") << group << " doesn't fit " << channels << " channels and " << features << " features";
  if ((last ? result.back() : result[1]) != features || result[0] != input[0])
    return emitOpError("result shape doesn't fit the filter");
  for (size_t i = 0; i < spatial; ++i) {
    if (getStrides()[i] < 1 || getDilations()[i] < 1) return emitOpError("strides and dilations must be positive");
    int64_t in = input[last ? i + 1 : i + 2], out = result[last ? i + 1 : i + 2], kernel = filter[last ? i : i + 2];
    int64_t padded = in + getPads()[i] + getPads()[i + spatial], extent = (kernel - 1) * getDilations()[i] + 1;
    if (padded < extent || (padded - extent) / getStrides()[i] + 1 != out)
      return emitOpError("result dimension ") << out << " of spatial axis " << i << " doesn't fit the input";
  }
  return success();
}

LogicalResult ReshapeOp::verify() {
  if (Count(getInput()) != Count(getResult())) return emitOpError("element counts differ");
  return SameElementType(*this, getInput(), getResult());
}

LogicalResult BitcastOp::verify() {
  auto input = TensorTypeOf(getInput()), result = TensorTypeOf(getResult());
  if (input.getShape() != result.getShape()) return emitOpError("shapes differ");
  auto bytes = [](mlir::RankedTensorType type) { return (type.getElementTypeBitWidth() + 7) / 8; };
  if (bytes(input) != bytes(result)) return emitOpError("element types have different widths");
  return mlir::success();
}

LogicalResult TransposeOp::verify() {
  auto input = TensorTypeOf(getInput()).getShape(), result = TensorTypeOf(getResult()).getShape();
  if (getPerm().size() != input.size() || result.size() != input.size())
    return emitOpError("perm must have the input's rank");
  llvm::SmallVector<bool> seen(input.size(), false);
  for (size_t i = 0; i < input.size(); ++i) {
    int64_t p = getPerm()[i];
    if (p < 0 || p >= static_cast<int64_t>(input.size()) || seen[p]) return emitOpError("perm is not a permutation");
    seen[p] = true;
    if (result[i] != input[p]) return emitOpError("result dimension ") << i << " doesn't fit perm";
  }
  return SameElementType(*this, getInput(), getResult());
}

LogicalResult BroadcastOp::verify() {
  auto joined = BroadcastShapes(TensorTypeOf(getInput()).getShape(), TensorTypeOf(getResult()).getShape());
  if (failed(joined) || llvm::ArrayRef<int64_t>(*joined) != TensorTypeOf(getResult()).getShape())
    return emitOpError("input doesn't broadcast to the result");
  return SameElementType(*this, getInput(), getResult());
}

LogicalResult SliceOp::verify() {
  auto input = TensorTypeOf(getInput()).getShape(), result = TensorTypeOf(getResult()).getShape();
  if (getStarts().size() != input.size() || getSteps().size() != input.size() || result.size() != input.size())
    return emitOpError("starts, steps and result must have the input's rank");
  for (size_t i = 0; i < input.size(); ++i) {
    if (result[i] == 0) continue;
    int64_t first = getStarts()[i], last = first + (result[i] - 1) * getSteps()[i];
    if (first < 0 || first >= input[i] || last < 0 || last >= input[i])
      return emitOpError("dimension ") << i << " reads outside the input";
  }
  return SameElementType(*this, getInput(), getResult());
}

LogicalResult ConcatOp::verify() {
  if (getInputs().empty()) return emitOpError("needs an operand");
  auto result = TensorTypeOf(getResult()).getShape();
  int64_t axis = getAxis(), sum = 0;
  if (axis < 0 || axis >= static_cast<int64_t>(result.size())) return emitOpError("axis is out of range");
  for (mlir::Value input : getInputs()) {
    auto shape = TensorTypeOf(input).getShape();
    if (shape.size() != result.size()) return emitOpError("ranks differ");
    for (size_t i = 0; i < shape.size(); ++i)
      if (static_cast<int64_t>(i) != axis && shape[i] != result[i]) return emitOpError("dimension ") << i << " differs";
    sum += shape[axis];
    if (failed(SameElementType(*this, input, getResult()))) return failure();
  }
  if (sum != result[axis]) return emitOpError("result dimension along axis must be ") << sum;
  return success();
}

LogicalResult LstmOp::verify() {
  if (failed(VerifyRecurrent(*this, 4, getInput(), getRecurrent(), {getInitialH(), getInitialC()}, getLengths())))
    return failure();
  if (getPeephole() && Count(getPeephole()) != 3 * TensorTypeOf(getRecurrent()).getDimSize(1))
    return emitOpError("peephole must be [3 * size]");
  return success();
}

LogicalResult GruOp::verify() {
  if (getHiddenBias() && !getLinearBeforeReset()) return emitOpError("bias needs linear_before_reset");
  if (getHiddenBias() && Count(getHiddenBias()) != TensorTypeOf(getRecurrent()).getDimSize(1))
    return emitOpError("bias must be [size]");
  return VerifyRecurrent(*this, 3, getInput(), getRecurrent(), {getInitialH()}, getLengths());
}

LogicalResult RnnOp::verify() {
  return VerifyRecurrent(*this, 1, getInput(), getRecurrent(), {getInitialH()}, getLengths());
}

LogicalResult NonZeroOp::verify() {
  if (failed(RequireInt64(*this, getResults())) || failed(RequireShape(*this, getPositions(), {Count(getInput())})))
    return failure();
  return RequireShape(*this, getCount(), {1});
}

LogicalResult UniqueOp::verify() {
  auto shape = TensorTypeOf(getInput()).getShape();
  if (shape.size() != 2) return emitOpError("takes a matrix");
  if (failed(RequireInt64(*this, getResults()))) return failure();
  for (mlir::Value result : getResults().take_front(3))
    if (failed(RequireShape(*this, result, shape.take_front(1)))) return failure();
  return RequireShape(*this, getCount(), {1});
}

LogicalResult NonMaxSuppressionOp::verify() {
  auto boxes = TensorTypeOf(getBoxes()).getShape(), scores = TensorTypeOf(getScores()).getShape();
  if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != 4 || boxes[0] != scores[0] || boxes[1] != scores[2])
    return emitOpError("boxes must be [batch, n, 4] and scores [batch, classes, n]");
  for (mlir::Value value : getOperands().take_front(2))
    if (!TensorTypeOf(value).getElementType().isF32()) return emitOpError("takes f32 alone");
  for (mlir::Value value : {getIouThreshold(), getScoreThreshold()})
    if (value && (Count(value) != 1 || !TensorTypeOf(value).getElementType().isF32()))
      return emitOpError("a threshold must be one f32");
  auto selected = TensorTypeOf(getSelected()).getShape();
  if (selected.size() != 2 || selected[1] != 3) return emitOpError("selected must be [room, 3]");
  if (Count(getLimit()) != 1 || failed(RequireInt64(*this, {getLimit(), getSelected(), getCount()}))) return failure();
  return RequireShape(*this, getCount(), {1});
}

LogicalResult PackOp::verify() {
  if (failed(RequireInt64(*this, getDims()))) return failure();
  return RequireShape(*this, getDims(), {TensorTypeOf(getInput()).getRank()});
}

}  // namespace aot::nn
