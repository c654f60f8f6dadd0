// nn-fold-requantisation: what lies between an integer product and the quantisation of its result becomes one
// multiplication, one addition and the quantisation's own limits.
//
//   quantize(relu(cast(sum) * a + b), s, z)  ->  quantize(relu(cast(sum) * (a / s) + b / s), 1, z)
//
// An addition of whole units of `a` moves into the sum.
//
// A division for each element is dear beside a product of bytes; the quotient differs from it by rounding only.
#include <cmath>

#include "compiler/graph/matchers.h"
#include "compiler/graph/passes.h"
#include "compiler/ir/attributes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace aot::graph {

#define GEN_PASS_DEF_FOLDREQUANTISATION
#include "compiler/graph/Passes.h.inc"

namespace {

using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;
using mlir::Value;
using nn::TensorTypeOf;

// Longest chain of operations that a factor moves through.
constexpr int kMaxDepth = 16;

bool IsIntegerCast(Value value) {
  auto cast = value.getDefiningOp<nn::CastOp>();
  return cast && llvm::isa<mlir::IntegerType>(TensorTypeOf(cast.getInput()).getElementType());
}

// The operand of a binary operation that is constant, and its number.
std::optional<unsigned> ConstantOperand(mlir::Operation* op) {
  if (IsConstant(op->getOperand(1))) return 1;
  if (IsConstant(op->getOperand(0))) return 0;
  return std::nullopt;
}

// Whether value * factor can be had without a multiplication more: it ends in constants that take the factor.
bool TakesFactor(Value value, int depth = 0) {
  mlir::Operation* op = value.getDefiningOp();
  if (!op || depth > kMaxDepth || !op->getResult(0).hasOneUse() || !TensorTypeOf(value).getElementType().isF32())
    return false;
  if (auto dequantize = llvm::dyn_cast<nn::DequantizeOp>(op)) return IsConstant(dequantize.getScale());
  if (llvm::isa<nn::MulOp>(op)) {
    auto constant = ConstantOperand(op);
    return constant &&
           (IsIntegerCast(op->getOperand(1 - *constant)) || TakesFactor(op->getOperand(1 - *constant), depth + 1));
  }
  if (llvm::isa<nn::ReluOp>(op)) return TakesFactor(op->getOperand(0), depth + 1);
  if (!llvm::isa<nn::AddOp, nn::SubOp, nn::MaxOp, nn::MinOp>(op)) return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return (IsConstant(operand) && HasFloatElements(operand)) || TakesFactor(operand, depth + 1);
  });
}

Value ScaledConstant(PatternRewriter& rewriter, Value constant, double factor) {
  auto elements = *FloatElements(constant);
  for (double& element : elements) element *= factor;
  return MakeFloatConstant(rewriter, constant.getLoc(), TensorTypeOf(constant).getElementType(),
                           TensorTypeOf(constant).getShape(), elements);
}

// value * factor, factor > 0, for a value that takes it.
Value Scaled(PatternRewriter& rewriter, Value value, double factor) {
  if (IsConstant(value)) return ScaledConstant(rewriter, value, factor);
  mlir::Operation* op = value.getDefiningOp();
  rewriter.setInsertionPoint(op);
  llvm::SmallVector<Value> operands(op->getOperands());
  if (llvm::isa<nn::DequantizeOp>(op)) {
    operands[1] = ScaledConstant(rewriter, operands[1], factor);
  } else if (llvm::isa<nn::MulOp>(op)) {
    unsigned constant = *ConstantOperand(op);
    operands[constant] = ScaledConstant(rewriter, operands[constant], factor);
  } else {
    for (Value& operand : operands) operand = Scaled(rewriter, operand, factor);
  }
  rewriter.setInsertionPoint(op);
  mlir::Operation* copy = rewriter.clone(*op);
  copy->setOperands(operands);
  return copy->getResult(0);
}

// The product at the end of the chain, through which a factor saves more than it costs.
bool EndsInProduct(Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (!op || llvm::isa<nn::DequantizeOp>(op)) return false;
  if (IsIntegerCast(value)) return true;
  return llvm::any_of(op->getOperands(), [](Value operand) { return EndsInProduct(operand); });
}

struct FactorOfQuantisation : mlir::OpRewritePattern<nn::QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::QuantizeOp op, PatternRewriter& rewriter) const override {
    auto scale = SplatValue(op.getScale());
    if (!scale || !(*scale > 0) || !std::isfinite(1 / *scale) || *scale == 1) return failure();
    if (!TensorTypeOf(op.getScale()).getElementType().isF32()) return failure();
    if (!TakesFactor(op.getInput()) || !EndsInProduct(op.getInput())) return failure();
    Value input = Scaled(rewriter, op.getInput(), 1 / *scale);
    rewriter.setInsertionPoint(op);
    Value one = MakeFloatConstant(rewriter, op.getLoc(), rewriter.getF32Type(), {}, {1.0});
    auto folded = rewriter.replaceOpWithNewOp<nn::QuantizeOp>(op, op.getType(), input, one, op.getZeroPoint());
    folded->setAttr(nn::kRoundsOnce, rewriter.getUnitAttr());
    return success();
  }
};

