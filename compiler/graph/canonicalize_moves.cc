#include "compiler/graph/canonicalize_patterns.h"
#include "compiler/graph/op_classes.h"
#include "llvm/ADT/STLExtras.h"

namespace aot::graph {
namespace {

using llvm::SmallVector;
using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;
using mlir::Value;
using nn::TensorTypeOf;

// A transpose that keeps the order of all dimensions larger than 1 moves nothing.
struct TransposeOfUnitDimensions : mlir::OpRewritePattern<nn::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::TransposeOp op, PatternRewriter& rewriter) const override {
    int64_t previous = -1;
    for (int64_t p : op.getPerm()) {
      if (TensorTypeOf(op.getInput()).getDimSize(p) == 1) continue;
      if (p < previous) return failure();
      previous = p;
    }
    rewriter.replaceOpWithNewOp<nn::ReshapeOp>(op, op.getType(), op.getInput());
    return success();
  }
};

// transpose(reshape(x)) where the reshape only adds or removes unit dimensions: transpose first, so that transposes
// meet.
struct TransposeOfUnitReshape : mlir::OpRewritePattern<nn::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::TransposeOp op, PatternRewriter& rewriter) const override {
    auto reshape = op.getInput().getDefiningOp<nn::ReshapeOp>();
    if (!reshape || !reshape.getInput().getDefiningOp<nn::TransposeOp>()) return failure();
    auto from = TensorTypeOf(reshape.getInput()), to = TensorTypeOf(reshape);
    if (!MovesUnitDimensionsOnly(from, to)) return failure();
    // Dimension of `to` -> dimension of `from` for all that are not 1; unit dimensions of `from` stay in front.
    SmallVector<int64_t> source(to.getRank(), -1), perm;
    int64_t next = 0;
    for (int64_t i = 0; i < to.getRank(); ++i) {
      if (to.getDimSize(i) == 1) continue;
      while (from.getDimSize(next) == 1) ++next;
      source[i] = next++;
    }
    for (int64_t i = 0; i < from.getRank(); ++i)
      if (from.getDimSize(i) == 1) perm.push_back(i);
    for (int64_t p : op.getPerm())
      if (source[p] >= 0) perm.push_back(source[p]);
    SmallVector<int64_t> shape;
    for (int64_t p : perm) shape.push_back(from.getDimSize(p));
    auto moved = nn::TransposeOp::create(rewriter, op.getLoc(), from.clone(shape), reshape.getInput(), perm);
    rewriter.replaceOpWithNewOp<nn::ReshapeOp>(op, op.getType(), moved);
    return success();
  }
};

struct SliceOfSlice : mlir::OpRewritePattern<nn::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::SliceOp op, PatternRewriter& rewriter) const override {
    auto inner = op.getInput().getDefiningOp<nn::SliceOp>();
    if (!inner) return failure();
    SmallVector<int64_t> starts, steps;
    for (size_t i = 0; i < op.getStarts().size(); ++i) {
      starts.push_back(inner.getStarts()[i] + op.getStarts()[i] * inner.getSteps()[i]);
      steps.push_back(inner.getSteps()[i] * op.getSteps()[i]);
    }
    rewriter.replaceOpWithNewOp<nn::SliceOp>(op, op.getType(), inner.getInput(), starts, steps);
    return success();
  }
};

struct EmptyPad : mlir::OpRewritePattern<nn::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::PadOp op, PatternRewriter& rewriter) const override {
    if (op.getInput().getType() != op.getType() ||
        llvm::any_of(op.getBegins(), [](int64_t begin) { return begin != 0; }))
      return failure();
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
};

// A broadcast that only adds unit dimensions.
struct BroadcastToReshape : mlir::OpRewritePattern<nn::BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::BroadcastOp op, PatternRewriter& rewriter) const override {
    if (TensorTypeOf(op.getInput()).getNumElements() != TensorTypeOf(op).getNumElements()) return failure();
    rewriter.replaceOpWithNewOp<nn::ReshapeOp>(op, op.getType(), op.getInput());
    return success();
  }
};

