// nn-canonicalize: applies the dialect's folders and the patterns of canonicalize_patterns.h until nothing changes.
#include "compiler/graph/canonicalize_patterns.h"
#include "compiler/graph/passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace aot::graph {

#define GEN_PASS_DEF_CANONICALIZE
#include "compiler/graph/Passes.h.inc"

namespace {

struct Canonicalize : impl::CanonicalizeBase<Canonicalize> {
  using CanonicalizeBase::CanonicalizeBase;

  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    nn::TransposeOp::getCanonicalizationPatterns(patterns, &getContext());
    PopulateMovePatterns(patterns);
    PopulateArithmeticPatterns(patterns, strict_math);
    // Every pattern removes an operation or makes one simpler, so the limit only guards against a mistake here:
    // reaching it leaves a valid function.
    mlir::GreedyRewriteConfig config;
    config.setMaxIterations(20);
    (void)mlir::applyPatternsGreedily(getOperation(), std::move(patterns), config);
  }
};

}  // namespace
}  // namespace aot::graph
