// nn-split-pool: a large maximum pooling becomes one along the last dimension, then one along the others: 13 x 13 cells
// are 26 comparisons instead of 169. The largest of the largest is the largest, whatever lies outside.
#include "compiler/graph/passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace aot::graph {

#define GEN_PASS_DEF_SPLITPOOL
#include "compiler/graph/Passes.h.inc"

namespace {

using nn::TensorTypeOf;
using Dims = llvm::SmallVector<int64_t>;

struct SplitMaxPool : mlir::OpRewritePattern<nn::MaxPoolOp> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(nn::MaxPoolOp op, mlir::PatternRewriter& rewriter) const override {
    auto input = TensorTypeOf(op.getInput()), result = TensorTypeOf(op.getResult());
    size_t spatial = op.getKernel().size(), last = spatial - 1;
    size_t first_dim = op.getChannelsLast() ? 1 : 2;
    // As floats: kernels and pads multiply to anything.
    double columns = static_cast<double>(op.getKernel()[last]), rows = 1;
    for (int64_t k : op.getKernel().drop_back()) rows *= static_cast<double>(k);
    if (columns == 1 || rows == 1) return mlir::failure();
    // What the first step gives: as wide as the result, as high as the input.
    Dims between(input.getShape());
    between[first_dim + last] = result.getDimSize(first_dim + last);
    auto between_type = mlir::RankedTensorType::get(between, input.getElementType());
    // Its elements are written and read once more, which is about what four comparisons cost.
    double elements = static_cast<double>(result.getNumElements()), written = 1;
    for (int64_t size : between) written *= static_cast<double>(size);
    if (written * (columns + 4) + elements * rows >= elements * rows * columns) return mlir::failure();

    // The attribute with its entries of the last dimension (`of_last`) or of the others, and `neutral` for the rest.
    auto part = [&](llvm::ArrayRef<int64_t> values, bool of_last, int64_t neutral) {
      Dims kept(values);
      for (size_t i = 0; i < kept.size(); ++i)
        if ((i % spatial == last) != of_last) kept[i] = neutral;
      return kept;
    };
    auto pool = [&](mlir::Value from, mlir::RankedTensorType type, bool of_last) -> mlir::Value {
      return nn::MaxPoolOp::create(rewriter, op.getLoc(), type, from, part(op.getKernel(), of_last, 1),
                                   part(op.getStrides(), of_last, 1), part(op.getPads(), of_last, 0),
                                   part(op.getDilations(), of_last, 1), op.getChannelsLast());
    };
    rewriter.replaceOp(op, pool(pool(op.getInput(), between_type, true), result, false));
    return mlir::success();
  }
};

struct SplitPool : impl::SplitPoolBase<SplitPool> {
  using SplitPoolBase::SplitPoolBase;
  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    patterns.add<SplitMaxPool>(&getContext());
    (void)mlir::applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

}  // namespace
}  // namespace aot::graph
