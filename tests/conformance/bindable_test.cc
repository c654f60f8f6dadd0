#include "tests/conformance/bindable.h"

#include <gtest/gtest.h>

#include <set>

namespace aot::tests {
namespace {

using aot::onnx::GraphProto;
using aot::onnx::NodeProto;

GraphProto Graph(const std::vector<std::string>& inputs) {
  GraphProto graph;
  for (const std::string& input : inputs) graph.add_input()->set_name(input);
  return graph;
}

NodeProto* Add(GraphProto* graph, const std::string& op, const std::vector<std::string>& inputs) {
  NodeProto* node = graph->add_node();
  node->set_op_type(op);
  for (const std::string& input : inputs) node->add_input(input);
  return node;
}

TEST(BindableTest, ShapesAreBoundAndDataIsNot) {
  GraphProto graph = Graph({"data", "shape", "unused"});
  Add(&graph, "Reshape", {"data", "shape"});
  EXPECT_EQ(FindBindableInputs(graph), std::vector<int>({1}));
}

TEST(BindableTest, AnInputThatIsDataElsewhereStays) {
  GraphProto graph = Graph({"data", "shape"});
  Add(&graph, "Reshape", {"data", "shape"});
  Add(&graph, "Add", {"shape", "shape"});
  EXPECT_TRUE(FindBindableInputs(graph).empty());
}

TEST(BindableTest, AnOutputAndASubgraphCountAsData) {
  GraphProto graph = Graph({"data", "shape", "axes"});
  Add(&graph, "Reshape", {"data", "shape"});
  Add(&graph, "Squeeze", {"data", "axes"});
  graph.add_output()->set_name("shape");
  Add(Add(&graph, "If", {"data"})->add_attribute()->mutable_g(), "Identity", {"axes"});
  EXPECT_TRUE(FindBindableInputs(graph).empty());
}

TEST(BindableTest, OtherDomainsAreNotMeant) {
  GraphProto graph = Graph({"data", "shape"});
  Add(&graph, "Reshape", {"data", "shape"})->set_domain("com.example");
  EXPECT_TRUE(FindBindableInputs(graph).empty());
}

TEST(BindableTest, ExpandedFunctionsBindWhatTheirOperatorBinds) {
  GraphProto graph = Graph({"data", "shape"});
  graph.add_output()->set_name("y");
  Add(&graph, "Sub", {"shape", "shape"})->add_output("CenterCropPad_test_crop_expanded_function_d");
  Add(&graph, "Add", {"data", "data"})->add_output("y");
  EXPECT_EQ(FindBindableInputs(graph), std::vector<int>({1}));
  Add(&graph, "Add", {"data", "data"})->add_output("other");
  EXPECT_TRUE(FindBindableInputs(graph).empty());
}

TEST(BindableTest, AConditionIsBoundWhereItDecidesPresence) {
  GraphProto graph = Graph({"condition"});
  NodeProto* node = Add(&graph, "If", {"condition"});
  GraphProto* branch = node->add_attribute()->mutable_g();
  branch->add_output()->mutable_type()->mutable_tensor_type();
  EXPECT_TRUE(FindBindableInputs(graph).empty());
  branch->add_output()->mutable_type()->mutable_optional_type();
  EXPECT_EQ(FindBindableInputs(graph), std::vector<int>({0}));
}

TEST(BindableTest, TheListHasNoDoubles) {
  std::set<std::pair<std::string, int>> seen;
  for (const BindableOperand& entry : BindableOperands()) {
    EXPECT_TRUE(seen.emplace(std::string(entry.op), entry.operand).second) << entry.op << " " << entry.operand;
    EXPECT_FALSE(entry.decides.empty());
  }
}

}  // namespace
}  // namespace aot::tests
