// aot-opt: runs passes of the compiler on textual IR, for tests and for looking at one stage.
#include "compiler/graph/passes.h"
#include "compiler/graph/pipeline.h"
#include "compiler/ir/NnDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  registry.insert<aot::nn::NnDialect, mlir::func::FuncDialect>();
  mlir::registerTransformsPasses();
  aot::graph::registerGraphPasses();
  aot::graph::RegisterGraphPipeline();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "AOT pass driver\n", registry));
}
