// Stage 1: an ONNX model becomes one function of nn operations with static shapes.
//
// In: model bytes, external data by name, sizes of symbolic dimensions. Out: a module with `func.func @main`
// (compiler/ir/NnOps.td). Shape arithmetic is resolved on the way, opset differences are gone, functions are inlined.
// What a model can get wrong ends in a status with the node's name, operator and opset; nothing is opened by path, and
// the work is bounded before it starts.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/pipeline.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace aot::import::onnx {

struct ImportedModel {
  // Arguments are the graph's inputs that aren't initialisers and have no bound value. Arguments and results have the
  // attribute `nn.name` with the graph's name for them; operations have the location "node name (Op, opset K)".
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string graph_name;
  // Outputs: the graph's, then those that tell the dimensions of outputs whose sizes the data decides.
  std::vector<compiler::ValueInfo> inputs, outputs;
  std::map<std::string, int> operators;  // imported nodes by operator, "Conv" -> count
  // The parsed model: constants of the module point into its tensors. The blobs of the context share it, so it may be
  // dropped.
  std::shared_ptr<const void> storage;
};

// Loads the dialects it needs into the context. Constants with external data point into `model.external`, which must
// outlive the module.
//
// INVALID_ARGUMENT: the bytes are no ONNX model, the model contradicts itself, or an option names something that isn't
// there. FAILED_PRECONDITION: input dimensions are not bound; all are listed, with the options that would bind them.
// UNIMPLEMENTED: valid ONNX that isn't supported; one line for each node.
absl::StatusOr<ImportedModel> Import(mlir::MLIRContext& context, const compiler::Model& model,
                                     const compiler::Options& options);

// For documentation that is generated from the code.
struct SupportedOperator {
  std::string name;  // with its domain, if that is not ai.onnx
  std::string family;
  std::vector<int> versions;  // opsets in which its meaning changed, all of which are supported
};
std::vector<SupportedOperator> SupportedOperators();
// The newest opset of ai.onnx that models may import.
int64_t NewestOpset();

}  // namespace aot::import::onnx
