#include "compiler/import/onnx/import.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/builder.h"
#include "compiler/import/onnx/graph_importer.h"
#include "compiler/import/onnx/inputs.h"
#include "compiler/import/onnx/proto_reader.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/status_macros.h"
#include "compiler/import/onnx/text.h"
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

// Outputs whose sizes only run time knows are packed, and each gets another output behind all of the model's that tells
// its dimensions.
void AddDimsOutputs(Builder& builder, std::vector<std::pair<std::string, Value>>& values,
                    std::vector<ValueInfo>& outputs) {
  std::set<std::string> names;
  for (const ValueInfo& output : outputs) names.insert(output.name);
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) {
    Value& value = values[i].second;
    if (value.extents().empty()) continue;
    const Value dims = builder.Dims(value);
    value = builder.Emit("pack", {}, {value, dims}, value.type());
    std::string name = absl::StrCat(outputs[i].name, ".dims");
    while (!names.insert(name).second) name += "_";
    outputs[i].dims_output = static_cast<int64_t>(values.size());
    outputs.push_back({name, dims.type()});
    values.emplace_back(name, dims);
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

// The value of a graph's input, made of the function's arguments.
Value ToValue(Builder& builder, const GraphInput& input, const std::vector<Value>& tensors) {
  const auto first = tensors.begin() + static_cast<std::ptrdiff_t>(input.first);
  const std::vector<Value> own(first, first + static_cast<std::ptrdiff_t>(input.count));
  if (input.optional && !input.present) return Builder::Optional(Value());
  const Value value = input.sequence ? builder.Sequence(input.element, own) : own.front();
  return input.optional ? Builder::Optional(value) : value;
}

// A graph's output by the names of its tensors: itself, those of a sequence, or what an optional holds.
absl::Status AppendOutput(const std::string& name, const Value& value,
                          std::vector<std::pair<std::string, Value>>& outputs) {
  switch (value.kind()) {
    case Value::Kind::kTensor:
      outputs.emplace_back(name, value);
      return absl::OkStatus();
    case Value::Kind::kSequence:
      for (size_t i = 0; i < value.elements().size(); ++i) {
        outputs.emplace_back(ElementName(name, i), value.elements()[i]);
      }
      return absl::OkStatus();
    case Value::Kind::kOptional:
      break;
  }
  if (!value.elements().empty()) return AppendOutput(name, value.elements().front(), outputs);
  return absl::UnimplementedError(
      absl::StrCat("unsupported: output ", Quoted(name), ": ",
                   UnsupportedText("an optional without an element, which compiled code can't give",
                                   "optional outputs that have one")));
}

// The outputs as tensors, each with a name of its own if there are sequences among them.
absl::StatusOr<std::vector<std::pair<std::string, Value>>> FlattenOutputs(const GraphProto& graph,
                                                                          const std::vector<Value>& values) {
  std::vector<std::pair<std::string, Value>> outputs;
  for (size_t i = 0; i < values.size(); ++i) {
    RETURN_IF_ERROR(AppendOutput(graph.output(static_cast<int>(i)).name(), values[i], outputs));
  }
  if (outputs.empty()) {
    return absl::UnimplementedError(
        absl::StrCat("unsupported: ", UnsupportedText("all outputs are empty sequences: there is nothing to compute",
                                                      "models that give at least one tensor")));
  }
  if (std::all_of(values.begin(), values.end(), [](const Value& value) { return value.is_tensor(); })) return outputs;
  std::set<std::string> names;
  for (const auto& [name, value] : outputs) {
    if (names.insert(name).second) continue;
    return absl::UnimplementedError(absl::StrCat(
        "unsupported: ",
        UnsupportedText(absl::StrCat("two outputs of the name ", Quoted(name), ", one of them in a sequence"),
                        "names without brackets")));
  }
  return outputs;
}

}  // namespace

absl::StatusOr<ImportedModel> Import(mlir::MLIRContext& context, const compiler::Model& model,
                                     const compiler::Options& options) {
  ASSIGN_OR_RETURN(const std::shared_ptr<ModelProto> proto, ParseModel(model.bytes));
  const GraphProto& graph = proto->graph();
  ImportedModel imported;
  imported.graph_name = graph.name();
  imported.storage = proto;
  ASSIGN_OR_RETURN(BoundInputs bound, BindInputs(graph, options));
  for (const ValueInfo& tensor : bound.tensors) {
    if (!options.bind_inputs.count(tensor.name)) imported.inputs.push_back(tensor);
  }

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
  std::vector<Value> tensors;
  unsigned next = 0;
  for (const ValueInfo& input : bound.tensors) {
    if (auto value = options.bind_inputs.find(input.name); value != options.bind_inputs.end()) {
      tensors.push_back(builder.Constant(value->second));
      continue;
    }
    function.setArgAttr(next, kNameAttribute, ops.getStringAttr(input.name));
    tensors.push_back(builder.FromArgument(block.getArgument(next++), input.type));
  }
  std::vector<std::pair<std::string, Value>> inputs;
  for (const GraphInput& input : bound.inputs) inputs.emplace_back(input.name, ToValue(builder, input, tensors));
  const TensorStorage storage{proto, &model.external};
  auto importer = std::make_unique<GraphImporter>(*proto, storage, builder, context);
  ASSIGN_OR_RETURN(std::vector<Value> values, importer->ImportMain(inputs));
  ASSIGN_OR_RETURN(auto outputs, FlattenOutputs(graph, values));
  imported.operators = importer->operators();
  importer = nullptr;

  builder.set_location(unknown);
  builder.ClearStatus();
  for (const auto& [name, value] : outputs) imported.outputs.push_back({name, value.type()});
  AddDimsOutputs(builder, outputs, imported.outputs);
  RETURN_IF_ERROR(builder.status());
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<mlir::Type> result_types;
  for (const auto& [name, value] : outputs) {
    results.push_back(builder.Materialise(value));
    result_types.push_back(results.back().getType());
  }
  mlir::func::ReturnOp::create(ops, unknown, results);
  function.setFunctionType(ops.getFunctionType(argument_types, result_types));
  for (size_t i = 0; i < outputs.size(); ++i) {
    function.setResultAttr(static_cast<unsigned>(i), kNameAttribute, ops.getStringAttr(imported.outputs[i].name));
  }
  EraseUnused(block);
  RETURN_IF_ERROR(Verify(*imported.module));
  ReleaseImported(*proto->mutable_graph());
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
