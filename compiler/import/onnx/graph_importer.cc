#include "compiler/import/onnx/graph_importer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/onnx/extents.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/shape_error.h"
#include "compiler/import/onnx/status_macros.h"
#include "compiler/import/onnx/text.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace aot::import::onnx {
namespace {

// Lines of an UNIMPLEMENTED message.
constexpr size_t kMostReports = 10'000;

std::string Domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

std::string FunctionKey(const std::string& domain, const std::string& name, const std::string& overload) {
  return absl::StrCat(Domain(domain), std::string(1, '\0'), name, std::string(1, '\0'), overload);
}

absl::Status At(const std::string& place, const absl::Status& status) {
  const std::string message = absl::StrCat(place, ": ", status.message());
  return IsShapeError(status) ? ShapeError(message) : absl::Status(status.code(), message);
}

std::string SupportedOpsets(absl::string_view domain, const Operator& op) {
  return absl::StrCat("opsets ", op.versions.front(), " to ", NewestOpset(domain));
}

// Constants may point into tensors of attributes.
bool HasTensors(const NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(), [](const AttributeProto& a) {
    return a.has_t() || a.has_g() || a.has_sparse_tensor() || !a.tensors().empty() || !a.graphs().empty() ||
           !a.sparse_tensors().empty();
  });
}

// What a node that was imported needn't keep: all but the outputs, whose names are those of values.
void ReleaseOperands(NodeProto& node) {
  if (HasTensors(node)) return;
  NodeProto kept;
  kept.mutable_output()->Swap(node.mutable_output());
  kept.Swap(&node);
}

}  // namespace

GraphImporter::GraphImporter(ModelProto& model, const TensorStorage& storage, Builder& builder,
                             mlir::MLIRContext& context)
    : model_(model), storage_(storage), builder_(builder), context_(context) {}

std::map<std::string, int64_t> GraphImporter::Opsets(
    const google::protobuf::RepeatedPtrField<aot::onnx::OperatorSetIdProto>& imports) const {
  std::map<std::string, int64_t> opsets;
  for (const auto& import : imports) {
    int64_t& version = opsets[Domain(import.domain())];
    version = std::max(version, import.version());
  }
  return opsets;
}

absl::StatusOr<std::vector<Value>> GraphImporter::ImportMain(const std::vector<std::pair<std::string, Value>>& inputs) {
  Frame frame{Opsets(model_.opset_import()), {}, nullptr, nullptr, mlir::UnknownLoc::get(&context_), 0};
  // Models from before opset_import existed speak version 1.
  if (model_.ir_version() < 3) frame.opsets.try_emplace("", 1);
  if (frame.opsets.empty()) {
    return absl::InvalidArgumentError("not an ONNX model: it imports no operator set (opset_import is empty)");
  }
  for (const FunctionProto& function : model_.functions()) {
    if (!functions_.emplace(FunctionKey(function.domain(), function.name(), function.overload()), &function).second) {
      return absl::InvalidArgumentError(absl::StrCat("function ", Quoted(function.name()), " is defined twice"));
    }
  }
  Scope scope;
  RETURN_IF_ERROR(AddInitialisers(model_.graph(), scope));
  for (const auto& [name, value] : inputs) RETURN_IF_ERROR(Define(name, value, scope));
  std::vector<absl::string_view> outputs;
  for (const ValueInfoProto& output : model_.graph().output()) outputs.push_back(output.name());
  if (outputs.empty()) return absl::InvalidArgumentError("the graph has no outputs");
  RETURN_IF_ERROR(ImportNodes(model_.graph().node(), outputs, frame, scope));

  std::vector<Value> results;
  for (const ValueInfoProto& output : model_.graph().output()) {
    ASSIGN_OR_RETURN(std::optional<Value> value, Find(output.name(), scope));
    if (!value) {
      return absl::InvalidArgumentError(absl::StrCat("graph output ", Quoted(output.name()),
                                                     " is not defined: no node, input or initialiser gives it"));
    }
    results.push_back(*std::move(value));
  }
  if (unsupported_.empty()) return results;
  if (unsupported_.size() > kMostReports) {
    const size_t more = unsupported_.size() - kMostReports;
    unsupported_.resize(kMostReports);
    unsupported_.push_back(absl::StrCat("and ", more, " more"));
  }
  return absl::UnimplementedError(absl::StrJoin(unsupported_, "\n"));
}

