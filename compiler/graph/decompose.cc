// nn-decompose: operations that code generation has no template for, written out in operations that it has. Runs at
// every optimisation level.
#include "compiler/graph/passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace aot::graph {

#define GEN_PASS_DEF_DECOMPOSE
#include "compiler/graph/Passes.h.inc"

namespace {

using llvm::SmallVector;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::RankedTensorType;
using mlir::success;
using mlir::Value;
using nn::TensorTypeOf;

// Builds elementwise operations in the type of one tensor.
struct Writer {
  PatternRewriter& rewriter;
  mlir::Location location;
  RankedTensorType type;

  // A [C] parameter along dimension `channel`, in the tensor's element type.
  Value Parameter(Value value, int64_t channel) {
    mlir::Type element = type.getElementType();
    if (TensorTypeOf(value).getElementType() != element)
      value = nn::CastOp::create(rewriter, location, TensorTypeOf(value).clone(element), value, /*saturate=*/true);
    SmallVector<int64_t> shape(type.getRank(), 1);
    shape[channel] = type.getDimSize(channel);
    return nn::ReshapeOp::create(rewriter, location, RankedTensorType::get(shape, element), value);
  }
  template <typename Op>
  Value Make(Value a, Value b) {
    return Op::create(rewriter, location, type, a, b);
  }
};

// (x - mean) / sqrt(variance + epsilon) * scale + bias, in the reference's order.
struct BatchNorm : mlir::OpRewritePattern<nn::BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::BatchNormOp op, PatternRewriter& rewriter) const override {
    Writer w{rewriter, op.getLoc(), TensorTypeOf(op)};
    int64_t channel = op.getChannelsLast() ? w.type.getRank() - 1 : 1;
    Value variance = w.Parameter(op.getVariance(), channel);
    auto per_channel = TensorTypeOf(variance);
    auto scalar = RankedTensorType::get({}, w.type.getElementType());
    Value epsilon = nn::MakeConstant(rewriter, w.location, scalar, {op.getEpsilon().convertToDouble()});
    Value sum = nn::AddOp::create(rewriter, w.location, per_channel, variance, epsilon);
    Value deviation = nn::SqrtOp::create(rewriter, w.location, per_channel, sum);
    Value centred = w.Make<nn::SubOp>(op.getInput(), w.Parameter(op.getMean(), channel));
    Value normal = w.Make<nn::DivOp>(centred, deviation);
    Value scaled = w.Make<nn::MulOp>(normal, w.Parameter(op.getScale(), channel));
    rewriter.replaceOp(op, w.Make<nn::AddOp>(scaled, w.Parameter(op.getBias(), channel)));
    return success();
  }
};

// Layer normalisation of [N, groups, rest], then scale and bias of each channel.
struct GroupNorm : mlir::OpRewritePattern<nn::GroupNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::GroupNormOp op, PatternRewriter& rewriter) const override {
    Writer w{rewriter, op.getLoc(), TensorTypeOf(op)};
    int64_t batch = w.type.getDimSize(0), groups = op.getGroups();
    int64_t rest = batch * groups == 0 ? 0 : w.type.getNumElements() / (batch * groups);
    auto grouped = RankedTensorType::get({batch, groups, rest}, w.type.getElementType());
    Value rows = nn::ReshapeOp::create(rewriter, w.location, grouped, op.getInput());
    Value normal = nn::LayerNormOp::create(rewriter, w.location, grouped, rows, /*scale=*/Value(), /*bias=*/Value(),
                                           /*axis=*/2, op.getEpsilon());
    Value shaped = nn::ReshapeOp::create(rewriter, w.location, w.type, normal);
    Value scaled = w.Make<nn::MulOp>(shaped, w.Parameter(op.getScale(), 1));
    rewriter.replaceOp(op, w.Make<nn::AddOp>(scaled, w.Parameter(op.getBias(), 1)));
    return success();
  }
};

struct Decompose : impl::DecomposeBase<Decompose> {
  using DecomposeBase::DecomposeBase;
  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    patterns.add<BatchNorm, GroupNorm>(&getContext());
    (void)mlir::applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

}  // namespace
}  // namespace aot::graph
