#include "compiler/import/onnx/graph_order.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

std::string DisplayName(const NodeProto& node) {
  if (!node.name().empty()) return Printable(node.name());
  for (const std::string& output : node.output()) {
    if (!output.empty()) return Printable(output);
  }
  return "";
}

std::string OperatorName(const NodeProto& node) {
  const bool own = node.domain().empty() || node.domain() == "ai.onnx";
  return absl::StrCat(own ? "" : absl::StrCat(Printable(node.domain()), "."), Printable(node.op_type()));
}

using Names = absl::flat_hash_set<absl::string_view>;

void AddSubgraphNames(const NodeProto& node, Names& names);

// Adds the names that a subgraph takes from outside: used, but not defined in it.
void AddFreeNames(const GraphProto& graph, Names& names) {
  Names used;
  for (const NodeProto& node : graph.node()) {
    used.insert(node.input().begin(), node.input().end());
    AddSubgraphNames(node, used);
  }
  for (const ValueInfoProto& output : graph.output()) used.insert(output.name());
  for (const NodeProto& node : graph.node()) {
    for (const std::string& output : node.output()) used.erase(output);
  }
  for (const ValueInfoProto& input : graph.input()) used.erase(input.name());
  for (const TensorProto& tensor : graph.initializer()) used.erase(tensor.name());
  for (const SparseTensorProto& tensor : graph.sparse_initializer()) used.erase(tensor.values().name());
  names.insert(used.begin(), used.end());
}

void AddSubgraphNames(const NodeProto& node, Names& names) {
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) AddFreeNames(attribute.g(), names);
    for (const GraphProto& graph : attribute.graphs()) AddFreeNames(graph, names);
  }
}

}  // namespace

std::string LocationName(const NodeProto& node, int64_t opset) {
  return absl::StrCat(DisplayName(node), " (", OperatorName(node), ", opset ", opset, ")");
}

std::string Describe(const NodeProto& node, int64_t opset) {
  return absl::StrCat("node '", DisplayName(node), "' (", OperatorName(node), ", opset ", opset, ")");
}

std::vector<absl::string_view> NamesTaken(const NodeProto& node) {
  std::vector<absl::string_view> names(node.input().begin(), node.input().end());
  Names inner;
  AddSubgraphNames(node, inner);
  names.insert(names.end(), inner.begin(), inner.end());
  return names;
}

absl::StatusOr<std::vector<const NodeProto*>> OrderNodes(const Nodes& nodes,
                                                         const std::vector<absl::string_view>& outputs) {
  absl::flat_hash_map<absl::string_view, int> producer;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].output()) {
      if (output.empty() || producer.emplace(output, i).second) continue;
      return absl::InvalidArgumentError(absl::StrCat("value ", Quoted(output), " is given twice, by node '",
                                                     DisplayName(nodes[producer[output]]), "' and by node '",
                                                     DisplayName(nodes[i]), "'"));
    }
  }
  // What is needed, from the outputs backwards, and who waits for whom.
  std::vector<std::vector<int>> users(static_cast<size_t>(nodes.size()));
  std::vector<int> missing(static_cast<size_t>(nodes.size()), -1);  // -1: not needed
  std::vector<int> pending;
  auto need = [&](absl::string_view name) -> int {
    auto found = producer.find(name);
    if (found == producer.end()) return -1;
    if (missing[static_cast<size_t>(found->second)] < 0) {
      missing[static_cast<size_t>(found->second)] = 0;
      pending.push_back(found->second);
    }
    return found->second;
  };
  for (absl::string_view output : outputs) need(output);
  size_t needed = 0;
  while (!pending.empty()) {
    const int i = pending.back();
    pending.pop_back();
    ++needed;
    Names names(nodes[i].input().begin(), nodes[i].input().end());
    AddSubgraphNames(nodes[i], names);
    for (absl::string_view name : names) {
      const int from = need(name);
      if (from < 0) continue;
      users[static_cast<size_t>(from)].push_back(i);
      ++missing[static_cast<size_t>(i)];
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i) {
    if (missing[static_cast<size_t>(i)] == 0) ready.push(i);
  }
  std::vector<const NodeProto*> order;
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.push_back(&nodes[i]);
    for (int user : users[static_cast<size_t>(i)]) {
      if (--missing[static_cast<size_t>(user)] == 0) ready.push(user);
    }
  }
  if (order.size() == needed) return order;
  // Everything left waits for a node that is left: going back from any one leads into a cycle.
  int node = 0;
  while (missing[static_cast<size_t>(node)] <= 0) ++node;
  absl::flat_hash_set<int> visited;
  while (visited.insert(node).second) {
    Names names(nodes[node].input().begin(), nodes[node].input().end());
    AddSubgraphNames(nodes[node], names);
    int lowest = nodes.size();
    for (absl::string_view name : names) {
      auto found = producer.find(name);
      if (found != producer.end() && missing[static_cast<size_t>(found->second)] > 0) {
        lowest = std::min(lowest, found->second);
      }
    }
    node = lowest;
  }
  return absl::InvalidArgumentError(absl::StrCat("the graph has a cycle: node '", DisplayName(nodes[node]), "' (",
                                                 OperatorName(nodes[node]), ") needs its own result"));
}

}  // namespace aot::import::onnx