// relu before a quantisation that can't go below zero anyway.
struct ReluOfQuantisation : mlir::OpRewritePattern<nn::QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::QuantizeOp op, PatternRewriter& rewriter) const override {
    auto relu = op.getInput().getDefiningOp<nn::ReluOp>();
    auto scale = SplatValue(op.getScale());
    auto element = llvm::dyn_cast<mlir::IntegerType>(TensorTypeOf(op.getResult()).getElementType());
    if (!relu || !relu->hasOneUse() || !element || !scale || !(*scale > 0)) return failure();
    auto zero = op.getZeroPoint() ? SplatValue(op.getZeroPoint()) : std::optional<double>(0);
    double least = element.isUnsigned() ? 0 : -std::ldexp(1.0, static_cast<int>(element.getWidth()) - 1);
    if (!zero || *zero != least) return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().set(relu.getOperand()); });
    return success();
  }
};

// Units of a bias are bounded so that the sums of any filter that fits in memory keep their room.
constexpr double kMostUnits = 0x1p20;

// cast(conv) * a + b, where b is a whole multiple of a for each feature: the convolution's sums start from that
// multiple. So biases are quantised.
struct BiasOfSums : mlir::OpRewritePattern<nn::AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::AddOp op, PatternRewriter& rewriter) const override {
    for (unsigned bias : {1u, 0u}) {
      auto mul = op->getOperand(1 - bias).getDefiningOp<nn::MulOp>();
      if (!mul || !mul->hasOneUse() || !TensorTypeOf(op.getResult()).getElementType().isF32() ||
          TensorTypeOf(mul.getResult()) != TensorTypeOf(op.getResult()))
        continue;
      auto scale = ConstantOperand(mul);
      if (!scale || !IsIntegerCast(mul->getOperand(1 - *scale))) continue;
      auto cast = mul->getOperand(1 - *scale).getDefiningOp<nn::CastOp>();
      auto conv = cast.getInput().getDefiningOp<nn::ConvOp>();
      if (!conv || !conv->hasOneUse() || !cast->hasOneUse() || conv.getBias()) continue;
      auto sums = TensorTypeOf(conv.getResult());
      if (sums != TensorTypeOf(mul.getResult()).clone(sums.getElementType()) || !sums.getElementType().isInteger(32))
        continue;
      int64_t rank = sums.getRank(), axis = conv.getChannelsLast() ? rank - 1 : 1, features = sums.getDimSize(axis);
      auto units = Units(op->getOperand(bias), mul->getOperand(*scale), rank, axis, features);
      if (!units) continue;
      rewriter.setInsertionPoint(conv);
      auto type = mlir::RankedTensorType::get({features}, sums.getElementType());
      Value start = nn::ConstantOp::create(rewriter, op.getLoc(), type,
                                           mlir::DenseElementsAttr::get(type, llvm::ArrayRef<int32_t>(*units)));
      rewriter.modifyOpInPlace(conv, [&] { conv.getBiasMutable().assign(start); });
      rewriter.replaceOp(op, mul.getResult());
      return success();
    }
    return failure();
  }

 private:
  // bias / scale for each feature, if they are integers below kMostUnits.
  static std::optional<std::vector<int32_t>> Units(Value bias, Value scale, int64_t rank, int64_t axis,
                                                   int64_t features) {
    if (!IsConstant(bias) || !HasFloatElements(bias)) return std::nullopt;
    auto biases = PerChannel(bias, rank, axis, features), scales = PerChannel(scale, rank, axis, features);
    if (!biases || !scales) return std::nullopt;
    std::vector<int32_t> units;
    for (size_t i = 0; i < biases->size(); ++i) {
      double unit = (*biases)[i] / (*scales)[i], whole = std::nearbyint(unit);
      // Rounding to float32 is all that may be between them. Also false where the scale is 0 or anything is no number.
      if (!(std::abs(unit) < kMostUnits) || !(std::abs(unit - whole) <= std::abs(whole) * 0x1p-21)) return std::nullopt;
      units.push_back(static_cast<int32_t>(whole));
    }
    return units;
  }
};

struct FoldRequantisation : impl::FoldRequantisationBase<FoldRequantisation> {
  using FoldRequantisationBase::FoldRequantisationBase;
  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    patterns.add<FactorOfQuantisation, ReluOfQuantisation, BiasOfSums>(&getContext());
    (void)mlir::applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

}  // namespace
}  // namespace aot::graph
