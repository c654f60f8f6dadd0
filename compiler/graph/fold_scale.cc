// nn-fold-scale: multiplications and additions of constants per channel after a convolution or matrix product.
#include "compiler/graph/matchers.h"
#include "compiler/graph/passes.h"
#include "compiler/graph/product_scale.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace aot::graph {

#define GEN_PASS_DEF_FOLDSCALE
#include "compiler/graph/Passes.h.inc"

namespace {

using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;
using mlir::Value;
using nn::TensorTypeOf;

bool IsConvolution(mlir::Operation* op) { return llvm::isa_and_nonnull<nn::ConvOp, nn::ConvTransposeOp>(op); }

// The operand of a binary operation that is no constant, and the constant. Null values if there is no such pair.
template <typename Op>
std::pair<Value, Value> ValueAndConstant(Op op, bool commutes) {
  if (IsConstant(op.getRhs()) && !IsConstant(op.getLhs())) return {op.getLhs(), op.getRhs()};
  if (commutes && IsConstant(op.getLhs()) && !IsConstant(op.getRhs())) return {op.getRhs(), op.getLhs()};
  return {};
}

// One factor or offset for each channel of the product's result, if the constant doesn't broadcast the product.
std::optional<std::vector<double>> PerChannelOf(mlir::Operation* product, Value constant, mlir::Type result) {
  if (product->getResult(0).getType() != result) return std::nullopt;
  return PerChannel(constant, TensorTypeOf(product->getResult(0)).getRank(), ChannelAxis(product),
                    ChannelCount(product));
}

// product * c or product / c
template <typename Op>
struct ScaleOfProduct : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter& rewriter) const override {
    constexpr bool kDivides = std::is_same<Op, nn::DivOp>::value;
    auto [value, constant] = ValueAndConstant(op, !kDivides);
    if (!value || !CanScaleProduct(value.getDefiningOp())) return failure();
    auto factors = PerChannelOf(value.getDefiningOp(), constant, op.getType());
    if (!factors) return failure();
    if (kDivides) {
      if (llvm::is_contained(*factors, 0.0)) return failure();
      for (double& factor : *factors) factor = 1 / factor;
    }
    std::vector<double> none(factors->size(), 0.0);
    Value scaled = ScaleProduct(rewriter, value.getDefiningOp(), *factors, none);
    if (!scaled) return failure();
    rewriter.replaceOp(op, scaled);
    return success();
  }
};

// convolution + c or convolution - c
template <typename Op>
struct BiasOfConvolution : mlir::OpRewritePattern<Op> {
  BiasOfConvolution(mlir::MLIRContext* context, bool only_first)
      : mlir::OpRewritePattern<Op>(context), only_first_(only_first) {}
  LogicalResult matchAndRewrite(Op op, PatternRewriter& rewriter) const override {
    constexpr bool kSubtracts = std::is_same<Op, nn::SubOp>::value;
    auto [value, constant] = ValueAndConstant(op, !kSubtracts);
    mlir::Operation* conv = value ? value.getDefiningOp() : nullptr;
    if (!IsConvolution(conv) || !conv->hasOneUse() || !HasFloatElements(value)) return failure();
    bool has_bias = conv->getNumOperands() > 2;
    if (has_bias && (only_first_ || !IsConstant(conv->getOperand(2)))) return failure();
    auto offsets = PerChannelOf(conv, constant, op.getType());
    if (!offsets) return failure();
    if (kSubtracts)
      for (double& offset : *offsets) offset = -offset;
    if (has_bias && !KeepsMagnitude(*FloatElements(conv->getOperand(2)), *offsets)) return failure();
    rewriter.replaceOp(op, AddToBias(rewriter, conv, *offsets));
    return success();
  }
  bool only_first_;  // a sum of two biases rounds differently from two additions
};

// (product + c1) * c2 = product * c2 + c1 * c2, for matrix products, whose offsets stay outside.
struct ScaleThroughOffset : mlir::OpRewritePattern<nn::MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::MulOp op, PatternRewriter& rewriter) const override {
    auto [sum, factor] = ValueAndConstant(op, true);
    auto add = sum ? sum.getDefiningOp<nn::AddOp>() : nn::AddOp();
    if (!add || !add->hasOneUse() || add.getType() != op.getType()) return failure();
    auto [value, offset] = ValueAndConstant(add, true);
    if (!value || !CanScaleProduct(value.getDefiningOp())) return failure();
    auto factors = PerChannelOf(value.getDefiningOp(), factor, op.getType());
    auto offsets = PerChannelOf(value.getDefiningOp(), offset, op.getType());
    if (!factors || !offsets) return failure();
    for (size_t c = 0; c < offsets->size(); ++c) (*offsets)[c] *= (*factors)[c];
    Value scaled = ScaleProduct(rewriter, value.getDefiningOp(), *factors, *offsets);
    if (!scaled) return failure();
    rewriter.replaceOp(op, scaled);
    return success();
  }
};

struct FoldScale : impl::FoldScaleBase<FoldScale> {
  using FoldScaleBase::FoldScaleBase;
  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    patterns.add<BiasOfConvolution<nn::AddOp>, BiasOfConvolution<nn::SubOp>>(&getContext(), strict_math);
    if (!strict_math)
      patterns.add<ScaleOfProduct<nn::MulOp>, ScaleOfProduct<nn::DivOp>, ScaleThroughOffset>(&getContext());
    (void)mlir::applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

}  // namespace
}  // namespace aot::graph
