#include <cmath>

#include "compiler/graph/canonicalize_patterns.h"
#include "compiler/graph/matchers.h"
#include "llvm/ADT/APFloat.h"

namespace aot::graph {
namespace {

using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;
using mlir::Value;
using nn::TensorTypeOf;

// Constants of commutative operations go to the right.
template <typename Op>
struct ConstantToTheRight : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter& rewriter) const override {
    if (!IsConstant(op.getLhs()) || IsConstant(op.getRhs())) return failure();
    rewriter.replaceOpWithNewOp<Op>(op, op.getType(), op.getRhs(), op.getLhs());
    return success();
  }
};

// x op neutral = x where the constant doesn't broadcast x. (x + 0 turns -0 into 0: equal numbers.)
template <typename Op>
struct NeutralOperand : mlir::OpRewritePattern<Op> {
  NeutralOperand(mlir::MLIRContext* context, double neutral) : mlir::OpRewritePattern<Op>(context), neutral_(neutral) {}
  LogicalResult matchAndRewrite(Op op, PatternRewriter& rewriter) const override {
    if (op.getLhs().getType() != op.getType() || !IsSplat(op.getRhs(), neutral_)) return failure();
    rewriter.replaceOp(op, op.getLhs());
    return success();
  }
  double neutral_;
};

// f(f(x)) = x
template <typename Op>
struct Involution : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter& rewriter) const override {
    auto inner = op.getInput().template getDefiningOp<Op>();
    if (!inner) return failure();
    rewriter.replaceOp(op, inner.getInput());
    return success();
  }
};

// f(f(x)) = f(x)
template <typename Op>
struct Idempotent : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter& rewriter) const override {
    if (!op.getInput().template getDefiningOp<Op>()) return failure();
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
};

struct PowerOfConstant : mlir::OpRewritePattern<nn::PowOp> {
  PowerOfConstant(mlir::MLIRContext* context, bool strict_math)
      : OpRewritePattern(context), strict_math_(strict_math) {}
  LogicalResult matchAndRewrite(nn::PowOp op, PatternRewriter& rewriter) const override {
    if (op.getLhs().getType() != op.getType()) return failure();
    if (IsSplat(op.getRhs(), 1)) {
      rewriter.replaceOp(op, op.getLhs());
    } else if (IsSplat(op.getRhs(), 2)) {
      rewriter.replaceOpWithNewOp<nn::MulOp>(op, op.getType(), op.getLhs(), op.getLhs());
    } else if (IsSplat(op.getRhs(), 0.5) && HasFloatElements(op) && !strict_math_) {
      // Another rounding, and other results for -0 and -infinity.
      rewriter.replaceOpWithNewOp<nn::SqrtOp>(op, op.getType(), op.getLhs());
    } else {
      return failure();
    }
    return success();
  }

  bool strict_math_;
};

struct CastToSameType : mlir::OpRewritePattern<nn::CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::CastOp op, PatternRewriter& rewriter) const override {
    if (op.getInput().getType() != op.getType()) return failure();
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
};

// x / c = x * (1/c) if every element of c is a power of two, so that nothing is rounded.
struct DivisionByPowerOfTwo : mlir::OpRewritePattern<nn::DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::DivOp op, PatternRewriter& rewriter) const override {
    if (!HasFloatElements(op.getRhs())) return failure();
    auto dense = llvm::dyn_cast_if_present<mlir::DenseFPElementsAttr>(nn::ConstantValue(op.getRhs()));
    if (!dense) return failure();
    bool exact = true;
    auto inverse = [&](const llvm::APFloat& number) {
      llvm::APFloat result(number);
      exact &= number.getExactInverse(&result) && !result.isDenormal();
      return result.bitcastToAPInt();
    };
    if (dense.isSplat()) {
      (void)inverse(dense.getSplatValue<llvm::APFloat>());
      if (!exact) return failure();  // the common case, without building an attribute
    }
    auto inverted = dense.mapValues(dense.getElementType(), inverse);
    if (!exact) return failure();
    auto factor = nn::ConstantOp::create(rewriter, op.getLoc(), op.getRhs().getType(), inverted);
    rewriter.replaceOpWithNewOp<nn::MulOp>(op, op.getType(), op.getLhs(), factor);
    return success();
  }
};

// Whether merging these constants can neither overflow nor underflow.
bool IsModerate(Value constant) {
  if (!HasFloatElements(constant)) return true;
  auto elements = FloatElements(constant);
  return elements &&
         llvm::all_of(*elements, [](double x) { return std::fabs(x) >= 0x1p-40 && std::fabs(x) <= 0x1p40; });
}

// KeepsMagnitude for two constants; the same shape, or one number for all (other broadcasts are rare).
bool SumKeepsMagnitude(Value a, Value b, bool subtracts) {
  if (!HasFloatElements(a)) return true;
  auto x = FloatElements(a), y = FloatElements(b);
  if (!x || !y) return false;
  if (y->size() == 1) y->resize(x->size(), y->front());
  if (x->size() == 1) x->resize(y->size(), x->front());
  if (x->size() != y->size()) return false;
  if (TensorTypeOf(a).getNumElements() == TensorTypeOf(b).getNumElements() &&
      TensorTypeOf(a).getShape() != TensorTypeOf(b).getShape())
    return false;
  if (subtracts)
    for (double& element : *y) element = -element;
  return KeepsMagnitude(*x, *y);
}

