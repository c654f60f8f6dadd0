#include "compiler/graph/pipeline.h"

#include "compiler/graph/passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace aot::graph {

namespace {

CanonicalizeOptions CanonicalizeWith(bool strict_math) {
  CanonicalizeOptions options;
  options.strict_math = strict_math;
  return options;
}

// What tidies up after every group of passes that change the graph.
void AddSimplification(mlir::OpPassManager& function, bool strict_math, bool keep_quantised = false) {
  ConstantFoldOptions fold;
  fold.keep_quantised = keep_quantised;
  function.addPass(createCanonicalize(CanonicalizeWith(strict_math)));
  function.addPass(createConstantFold(fold));
  function.addPass(createCanonicalize(CanonicalizeWith(strict_math)));
  function.addPass(mlir::createCSEPass());
}

}  // namespace

void BuildGraphPipeline(mlir::OpPassManager& manager, int opt_level, bool strict_math) {
  mlir::OpPassManager& function = manager.nest<mlir::func::FuncOp>();
  function.addPass(createWidenFloat16());
  if (opt_level == 0) {
    function.addPass(createDecompose());
    FuseOptions single;
    single.single = true;
    function.addPass(createFuse(single));
    return;
  }
  AddSimplification(function, strict_math, /*keep_quantised=*/true);
  IntegerProductsOptions integers;
  integers.strict_math = strict_math;
  function.addPass(createIntegerProducts(integers));
  AddSimplification(function, strict_math);
  function.addPass(createFoldPad());
  function.addPass(createSplitPool());
  if (!strict_math) {
    function.addPass(createRecogniseLayerNorm());
    function.addPass(createRecogniseGelu());
    function.addPass(createFoldBatchNorm());
  }
  function.addPass(createDecompose());
  FoldScaleOptions scale;
  scale.strict_math = strict_math;
  function.addPass(createFoldScale(scale));
  if (!strict_math) function.addPass(createFoldRequantisation());
  AddSimplification(function, strict_math);
  function.addPass(createAssignLayout());
  AddSimplification(function, strict_math);
  function.addPass(createFuse());
}

namespace {

struct Options : mlir::PassPipelineOptions<Options> {
  Option<int> opt_level{*this, "opt-level", llvm::cl::desc("0 or 3"), llvm::cl::init(3)};
  Option<bool> strict_math{*this, "strict-math", llvm::cl::desc("Nothing that changes rounding"),
                           llvm::cl::init(false)};
};

}  // namespace

void RegisterGraphPipeline() {
  static mlir::PassPipelineRegistration<Options> registration("nn-pipeline", "All graph passes in the compiler's order",
                                                              [](mlir::OpPassManager& manager, const Options& options) {
                                                                BuildGraphPipeline(manager, options.opt_level,
                                                                                   options.strict_math);
                                                              });
}

}  // namespace aot::graph