absl::Status GraphImporter::AddInitialisers(const GraphProto& graph, Scope& scope) {
  auto twice = [](absl::string_view name) {
    return absl::InvalidArgumentError(absl::StrCat("two initialisers have the name ", Quoted(name)));
  };
  for (const TensorProto& tensor : graph.initializer()) {
    if (!scope.initialisers.emplace(tensor.name(), Initialiser{&tensor}).second) return twice(tensor.name());
  }
  for (const SparseTensorProto& tensor : graph.sparse_initializer()) {
    const std::string& name = tensor.values().name();
    if (scope.initialisers.contains(name) || !scope.sparse_initialisers.emplace(name, &tensor).second)
      return twice(name);
  }
  return absl::OkStatus();
}

absl::Status GraphImporter::Define(const std::string& name, Value value, Scope& scope) {
  if (scope.initialisers.contains(name) || scope.sparse_initialisers.contains(name) ||
      !scope.values.emplace(name, std::move(value)).second) {
    return absl::InvalidArgumentError(absl::StrCat("value ", Quoted(name), " is defined twice"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Value>> GraphImporter::Find(const std::string& name, const Scope& innermost) {
  for (const Scope* scope = &innermost; scope; scope = scope->outer) {
    if (auto found = scope->values.find(name); found != scope->values.end()) return found->second;
    auto dense = scope->initialisers.find(name);
    auto sparse = scope->sparse_initialisers.find(name);
    const bool is_dense = dense != scope->initialisers.end();
    if (!is_dense && sparse == scope->sparse_initialisers.end()) continue;
    const void* key = is_dense ? static_cast<const void*>(dense->second.tensor) : sparse->second;
    if (auto read = read_initialisers_.find(key); read != read_initialisers_.end()) return read->second;
    auto tensor = is_dense
                      ? ReadTensor(*dense->second.tensor, scope->outer ? storage_ : StorageOf(*dense->second.tensor))
                      : ReadSparseTensor(*sparse->second, storage_);
    Value value = Builder::Unsupported();
    if (tensor.ok()) {
      value = builder_.Constant(*std::move(tensor));
    } else if (absl::IsUnimplemented(tensor.status())) {
      ReportUnsupported("initialiser", tensor.status().message());
    } else {
      return tensor.status();
    }
    read_initialisers_.emplace(key, value);
    return value;
  }
  return std::nullopt;
}

void GraphImporter::ReportUnsupported(const std::string& place, absl::string_view text) {
  unsupported_.push_back(absl::StrCat("unsupported: ", place, ": ", text));
}

absl::Status GraphImporter::ImportNodes(const Nodes& nodes, const std::vector<absl::string_view>& outputs,
                                        const Frame& frame, Scope& scope) {
  ASSIGN_OR_RETURN(std::vector<const NodeProto*> order, OrderNodes(nodes, outputs));
  // Values go when nothing needs them any more: of a long chain, all together take more memory than what they become.
  // Names are known by the outputs that give them, for the operands of a node may be gone before the last user is.
  absl::flat_hash_map<absl::string_view, int64_t> users;
  for (const NodeProto* node : order) {
    for (const std::string& output : node->output()) users.try_emplace(output, 0);
  }
  auto add = [&](absl::string_view name, int64_t count) {
    if (auto found = users.find(name); found != users.end()) return (found->second += count) == 0;
    auto found = scope.initialisers.find(name);
    return found != scope.initialisers.end() && (found->second.users += count) == 0;
  };
  for (absl::string_view output : outputs) add(output, 1);
  for (const NodeProto* node : order) {
    for (absl::string_view name : NamesTaken(*node)) add(name, 1);
  }
  const bool imported_once = &nodes == &model_.graph().node();
  for (const NodeProto* node : order) {
    RETURN_IF_ERROR(ImportNode(*node, frame, scope));
    for (absl::string_view name : NamesTaken(*node)) {
      if (add(name, -1)) Release(name, scope);
    }
    if (imported_once) ReleaseOperands(const_cast<NodeProto&>(*node));  // of model_, which isn't const
  }
  return absl::OkStatus();
}

TensorStorage GraphImporter::StorageOf(const TensorProto& tensor) const {
  auto give_back = [keep = storage_.owner](TensorProto* data) {
    delete data->release_raw_data();
    google::protobuf::RepeatedField<float>().Swap(data->mutable_float_data());
    google::protobuf::RepeatedField<double>().Swap(data->mutable_double_data());
    google::protobuf::RepeatedField<int32_t>().Swap(data->mutable_int32_data());
    google::protobuf::RepeatedField<int64_t>().Swap(data->mutable_int64_data());
    google::protobuf::RepeatedField<uint64_t>().Swap(data->mutable_uint64_data());
    google::protobuf::RepeatedField<int64_t>().Swap(data->mutable_dims());
    data->clear_data_type();  // nobody points into it
  };
  return {std::shared_ptr<TensorProto>(const_cast<TensorProto*>(&tensor), give_back), storage_.external};
}

void ReleaseImported(GraphProto& graph) {
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  while (!graph.node().empty()) {
    std::unique_ptr<NodeProto> node(graph.mutable_node()->ReleaseLast());
    if (HasTensors(*node)) nodes.AddAllocated(node.release());
  }
  graph.mutable_node()->Swap(&nodes);
  google::protobuf::RepeatedPtrField<TensorProto> initialisers;
  while (!graph.initializer().empty()) {
    std::unique_ptr<TensorProto> tensor(graph.mutable_initializer()->ReleaseLast());
    if (tensor->data_type() != TensorProto::UNDEFINED) initialisers.AddAllocated(tensor.release());
  }
  graph.mutable_initializer()->Swap(&initialisers);
}

void GraphImporter::Release(absl::string_view name, Scope& scope) {
  if (auto found = scope.values.find(name); found != scope.values.end()) {
    found->second = Value();  // the name stays taken
    return;
  }
  // A subgraph may be imported again, an initialiser of the main graph is needed once.
  if (scope.outer) return;
  if (auto found = scope.initialisers.find(name); found != scope.initialisers.end()) {
    read_initialisers_.erase(found->second.tensor);
  }
}

absl::Status GraphImporter::ImportNode(const NodeProto& node, const Frame& frame, Scope& scope) {
  if (++nodes_ > kMostImportedNodes) {
    return absl::InvalidArgumentError(
        absl::StrCat("with its functions inlined, the model has more than ", kMostImportedNodes, " nodes"));
  }
  auto opset = frame.opsets.find(Domain(node.domain()));
  if (opset == frame.opsets.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Describe(node, 0), ": no operator set of domain ", Quoted(node.domain()), " is imported"));
  }
  std::string place = Describe(node, opset->second);
  if (frame.function) absl::StrAppend(&place, " of function ", Quoted(frame.function->name()));

  std::vector<Value> inputs;
  bool all_known = true;
  for (int i = 0; i < node.input_size(); ++i) {
    inputs.emplace_back();
    if (node.input(i).empty()) continue;
    auto value = Find(node.input(i), scope);
    if (!value.ok()) return At(place, value.status());
    if (!*value) {
      return absl::InvalidArgumentError(absl::StrCat(place, ": input ", i, " (", Quoted(node.input(i)),
                                                     ") is not defined: no node, graph input or initialiser gives it"));
    }
    inputs.back() = **std::move(value);
    if (inputs.back()) all_known = all_known && inputs.back().known();
  }

  mlir::Location location =
      mlir::NameLoc::get(mlir::StringAttr::get(&context_, LocationName(node, opset->second)), frame.location);
  builder_.set_location(location);
  builder_.ClearStatus();
  absl::StatusOr<std::vector<Value>> results = std::vector<Value>();
  auto function = functions_.find(FunctionKey(node.domain(), node.op_type(), node.overload()));
  const bool is_call = function != functions_.end();
  if (is_call) {
    results = CallFunction(node, *function->second, inputs, frame);
    // Errors within name their own place.
    RETURN_IF_ERROR(results.status());
  } else {
    results = CallOperator(node, opset->second, std::move(inputs), frame, scope);
    if (results.ok() && !builder_.status().ok()) results = builder_.status();
    if (absl::IsUnimplemented(results.status())) {
      ReportUnsupported(place, results.status().message());
      all_known = false;
    } else if (!results.ok()) {
      return At(place, results.status());
    }
  }
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    Value value =
        results.ok() && static_cast<size_t>(i) < results->size() ? (*results)[static_cast<size_t>(i)] : Value();
    if (!value && all_known) {
      ReportUnsupported(place, UnsupportedText(absl::StrCat("its output ", i, " (", Quoted(node.output(i)), ")"),
                                               "nodes without that output"));
    }
    RETURN_IF_ERROR(Define(node.output(i), value ? value : Builder::Unsupported(), scope));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Value>> GraphImporter::CallOperator(const NodeProto& node, int64_t opset,
                                                               std::vector<Value> inputs, const Frame& frame,
                                                               const Scope& scope) {
  const std::string domain = Domain(node.domain());
  const Operator* op = FindOperator(domain, node.op_type());
  if (!op) {
    for (const AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) ReportUnknownOperators(attribute.g(), frame);
    }
    const bool known = NewestOpset(domain) > 0;
    return Unsupported(known ? "the operator is not known" : absl::StrCat("domain ", Quoted(domain)),
                       known ? "the operators in the list of supported operators"
                             : "operators of ai.onnx, ai.onnx.ml, ai.onnx.preview and com.microsoft, and functions "
                               "that the model defines");
  }
  if (opset > NewestOpset(domain)) return Unsupported(absl::StrCat("opset ", opset), SupportedOpsets(domain, *op));
  const int version = SelectVersion(*op, opset);
  if (version == 0) {
    return Unsupported(absl::StrCat("the operator is newer than opset ", opset), SupportedOpsets(domain, *op));
  }
  ++operators_[node.op_type()];
  if (!op->handler) {
    RETURN_IF_ERROR(RequireNoExtents(inputs, "input"));
    return ImportControlFlow(node, inputs, frame, scope);
  }
  for (const Value& input : inputs) {
    // Whatever made the input unsupported is reported already.
    if (input && !input.known()) return std::vector<Value>();
  }
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  if (static_cast<int>(inputs.size()) > op->most_inputs) {
    return absl::InvalidArgumentError(
        absl::StrCat("it has ", inputs.size(), " inputs; the operator takes at most ", op->most_inputs));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (op->takes_containers || !inputs[i] || inputs[i].is_tensor()) continue;
    return absl::InvalidArgumentError(absl::StrCat("input ", i, " is ", KindName(inputs[i]), ", a tensor is expected"));
  }
  for (int i = 0; i < op->least_inputs; ++i) {
    if (static_cast<size_t>(i) < inputs.size() && inputs[static_cast<size_t>(i)]) continue;
    return absl::InvalidArgumentError(absl::StrCat("input ", i, " is missing; the operator needs ", op->least_inputs));
  }
  Node n(node, opset, version, std::move(inputs), frame.attributes, storage_, builder_);
  const bool has_extents = HasExtents(n.inputs());
  absl::StatusOr<std::vector<Value>> results = has_extents ? ImportWithExtents(n, op->handler) : op->handler(n);
  // A handler that met a wrong attribute saw its default instead, so its own status may be beside the point.
  RETURN_IF_ERROR(n.attribute_status());
  return results;
}

absl::StatusOr<std::vector<Value>> GraphImporter::CallFunction(const NodeProto& node, const FunctionProto& function,
                                                               const std::vector<Value>& inputs, const Frame& frame) {
  const std::string name = Quoted(function.name());
  for (const Frame* caller = &frame; caller; caller = caller->caller) {
    if (caller->function == &function) {
      return absl::InvalidArgumentError(absl::StrCat("function ", name, " calls itself"));
    }
  }
  if (frame.depth >= kDeepestCall) {
    return absl::InvalidArgumentError(
        absl::StrCat("function ", name, " is called more than ", kDeepestCall, " calls deep"));
  }
  if (static_cast<int>(inputs.size()) > function.input_size() || node.output_size() > function.output_size()) {
    return absl::InvalidArgumentError(absl::StrCat("a call of function ", name, " has ", inputs.size(), " inputs and ",
                                                   node.output_size(), " outputs; the function has ",
                                                   function.input_size(), " and ", function.output_size()));
  }
  ++operators_[node.op_type()];
  Frame call{Opsets(function.opset_import()), {}, &function, &frame, builder_.location(), frame.depth + 1};
  for (const auto& [domain, version] : frame.opsets) call.opsets.try_emplace(domain, version);
  for (const AttributeProto& attribute : node.attribute()) {
    const AttributeProto* value = &attribute;
    if (!attribute.ref_attr_name().empty()) {
      auto found = frame.attributes.find(attribute.ref_attr_name());
      if (found == frame.attributes.end()) continue;
      value = found->second;
    }
    call.attributes[attribute.name()] = value;
  }
  for (const AttributeProto& attribute : function.attribute_proto()) {
    call.attributes.try_emplace(attribute.name(), &attribute);
  }
  Scope scope;
  for (int i = 0; i < function.input_size(); ++i) {
    // An input that the caller leaves out is an absent optional input of the nodes that take it.
    Value value = static_cast<size_t>(i) < inputs.size() ? inputs[static_cast<size_t>(i)] : Value();
    RETURN_IF_ERROR(Define(function.input(i), std::move(value), scope));
  }
  std::vector<absl::string_view> outputs;
  for (int i = 0; i < node.output_size(); ++i) {
    if (!node.output(i).empty()) outputs.push_back(function.output(i));
  }
  RETURN_IF_ERROR(ImportNodes(function.node(), outputs, call, scope));
  std::vector<Value> results;
  for (int i = 0; i < node.output_size(); ++i) {
    results.emplace_back();
    if (node.output(i).empty()) continue;
    ASSIGN_OR_RETURN(std::optional<Value> value, Find(function.output(i), scope));
    if (!value || !*value) {
      return absl::InvalidArgumentError(
          absl::StrCat("output ", Quoted(function.output(i)), " of function ", name, " is not defined"));
    }
    results.back() = *std::move(value);
  }
  return results;
}

void GraphImporter::ReportUnknownOperators(const GraphProto& graph, const Frame& frame) {
  for (const NodeProto& node : graph.node()) {
    for (const AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) ReportUnknownOperators(attribute.g(), frame);
    }
    auto opset = frame.opsets.find(Domain(node.domain()));
    if (opset == frame.opsets.end()) continue;
    if (functions_.count(FunctionKey(node.domain(), node.op_type(), node.overload()))) continue;
    if (FindOperator(Domain(node.domain()), node.op_type())) continue;
    ReportUnsupported(Describe(node, opset->second),
                      UnsupportedText("the operator is not known", "the operators in the list of supported operators"));
  }
}

}  // namespace aot::import::onnx
