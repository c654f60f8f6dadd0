#include "compiler/import/onnx/import.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/builder.h"
#include "compiler/import/onnx/graph_importer.h"
#include "compiler/import/onnx/inputs.h"
#include "compiler/import/onnx/proto_reader.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/status_macros.h"
#include "compiler/ir/NnDialect.h"
#include "compiler/ir/reference_bridge.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

namespace aot::import::onnx {
namespace {

using compiler::ValueInfo;

constexpr llvm::StringLiteral kNameAttribute = "nn.name";

// Operations that shape arithmetic left behind: they are pure, and nothing uses them.
void EraseUnused(mlir::Block& block) {
  for (mlir::Operation& operation : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!operation.hasTrait<mlir::OpTrait::IsTerminator>() && operation.use_empty()) operation.erase();
  }
}

// A module that doesn't verify is the importer's mistake; the model's user gets the place all the same.
absl::Status Verify(mlir::ModuleOp module) {
  std::string text;
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic& diagnostic) {
    llvm::raw_string_ostream stream(text);
    stream << diagnostic.getLocation() << ": " << diagnostic << "\n";
    return mlir::success();
  });
  if (mlir::succeeded(mlir::verify(module))) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the imported module is invalid: ", text));
}

}  // namespace

absl::StatusOr<ImportedModel> Import(mlir::MLIRContext& context, const compiler::Model& model,
                                     const compiler::Options& options) {
  ASSIGN_OR_RETURN(std::shared_ptr<const ModelProto> proto, ParseModel(model.bytes));
  const GraphProto& graph = proto->graph();
  ImportedModel imported;
  imported.graph_name = graph.name();
  imported.storage = proto;
  ASSIGN_OR_RETURN(imported.inputs, BindInputs(graph, options));

  context.loadDialect<nn::NnDialect, mlir::func::FuncDialect>();
  mlir::OpBuilder ops(&context);
  const mlir::Location unknown = ops.getUnknownLoc();
  imported.module = mlir::ModuleOp::create(ops, unknown);
  llvm::SmallVector<mlir::Type> argument_types;
  for (const ValueInfo& input : imported.inputs) argument_types.push_back(nn::ToMlirType(input.type, &context));
  ops.setInsertionPointToEnd(imported.module->getBody());
  auto function = mlir::func::FuncOp::create(ops, unknown, "main", ops.getFunctionType(argument_types, {}));
  mlir::Block& block = *function.addEntryBlock();
  ops.setInsertionPointToEnd(&block);

  Builder builder(ops);
  std::vector<std::pair<std::string, Value>> inputs;
  for (size_t i = 0; i < imported.inputs.size(); ++i) {
    const ValueInfo& input = imported.inputs[i];
    function.setArgAttr(static_cast<unsigned>(i), kNameAttribute, ops.getStringAttr(input.name));
    inputs.emplace_back(input.name, builder.FromArgument(block.getArgument(static_cast<unsigned>(i)), input.type));
  }
  const TensorStorage storage{proto, &model.external};
  GraphImporter importer(*proto, storage, builder, context);
  ASSIGN_OR_RETURN(std::vector<Value> outputs, importer.ImportMain(inputs));
  imported.operators = importer.operators();

  builder.set_location(unknown);
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<mlir::Type> result_types;
  for (size_t i = 0; i < outputs.size(); ++i) {
    results.push_back(builder.Materialise(outputs[i]));
    result_types.push_back(results.back().getType());
    imported.outputs.push_back({graph.output(static_cast<int>(i)).name(), outputs[i].type()});
  }
  mlir::func::ReturnOp::create(ops, unknown, results);
  function.setFunctionType(ops.getFunctionType(argument_types, result_types));
  for (size_t i = 0; i < outputs.size(); ++i) {
    function.setResultAttr(static_cast<unsigned>(i), kNameAttribute, ops.getStringAttr(imported.outputs[i].name));
  }
  EraseUnused(block);
  RETURN_IF_ERROR(Verify(*imported.module));
  return imported;
}

std::vector<SupportedOperator> SupportedOperators() {
  std::vector<SupportedOperator> operators;
  for (const Family& family : Families()) {
    for (const Operator& op : family.operators) {
      const std::string prefix = family.domain.empty() ? "" : absl::StrCat(family.domain, ".");
      operators.push_back({absl::StrCat(prefix, op.name), std::string(family.name), op.versions});
    }
  }
  return operators;
}

int64_t NewestOpset() { return kNewestOpset; }

}  // namespace aot::import::onnx
