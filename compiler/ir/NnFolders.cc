// Folders and canonicalisation patterns that need no more than the operation and its neighbours.
#include "compiler/ir/NnDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace aot::nn {
namespace {

bool IsIdentity(llvm::ArrayRef<int64_t> perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

// transpose(transpose(x, p), q) = transpose(x, p[q])
struct TransposeOfTranspose : mlir::OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(TransposeOp op, mlir::PatternRewriter& rewriter) const override {
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    if (!inner) return mlir::failure();
    llvm::SmallVector<int64_t> perm;
    for (int64_t p : op.getPerm()) perm.push_back(inner.getPerm()[p]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getInput(), perm);
    return mlir::success();
  }
};

}  // namespace

mlir::OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

mlir::OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType()) return getInput();
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    setOperand(inner.getInput());
    return getResult();
  }
  return {};
}

mlir::OpFoldResult TransposeOp::fold(FoldAdaptor) {
  return IsIdentity(getPerm()) ? mlir::OpFoldResult(getInput()) : mlir::OpFoldResult();
}

void TransposeOp::getCanonicalizationPatterns(mlir::RewritePatternSet& patterns, mlir::MLIRContext* context) {
  patterns.add<TransposeOfTranspose>(context);
}

mlir::OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? mlir::OpFoldResult(getInput()) : mlir::OpFoldResult();
}

mlir::OpFoldResult SliceOp::fold(FoldAdaptor) {
  if (getInput().getType() != getType()) return {};
  for (auto [start, step] : llvm::zip(getStarts(), getSteps()))
    if (start != 0 || step != 1) return {};
  return getInput();
}

mlir::OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? mlir::OpFoldResult(getInputs().front()) : mlir::OpFoldResult();
}

}  // namespace aot::nn
