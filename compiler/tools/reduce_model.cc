#include "compiler/tools/reduce_model.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "compiler/pipeline.h"

namespace aot::tools {
namespace {

using aot::onnx::AttributeProto;
using aot::onnx::GraphProto;
using aot::onnx::ModelProto;
using aot::onnx::NodeProto;
using aot::onnx::TensorProto;
using aot::onnx::ValueInfoProto;
using Types = std::map<std::string, reference::TensorType>;

// Adds the names that a node reads, subgraphs included (those that they define themselves do no harm).
void AddReads(const NodeProto& node, std::set<std::string>& names) {
  names.insert(node.input().begin(), node.input().end());
  for (const AttributeProto& attribute : node.attribute()) {
    std::vector<const GraphProto*> graphs;
    if (attribute.has_g()) graphs.push_back(&attribute.g());
    for (const GraphProto& graph : attribute.graphs()) graphs.push_back(&graph);
    for (const GraphProto* graph : graphs) {
      for (const NodeProto& inner : graph->node()) AddReads(inner, names);
      for (const ValueInfoProto& output : graph->output()) names.insert(output.name());
    }
  }
}

// Drops what no output needs: nodes, initialisers, inputs, and all that only describes.
void Prune(GraphProto& graph) {
  std::set<std::string> needed;
  for (const ValueInfoProto& output : graph.output()) needed.insert(output.name());
  std::vector<bool> keep(static_cast<size_t>(graph.node_size()), false);
  // Nodes are in order most often; repeated for those that aren't.
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = graph.node_size() - 1; i >= 0; --i) {
      const NodeProto& node = graph.node(i);
      if (keep[static_cast<size_t>(i)] || std::none_of(node.output().begin(), node.output().end(),
                                                       [&](const std::string& o) { return needed.count(o) > 0; })) {
        continue;
      }
      keep[static_cast<size_t>(i)] = changed = true;
      AddReads(node, needed);
    }
  }
  auto erase = [](auto* list, auto unneeded) {
    list->erase(std::remove_if(list->begin(), list->end(), unneeded), list->end());
  };
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (keep[static_cast<size_t>(i)]) *nodes.Add() = graph.node(i);
  }
  graph.mutable_node()->Swap(&nodes);
  erase(graph.mutable_initializer(), [&](const TensorProto& tensor) { return needed.count(tensor.name()) == 0; });
  erase(graph.mutable_input(), [&](const ValueInfoProto& input) { return needed.count(input.name()) == 0; });
  graph.clear_value_info();
  graph.clear_quantization_annotation();
  graph.clear_metadata_props();
}

class Reducer {
 public:
  Reducer(const ModelProto& model, const ReduceOptions& options, const StillFails& still_fails)
      : best_(model), options_(options), still_fails_(still_fails) {}

  ModelProto Run() {
    Try(Pruned(best_));
    for (size_t before = SIZE_MAX; best_.ByteSizeLong() < before;) {
      before = best_.ByteSizeLong();
      ReduceOutputs();
      ReduceNodes();
      ReduceFunctions();
      ReduceAttributes();
      ReduceInitialisers();
      ReduceDimensions();
    }
    return best_;
  }

 private:
  static ModelProto Pruned(ModelProto model) {
    Prune(*model.mutable_graph());
    return model;
  }

  // Takes the candidate over if it still fails and is smaller.
  bool Try(const ModelProto& candidate) {
    if (tries_ >= options_.most_tries || candidate.ByteSizeLong() >= best_.ByteSizeLong()) return false;
    ++tries_;
    if (!still_fails_(candidate)) return false;
    best_ = candidate;
    return true;
  }

