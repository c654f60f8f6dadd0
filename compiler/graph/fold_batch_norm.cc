// nn-fold-batch-norm: with known statistics, batch normalisation is one multiplication and one addition a channel.
#include <cmath>

#include "compiler/graph/matchers.h"
#include "compiler/graph/passes.h"
#include "compiler/graph/product_scale.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace aot::graph {

#define GEN_PASS_DEF_FOLDBATCHNORM
#include "compiler/graph/Passes.h.inc"

namespace {

using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;
using mlir::Value;
using nn::TensorTypeOf;

struct FoldNorm : mlir::OpRewritePattern<nn::BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::BatchNormOp op, PatternRewriter& rewriter) const override {
    auto scale = FloatElements(op.getScale()), bias = FloatElements(op.getBias());
    auto mean = FloatElements(op.getMean()), variance = FloatElements(op.getVariance());
    if (!scale || !bias || !mean || !variance) return failure();
    std::vector<double> factors(scale->size()), offsets(scale->size());
    double epsilon = op.getEpsilon().convertToFloat();
    for (size_t c = 0; c < factors.size(); ++c) {
      factors[c] = (*scale)[c] / std::sqrt((*variance)[c] + epsilon);
      offsets[c] = (*bias)[c] - (*mean)[c] * factors[c];
    }

    auto type = TensorTypeOf(op);
    int64_t axis = op.getChannelsLast() ? type.getRank() - 1 : 1;
    mlir::Operation* product = op.getInput().getDefiningOp();
    if (CanScaleProduct(product) && ChannelAxis(product) == axis) {
      if (Value scaled = ScaleProduct(rewriter, product, factors, offsets)) {
        rewriter.replaceOp(op, scaled);
        return success();
      }
    }
    llvm::SmallVector<int64_t> shape(type.getRank() - axis, 1);
    shape[0] = static_cast<int64_t>(factors.size());
    Value factor = MakeFloatConstant(rewriter, op.getLoc(), type.getElementType(), shape, factors);
    Value offset = MakeFloatConstant(rewriter, op.getLoc(), type.getElementType(), shape, offsets);
    Value scaled = nn::MulOp::create(rewriter, op.getLoc(), type, op.getInput(), factor);
    rewriter.replaceOpWithNewOp<nn::AddOp>(op, type, scaled, offset);
    return success();
  }
};

struct FoldBatchNorm : impl::FoldBatchNormBase<FoldBatchNorm> {
  using FoldBatchNormBase::FoldBatchNormBase;
  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    patterns.add<FoldNorm>(&getContext());
    (void)mlir::applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

}  // namespace
}  // namespace aot::graph
