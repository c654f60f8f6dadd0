// nn-recognise-layer-norm: models from before opset 17 spell layer normalisation out in six to nine operations.
#include "compiler/graph/matchers.h"
#include "compiler/graph/passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace aot::graph {

#define GEN_PASS_DEF_RECOGNISELAYERNORM
#include "compiler/graph/Passes.h.inc"

namespace {

using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;
using mlir::Value;
using nn::TensorTypeOf;

// The first of the reduced axes if they are all dimensions from there on, else -1.
int64_t SuffixAxis(nn::ReduceMeanOp mean) {
  int64_t rank = TensorTypeOf(mean.getInput()).getRank();
  llvm::SmallVector<int64_t> axes(mean.getAxes());
  llvm::sort(axes);
  if (axes.empty()) return -1;
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != rank - static_cast<int64_t>(axes.size() - i)) return -1;
  return axes.front();
}

// x if the value is x * x or x ^ 2.
Value SquareOf(Value value) {
  if (auto mul = value.getDefiningOp<nn::MulOp>()) return mul.getLhs() == mul.getRhs() ? mul.getLhs() : Value();
  if (auto pow = value.getDefiningOp<nn::PowOp>()) return IsSplat(pow.getRhs(), 2) ? pow.getLhs() : Value();
  return Value();
}

// x if the value is sqrt(x) or x ^ 0.5.
Value SquareRootOf(Value value) {
  if (auto sqrt = value.getDefiningOp<nn::SqrtOp>()) return sqrt.getInput();
  if (auto pow = value.getDefiningOp<nn::PowOp>()) return IsSplat(pow.getRhs(), 0.5) ? pow.getLhs() : Value();
  return Value();
}

bool UsedOnlyBy(Value value, std::initializer_list<mlir::Operation*> users) {
  return llvm::all_of(value.getUsers(), [&](mlir::Operation* user) { return llvm::is_contained(users, user); });
}

// (x - mean) / sqrt(mean((x - mean)^2) + epsilon)
struct Normalisation : mlir::OpRewritePattern<nn::DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::DivOp div, PatternRewriter& rewriter) const override {
    Value radicand = SquareRootOf(div.getRhs());
    if (!radicand || !HasFloatElements(div) || !div.getRhs().hasOneUse() || !radicand.hasOneUse()) return failure();
    auto add = radicand.getDefiningOp<nn::AddOp>();
    if (!add) return failure();
    Value variance_value = IsConstant(add.getLhs()) ? add.getRhs() : add.getLhs();
    std::optional<double> epsilon = SplatValue(IsConstant(add.getLhs()) ? add.getLhs() : add.getRhs());
    auto variance = variance_value.getDefiningOp<nn::ReduceMeanOp>();
    if (!epsilon || *epsilon < 0 || !variance || !variance->hasOneUse()) return failure();
    Value square = variance.getInput(), centred_value = SquareOf(square);
    auto centred = centred_value ? centred_value.getDefiningOp<nn::SubOp>() : nn::SubOp();
    if (!centred || div.getLhs() != centred_value || !square.hasOneUse() ||
        !UsedOnlyBy(centred_value, {div, square.getDefiningOp()}))
      return failure();
    auto mean = centred.getRhs().getDefiningOp<nn::ReduceMeanOp>();
    if (!mean || !mean->hasOneUse() || mean.getInput() != centred.getLhs() ||
        mean.getInput().getType() != div.getType())
      return failure();
    int64_t axis = SuffixAxis(mean);
    if (axis < 0 || axis != SuffixAxis(variance) || variance.getInput().getType() != div.getType()) return failure();
    rewriter.replaceOpWithNewOp<nn::LayerNormOp>(div, div.getType(), mean.getInput(), Value(), Value(),
                                                 rewriter.getI64IntegerAttr(axis), rewriter.getF32FloatAttr(*epsilon));
    return success();
  }
};

// Whether the value varies only along the normalised dimensions.
bool IsParameter(Value value, nn::LayerNormOp norm) {
  auto type = TensorTypeOf(value);
  int64_t missing = TensorTypeOf(norm).getRank() - type.getRank();
  if (missing < 0) return false;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i + missing < static_cast<int64_t>(norm.getAxis()) && type.getDimSize(i) != 1) return false;
  return true;
}

// The normalisation among the operands of a multiplication or addition, and the parameter that is the other one.
template <typename Op>
std::pair<nn::LayerNormOp, Value> NormAndParameter(Op op) {
  for (auto [first, second] : {std::pair<Value, Value>(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
    auto norm = first.template getDefiningOp<nn::LayerNormOp>();
    if (norm && norm->hasOneUse() && norm.getBias() == Value() && IsParameter(second, norm) &&
        op.getType() == norm.getType())
      return {norm, second};
  }
  return {};
}

struct Scale : mlir::OpRewritePattern<nn::MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::MulOp op, PatternRewriter& rewriter) const override {
    auto [norm, scale] = NormAndParameter(op);
    if (!norm || norm.getScale()) return failure();
    rewriter.replaceOpWithNewOp<nn::LayerNormOp>(op, op.getType(), norm.getInput(), scale, Value(), norm.getAxisAttr(),
                                                 norm.getEpsilonAttr());
    return success();
  }
};

struct Bias : mlir::OpRewritePattern<nn::AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::AddOp op, PatternRewriter& rewriter) const override {
    auto [norm, bias] = NormAndParameter(op);
    if (!norm) return failure();
    rewriter.replaceOpWithNewOp<nn::LayerNormOp>(op, op.getType(), norm.getInput(), norm.getScale(), bias,
                                                 norm.getAxisAttr(), norm.getEpsilonAttr());
    return success();
  }
};

struct RecogniseLayerNorm : impl::RecogniseLayerNormBase<RecogniseLayerNorm> {
  using RecogniseLayerNormBase::RecogniseLayerNormBase;
  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    patterns.add<Normalisation, Scale, Bias>(&getContext());
    (void)mlir::applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

}  // namespace
}  // namespace aot::graph