// (x inner c1) outer c2 -> x merged (c1 combine c2): the constants meet in one operation, which constant folding
// evaluates. `swapped`: combine takes c2 first.
template <typename Outer, typename Inner, typename Merged, typename Combine>
struct MergeConstants : mlir::OpRewritePattern<Outer> {
  MergeConstants(mlir::MLIRContext* context, bool swapped, bool floats_only)
      : mlir::OpRewritePattern<Outer>(context), swapped_(swapped), floats_only_(floats_only) {}

  LogicalResult matchAndRewrite(Outer op, PatternRewriter& rewriter) const override {
    auto inner = op.getLhs().template getDefiningOp<Inner>();
    if (!inner || !inner->hasOneUse() || !IsConstant(op.getRhs()) || !IsConstant(inner.getRhs())) return failure();
    if (IsConstant(inner.getLhs()) || (floats_only_ && !HasFloatElements(op))) return failure();
    bool multiplies = llvm::is_one_of<Merged, nn::MulOp, nn::DivOp>::value;
    if (multiplies && (!IsModerate(op.getRhs()) || !IsModerate(inner.getRhs()))) return failure();
    if (!multiplies && !SumKeepsMagnitude(inner.getRhs(), op.getRhs(), llvm::is_one_of<Combine, nn::SubOp>::value))
      return failure();
    auto c1 = TensorTypeOf(inner.getRhs()), c2 = TensorTypeOf(op.getRhs());
    auto type = c1.clone(*nn::BroadcastShapes(c1.getShape(), c2.getShape()));
    // A product of a row and a column would be larger than both.
    if (type.getNumElements() > std::max(c1.getNumElements(), c2.getNumElements())) return failure();
    Value first = swapped_ ? op.getRhs() : inner.getRhs(), second = swapped_ ? inner.getRhs() : op.getRhs();
    auto constant = Combine::create(rewriter, op.getLoc(), type, first, second);
    rewriter.replaceOpWithNewOp<Merged>(op, op.getType(), inner.getLhs(), constant);
    return success();
  }

  bool swapped_, floats_only_;
};

// MergeConstants for integers, whose arithmetic wraps and so is associative.
template <typename Base>
struct IntegersOnly : Base {
  using Base::Base;
  template <typename Op>
  LogicalResult Match(Op op, PatternRewriter& rewriter) const {
    return HasFloatElements(op) ? failure() : Base::matchAndRewrite(op, rewriter);
  }
};

struct IntegerSum : IntegersOnly<MergeConstants<nn::AddOp, nn::AddOp, nn::AddOp, nn::AddOp>> {
  using IntegersOnly::IntegersOnly;
  LogicalResult matchAndRewrite(nn::AddOp op, PatternRewriter& rewriter) const override { return Match(op, rewriter); }
};

}  // namespace

void PopulateArithmeticPatterns(mlir::RewritePatternSet& patterns, bool strict_math) {
  mlir::MLIRContext* context = patterns.getContext();
  patterns.add<ConstantToTheRight<nn::AddOp>, ConstantToTheRight<nn::MulOp>, ConstantToTheRight<nn::MinOp>,
               ConstantToTheRight<nn::MaxOp>, Involution<nn::NegOp>, Involution<nn::LogicalNotOp>,
               Involution<nn::BitwiseNotOp>, Idempotent<nn::ReluOp>, Idempotent<nn::AbsOp>, Idempotent<nn::FloorOp>,
               Idempotent<nn::CeilOp>, Idempotent<nn::RoundOp>, Idempotent<nn::SignOp>, CastToSameType,
               DivisionByPowerOfTwo>(context);
  patterns.add<PowerOfConstant>(context, strict_math);
  patterns.add<NeutralOperand<nn::AddOp>, NeutralOperand<nn::SubOp>>(context, 0.0);
  patterns.add<NeutralOperand<nn::MulOp>, NeutralOperand<nn::DivOp>>(context, 1.0);

  using nn::AddOp, nn::SubOp, nn::MulOp, nn::DivOp;
  if (strict_math) {
    patterns.add<IntegerSum>(context, false, false);
    return;
  }
  const bool any = false, floats = true;
  patterns.add<MergeConstants<AddOp, AddOp, AddOp, AddOp>>(context, false, any);
  patterns.add<MergeConstants<AddOp, SubOp, AddOp, SubOp>>(context, true, any);   // x - c1 + c2 = x + (c2 - c1)
  patterns.add<MergeConstants<SubOp, AddOp, AddOp, SubOp>>(context, false, any);  // x + c1 - c2 = x + (c1 - c2)
  patterns.add<MergeConstants<SubOp, SubOp, SubOp, AddOp>>(context, false, any);  // x - c1 - c2 = x - (c1 + c2)
  patterns.add<MergeConstants<MulOp, MulOp, MulOp, MulOp>>(context, false, any);
  patterns.add<MergeConstants<MulOp, DivOp, MulOp, DivOp>>(context, true, floats);   // x / c1 * c2 = x * (c2 / c1)
  patterns.add<MergeConstants<DivOp, MulOp, MulOp, DivOp>>(context, false, floats);  // x * c1 / c2 = x * (c1 / c2)
  patterns.add<MergeConstants<DivOp, DivOp, DivOp, MulOp>>(context, false, floats);  // x / c1 / c2 = x / (c1 * c2)
}

}  // namespace aot::graph
