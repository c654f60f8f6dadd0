#include "tests/conformance/bindable.h"

#include <algorithm>
#include <set>

namespace aot::tests {
namespace {

using aot::onnx::AttributeProto;
using aot::onnx::GraphProto;
using aot::onnx::NodeProto;

constexpr BindableOperand kOperands[] = {
    {"AffineGrid", 1, "the grid's size"},
    {"BlackmanWindow", 0, "the window's length"},
    {"CenterCropPad", 1, "the result's shape"},
    {"Col2Im", 1, "the image's shape"},
    {"Col2Im", 2, "the block's shape, and with it the number of channels"},
    {"ConstantOfShape", 0, "the result's shape"},
    {"DFT", 1, "the transform's length"},
    {"DFT", 2, "the dimension that has that length"},
    {"Expand", 1, "the result's shape"},
    {"HammingWindow", 0, "the window's length"},
    {"HannWindow", 0, "the window's length"},
    {"If", 0, "whether an optional result has an element"},
    {"Loop", 0, "the number of iterations, and with it the scan outputs' shapes"},
    {"Loop", 1, "whether there are iterations"},
    {"MaxUnpool", 2, "the result's shape"},
    {"MelWeightMatrix", 0, "the number of bands"},
    {"MelWeightMatrix", 1, "the transform's length"},
    {"OneHot", 1, "the depth"},
    {"Pad", 1, "the result's shape"},
    {"Pad", 3, "the dimensions that the pads are for"},
    {"Range", 0, "the number of elements"},
    {"Range", 1, "the number of elements"},
    {"Range", 2, "the number of elements"},
    {"ReduceL1", 1, "the dimensions that go"},
    {"ReduceL2", 1, "the dimensions that go"},
    {"ReduceLogSum", 1, "the dimensions that go"},
    {"ReduceLogSumExp", 1, "the dimensions that go"},
    {"ReduceMax", 1, "the dimensions that go"},
    {"ReduceMean", 1, "the dimensions that go"},
    {"ReduceMin", 1, "the dimensions that go"},
    {"ReduceProd", 1, "the dimensions that go"},
    {"ReduceSum", 1, "the dimensions that go"},
    {"ReduceSumSquare", 1, "the dimensions that go"},
    {"Reshape", 1, "the result's shape"},
    {"Resize", 1, "the region, and with scales the result's shape"},
    {"Resize", 2, "the result's shape"},
    {"Resize", 3, "the result's shape"},
    {"STFT", 1, "the number of frames"},
    {"STFT", 3, "the frames' length"},
    {"SequenceAt", 1, "which tensor, and with it the result's shape"},
    {"SequenceErase", 1, "which tensor goes, and with it the shapes of the others"},
    {"SequenceInsert", 2, "which tensor comes where"},
    {"Slice", 1, "the result's shape"},
    {"Slice", 2, "the result's shape"},
    {"Slice", 3, "the dimensions that are cut"},
    {"Slice", 4, "the result's shape"},
    {"Split", 1, "the parts' sizes"},
    {"SplitToSequence", 1, "the parts' sizes"},
    {"Squeeze", 1, "the dimensions that go"},
    {"Tile", 1, "the result's shape"},
    {"TopK", 1, "the number of elements"},
    {"Unsqueeze", 1, "the dimensions that come"},
    {"Upsample", 1, "the result's shape"},
};

// Whether an If may give an optional with an element or one without; other conditions are data.
bool DecidesPresence(const NodeProto& node) {
  for (const AttributeProto& attribute : node.attribute()) {
    for (const auto& output : attribute.g().output()) {
      if (output.type().has_optional_type()) return true;
    }
  }
  return false;
}

bool IsBindable(const NodeProto& node, int operand) {
  if (!node.domain().empty() && node.domain() != "ai.onnx") return false;
  if (node.op_type() == "If" && !DecidesPresence(node)) return false;
  return std::any_of(std::begin(kOperands), std::end(kOperands), [&](const BindableOperand& entry) {
    return entry.op == node.op_type() && entry.operand == operand;
  });
}

// What subgraphs read by name, at any depth. Recursion is bounded by the depth that Protobuf's parser accepts.
void CollectReads(const GraphProto& graph, std::set<std::string>* reads) {
  for (const NodeProto& node : graph.node()) {
    reads->insert(node.input().begin(), node.input().end());
    for (const AttributeProto& attribute : node.attribute()) CollectReads(attribute.g(), reads);
  }
  for (const auto& output : graph.output()) reads->insert(output.name());
}

// The operator that a graph is the body of: the suite names the inner values of expanded functions
// "HannWindow_test_hannwindow_expanded_function_N".
std::string ExpandedOperator(const GraphProto& graph) {
  std::set<std::string> results;
  for (const auto& output : graph.output()) results.insert(output.name());
  std::string op;
  for (const NodeProto& node : graph.node()) {
    for (const std::string& value : node.output()) {
      if (value.empty() || results.count(value) != 0) continue;
      const size_t end = value.find("_test_");
      if (end == std::string::npos || value.find("_expanded_function_") == std::string::npos) return "";
      if (!op.empty() && value.compare(0, end, op) != 0) return "";
      op = value.substr(0, end);
    }
  }
  return op;
}

}  // namespace

absl::Span<const BindableOperand> BindableOperands() { return kOperands; }

std::vector<int> FindBindableInputs(const GraphProto& graph) {
  if (const std::string op = ExpandedOperator(graph); !op.empty()) {
    NodeProto node;
    node.set_op_type(op);
    std::vector<int> positions;
    for (int i = 0; i < graph.input_size(); ++i) {
      if (IsBindable(node, i)) positions.push_back(i);
    }
    return positions;
  }
  std::set<std::string> bound, data;
  for (const NodeProto& node : graph.node()) {
    for (int i = 0; i < node.input_size(); ++i) (IsBindable(node, i) ? bound : data).insert(node.input(i));
    for (const AttributeProto& attribute : node.attribute()) CollectReads(attribute.g(), &data);
  }
  for (const auto& output : graph.output()) data.insert(output.name());
  for (const auto& initializer : graph.initializer()) data.insert(initializer.name());
  std::vector<int> positions;
  for (int i = 0; i < graph.input_size(); ++i) {
    const std::string& name = graph.input(i).name();
    if (bound.count(name) != 0 && data.count(name) == 0) positions.push_back(i);
  }
  return positions;
}

}  // namespace aot::tests