  // Types of all values that the importer gives one, by importing with each of them as an output; where that isn't
  // possible, of those before the first node that it refuses.
  Types FindTypes(const ModelProto& model) const {
    for (int nodes = model.graph().node_size(); nodes > 0; nodes = nodes * 3 / 4) {
      ModelProto probe = model;
      GraphProto& graph = *probe.mutable_graph();
      graph.clear_output();
      graph.mutable_node()->DeleteSubrange(nodes, graph.node_size() - nodes);
      for (const NodeProto& node : graph.node()) {
        for (const std::string& output : node.output()) {
          if (!output.empty()) graph.add_output()->set_name(output);
        }
      }
      compiler::Model bytes;
      bytes.bytes = probe.SerializeAsString();
      compiler::Options options;
      for (const ValueInfoProto& input : graph.input()) {
        for (const auto& dim : input.type().tensor_type().shape().dim()) {
          auto size = options_.dims.find(dim.dim_param());
          if (size != options_.dims.end()) options.dims.insert(*size);  // symbols that are gone may not be bound
        }
      }
      auto info = compiler::Check(bytes, options);
      if (!info.ok()) continue;
      Types types;
      for (const compiler::ValueInfo& value : info->outputs) types[value.name] = value.type;
      return types;
    }
    return {};
  }

  // One output instead of several, and earlier values instead of the last.
  void ReduceOutputs() {
    for (int i = 0; best_.graph().output_size() > 1 && i < best_.graph().output_size();) {
      ModelProto candidate = best_;
      candidate.mutable_graph()->mutable_output()->DeleteSubrange(i, 1);
      if (!Try(Pruned(candidate))) ++i;
    }
    // The first half, quarter ... of the nodes by their last value; then back from the end.
    for (int nodes = best_.graph().node_size() / 2; nodes > 0; nodes /= 2) TryPrefix(nodes);
    for (int nodes = best_.graph().node_size() - 1; nodes > 0 && TryPrefix(nodes); --nodes) continue;
  }
  bool TryPrefix(int nodes) {
    if (nodes >= best_.graph().node_size()) return true;
    ModelProto candidate = best_;
    GraphProto& graph = *candidate.mutable_graph();
    const NodeProto& last = graph.node(nodes - 1);
    if (last.output_size() == 0 || last.output(0).empty()) return false;
    graph.clear_output();
    graph.add_output()->set_name(last.output(0));
    return Try(Pruned(candidate));
  }

  void ReduceNodes() {
    for (int chunk = best_.graph().node_size() / 2; chunk >= 1; chunk /= 2) {
      const Types types = FindTypes(best_);
      for (int start = 0; start < best_.graph().node_size();) {
        if (!TryWithout(start, chunk, types)) start += chunk;
      }
    }
  }
  // Values of the removed nodes that others read become inputs of the graph.
  bool TryWithout(int start, int count, const Types& types) {
    ModelProto candidate = best_;
    GraphProto& graph = *candidate.mutable_graph();
    count = std::min(count, graph.node_size() - start);
    std::set<std::string> given, read;
    for (int i = 0; i < graph.node_size(); ++i) {
      if (i >= start && i < start + count) {
        given.insert(graph.node(i).output().begin(), graph.node(i).output().end());
      } else {
        AddReads(graph.node(i), read);
      }
    }
    google::protobuf::RepeatedPtrField<ValueInfoProto> outputs;
    for (const ValueInfoProto& output : graph.output()) {
      if (given.count(output.name()) == 0) *outputs.Add() = output;
    }
    if (outputs.empty()) return false;
    graph.mutable_output()->Swap(&outputs);
    graph.mutable_node()->DeleteSubrange(start, count);
    for (const std::string& name : given) {
      if (name.empty() || read.count(name) == 0) continue;
      auto type = types.find(name);
      if (type == types.end()) return false;
      auto& input = *graph.add_input();
      input.set_name(name);
      auto& tensor = *input.mutable_type()->mutable_tensor_type();
      tensor.set_elem_type(static_cast<int>(type->second.element));
      tensor.mutable_shape();
      for (int64_t dim : type->second.shape) tensor.mutable_shape()->add_dim()->set_dim_value(dim);
    }
    return Try(Pruned(candidate));
  }

  void ReduceFunctions() {
    for (int i = 0; i < best_.functions_size();) {
      ModelProto candidate = best_;
      candidate.mutable_functions()->DeleteSubrange(i, 1);
      if (!Try(candidate)) ++i;
    }
    ModelProto candidate = best_;
    candidate.clear_metadata_props();
    candidate.clear_producer_name();
    candidate.clear_producer_version();
    Try(candidate);
  }

