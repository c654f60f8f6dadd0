// nn-recognise-gelu: exporters spell the Gaussian error linear unit out, with the factors in any order.
#include <cmath>

#include "compiler/graph/matchers.h"
#include "compiler/graph/passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace aot::graph {

#define GEN_PASS_DEF_RECOGNISEGELU
#include "compiler/graph/Passes.h.inc"

namespace {

using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;
using mlir::Value;

// Constants are as exact as the model's type: sqrt(2) in half precision is off by 1e-4.
bool IsAbout(std::optional<double> value, double expected) {
  return value && std::fabs(*value - expected) <= 2e-4 * std::fabs(expected);
}

// The factors of a product, through multiplications without another use.
void CollectFactors(Value value, bool is_root, llvm::SmallVectorImpl<Value>& factors) {
  auto mul = value.getDefiningOp<nn::MulOp>();
  if (!mul || !(is_root || value.hasOneUse()) || factors.size() > 3) {
    factors.push_back(value);
    return;
  }
  CollectFactors(mul.getLhs(), false, factors);
  CollectFactors(mul.getRhs(), false, factors);
}

// x if the value is 1 + erf(x / sqrt(2)), all of it without other uses.
Value ArgumentOfErf(Value value) {
  auto add = value.getDefiningOp<nn::AddOp>();
  if (!add || !add->hasOneUse()) return Value();
  bool one_first = IsSplat(add.getLhs(), 1);
  if (!one_first && !IsSplat(add.getRhs(), 1)) return Value();
  auto erf = (one_first ? add.getRhs() : add.getLhs()).getDefiningOp<nn::ErfOp>();
  if (!erf || !erf->hasOneUse() || !erf.getInput().hasOneUse()) return Value();
  if (auto div = erf.getInput().getDefiningOp<nn::DivOp>())
    return IsAbout(SplatValue(div.getRhs()), std::sqrt(2.0)) ? div.getLhs() : Value();
  if (auto mul = erf.getInput().getDefiningOp<nn::MulOp>()) {
    if (IsAbout(SplatValue(mul.getRhs()), std::sqrt(0.5))) return mul.getLhs();
    if (IsAbout(SplatValue(mul.getLhs()), std::sqrt(0.5))) return mul.getRhs();
  }
  return Value();
}

struct Gelu : mlir::OpRewritePattern<nn::MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::MulOp op, PatternRewriter& rewriter) const override {
    llvm::SmallVector<Value, 4> factors;
    CollectFactors(op.getResult(), true, factors);
    if (factors.size() != 3) return failure();
    Value input;
    bool half = false;
    for (Value factor : factors) {
      if (IsSplat(factor, 0.5)) half = true;
      if (Value argument = ArgumentOfErf(factor)) input = argument;
    }
    if (!half || !input || !llvm::is_contained(factors, input) || input.getType() != op.getType()) return failure();
    rewriter.replaceOpWithNewOp<nn::GeluOp>(op, op.getType(), input, rewriter.getBoolAttr(false));
    return success();
  }
};

struct RecogniseGelu : impl::RecogniseGeluBase<RecogniseGelu> {
  using RecogniseGeluBase::RecogniseGeluBase;
  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    patterns.add<Gelu>(&getContext());
    (void)mlir::applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

}  // namespace
}  // namespace aot::graph