// Binary operations broadcast by themselves: broadcast(x) + y = x + y if y already has the result's shape.
struct BroadcastOperand : mlir::RewritePattern {
  explicit BroadcastOperand(mlir::MLIRContext* context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(mlir::Operation* op, PatternRewriter& rewriter) const override {
    if (!op->hasTrait<nn::Elementwise>() || op->getNumOperands() < 2) return failure();
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      auto broadcast = operand.get().getDefiningOp<nn::BroadcastOp>();
      if (!broadcast) continue;
      SmallVector<int64_t> shape(TensorTypeOf(broadcast.getInput()).getShape());
      for (mlir::OpOperand& other : op->getOpOperands())
        if (&other != &operand) shape = *nn::BroadcastShapes(shape, TensorTypeOf(other.get()).getShape());
      if (llvm::ArrayRef<int64_t>(shape) != TensorTypeOf(op->getResult(0)).getShape()) continue;
      rewriter.modifyOpInPlace(op, [&] { operand.set(broadcast.getInput()); });
      return success();
    }
    return failure();
  }
};

// Empty operands of a concatenation contribute nothing.
struct EmptyConcatOperand : mlir::OpRewritePattern<nn::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::ConcatOp op, PatternRewriter& rewriter) const override {
    SmallVector<Value> kept;
    for (Value input : op.getInputs())
      if (TensorTypeOf(input).getDimSize(op.getAxis()) != 0) kept.push_back(input);
    if (kept.size() == op.getInputs().size() || kept.empty()) return failure();
    rewriter.replaceOpWithNewOp<nn::ConcatOp>(op, op.getType(), kept, op.getAxis());
    return success();
  }
};

// concat(concat(a, b), c) = concat(a, b, c) along one axis.
struct ConcatOfConcat : mlir::OpRewritePattern<nn::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::ConcatOp op, PatternRewriter& rewriter) const override {
    SmallVector<Value> inputs;
    for (Value input : op.getInputs()) {
      auto inner = input.getDefiningOp<nn::ConcatOp>();
      if (inner && inner.getAxis() == op.getAxis() && inner->hasOneUse()) {
        llvm::append_range(inputs, inner.getInputs());
      } else {
        inputs.push_back(input);
      }
    }
    if (inputs.size() == op.getInputs().size()) return failure();
    rewriter.replaceOpWithNewOp<nn::ConcatOp>(op, op.getType(), inputs, op.getAxis());
    return success();
  }
};

// A transpose that swaps the two last dimensions.
bool SwapsMatrix(nn::TransposeOp op) {
  int64_t rank = static_cast<int64_t>(op.getPerm().size());
  if (rank < 2 || op.getPerm()[rank - 1] != rank - 2 || op.getPerm()[rank - 2] != rank - 1) return false;
  for (int64_t i = 0; i < rank - 2; ++i)
    if (op.getPerm()[i] != i) return false;
  return true;
}

struct TransposeIntoMatMul : mlir::OpRewritePattern<nn::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::MatMulOp op, PatternRewriter& rewriter) const override {
    auto lhs = op.getLhs().getDefiningOp<nn::TransposeOp>(), rhs = op.getRhs().getDefiningOp<nn::TransposeOp>();
    bool take_lhs = lhs && SwapsMatrix(lhs), take_rhs = rhs && SwapsMatrix(rhs);
    if (!take_lhs && !take_rhs) return failure();
    rewriter.replaceOpWithNewOp<nn::MatMulOp>(op, op.getType(), take_lhs ? lhs.getInput() : op.getLhs(),
                                              take_rhs ? rhs.getInput() : op.getRhs(), op.getTransA() != take_lhs,
                                              op.getTransB() != take_rhs);
    return success();
  }
};

// Reducing dimensions of size 1 gives the input.
template <typename Reduce>
struct ReduceOfUnitDimensions : mlir::OpRewritePattern<Reduce> {
  using mlir::OpRewritePattern<Reduce>::OpRewritePattern;
  LogicalResult matchAndRewrite(Reduce op, PatternRewriter& rewriter) const override {
    if (op.getInput().getType() != op.getType()) return failure();
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
};

}  // namespace

void PopulateMovePatterns(mlir::RewritePatternSet& patterns) {
  patterns.add<TransposeOfUnitDimensions, TransposeOfUnitReshape, SliceOfSlice, EmptyPad, BroadcastToReshape,
               BroadcastOperand, EmptyConcatOperand, ConcatOfConcat, TransposeIntoMatMul,
               ReduceOfUnitDimensions<nn::ReduceSumOp>, ReduceOfUnitDimensions<nn::ReduceMeanOp>,
               ReduceOfUnitDimensions<nn::ReduceProdOp>, ReduceOfUnitDimensions<nn::ReduceMaxOp>,
               ReduceOfUnitDimensions<nn::ReduceMinOp>>(patterns.getContext());
}

}  // namespace aot::graph