  void ReduceAttributes() {
    for (int n = 0; n < best_.graph().node_size(); ++n) {
      for (int a = 0; a < best_.graph().node(n).attribute_size();) {
        ModelProto candidate = best_;
        candidate.mutable_graph()->mutable_node(n)->mutable_attribute()->DeleteSubrange(a, 1);
        if (!Try(candidate)) ++a;
      }
    }
  }

  // Each size of an input, wherever it occurs in other inputs and in initialisers, as 1, 2, a half.
  void ReduceDimensions() {
    std::set<int64_t, std::greater<>> sizes;
    for (const ValueInfoProto& input : best_.graph().input()) {
      for (const auto& dim : input.type().tensor_type().shape().dim()) {
        if (dim.dim_value() > 1) sizes.insert(dim.dim_value());
      }
    }
    for (int64_t size : sizes) {
      for (int64_t smaller : {int64_t{1}, int64_t{2}, size / 2}) {
        if (smaller < size && TrySize(size, smaller)) break;
      }
    }
  }
  bool TrySize(int64_t from, int64_t to) {
    ModelProto candidate = best_;
    for (ValueInfoProto& input : *candidate.mutable_graph()->mutable_input()) {
      for (auto& dim : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
        if (dim.dim_value() == from) dim.set_dim_value(to);
      }
    }
    // The new size may take as many bytes as the old one: compared by elements.
    for (TensorProto& tensor : *candidate.mutable_graph()->mutable_initializer()) Shrink(tensor, from, to);
    if (tries_ >= options_.most_tries) return false;
    ++tries_;
    if (!still_fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }
  // The first elements of raw data under the smaller shape: what they are is of no importance.
  static void Shrink(TensorProto& tensor, int64_t from, int64_t to) {
    int64_t before = 1, after = 1;
    for (int64_t& dim : *tensor.mutable_dims()) {
      before *= dim;
      if (dim == from) dim = to;
      after *= dim;
    }
    if (before > 0 && !tensor.raw_data().empty()) {
      tensor.mutable_raw_data()->resize(tensor.raw_data().size() / static_cast<size_t>(before) *
                                        static_cast<size_t>(after));
    }
    if (tensor.float_data_size() > after) tensor.mutable_float_data()->Truncate(static_cast<int>(after));
    if (tensor.int64_data_size() > after) tensor.mutable_int64_data()->Truncate(static_cast<int>(after));
    if (tensor.int32_data_size() > after) tensor.mutable_int32_data()->Truncate(static_cast<int>(after));
  }

  // Inputs instead of constants: a fault that needs no value shows itself that way, and the file gets small.
  void ReduceInitialisers() {
    for (int i = 0; i < best_.graph().initializer_size();) {
      ModelProto candidate = best_;
      GraphProto& graph = *candidate.mutable_graph();
      const TensorProto tensor = graph.initializer(i);
      graph.mutable_initializer()->DeleteSubrange(i, 1);
      const bool declared = std::any_of(graph.input().begin(), graph.input().end(),
                                        [&](const ValueInfoProto& input) { return input.name() == tensor.name(); });
      if (!declared) {
        auto& input = *graph.add_input();
        input.set_name(tensor.name());
        auto& type = *input.mutable_type()->mutable_tensor_type();
        type.set_elem_type(tensor.data_type());
        type.mutable_shape();
        for (int64_t dim : tensor.dims()) type.mutable_shape()->add_dim()->set_dim_value(dim);
      }
      if (!Try(candidate)) ++i;
    }
  }

  ModelProto best_;
  const ReduceOptions& options_;
  const StillFails& still_fails_;
  int64_t tries_ = 0;
};

}  // namespace

ModelProto ReduceModel(const ModelProto& model, const ReduceOptions& options, const StillFails& still_fails) {
  return Reducer(model, options, still_fails).Run();
}

}  // namespace aot::tools
