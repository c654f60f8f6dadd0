// If, Loop and Scan, and the recurrent layers, run through the reference.
#include <cmath>

#include "compiler/import/onnx/model_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace aot::import::onnx {
namespace {

using aot::onnx::GraphProto;
using aot::onnx::TensorProto;
using reference::ElementType;
using reference::Shape;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNan;
using ::testing::Pointwise;

GraphProto Graph(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  GraphProto graph;
  for (const std::string& name : inputs) graph.add_input()->set_name(name);
  for (const std::string& name : outputs) graph.add_output()->set_name(name);
  return graph;
}

// if condition: x + x, else: -x
ModelBuilder IfModel(const std::string& else_op = "Neg") {
  GraphProto then_branch = Graph({}, {"t"}), else_branch = Graph({}, {"e"});
  AddNode(then_branch, "Add", {"x", "x"}, {"t"});
  AddNode(else_branch, else_op, {"x"}, {"e"});
  ModelBuilder model(16);
  model.Input("condition", {1}, TensorProto::BOOL).Input("x", {2, 3}).Output("y");
  model.Node("If", {"condition"}, {"y"},
             {GraphAttribute("then_branch", then_branch), GraphAttribute("else_branch", else_branch)});
  return model;
}

TEST(If, ChoosesAtRunTime) {
  const auto x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  for (const bool condition : {false, true}) {
    auto results = RunModel(IfModel(), {Integers(ElementType::kBool, {1}, {condition}), x});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(results->front().shape(), (Shape{2, 3}));
    EXPECT_EQ(Values(results->front())[1], condition ? 4 : -2);
  }
}

TEST(If, ABranchThatContradictsTheShapesGivesNan) {
  // The else branch multiplies 1x2 by itself as matrices.
  GraphProto then_branch = Graph({}, {"t"}), else_branch = Graph({}, {"e"});
  AddNode(then_branch, "Neg", {"x"}, {"t"});
  AddNode(else_branch, "MatMul", {"x", "x"}, {"e"});
  ModelBuilder model(16);
  model.Input("condition", {}, TensorProto::BOOL).Input("x", {1, 2}).Output("y");
  model.Node("If", {"condition"}, {"y"},
             {GraphAttribute("then_branch", then_branch), GraphAttribute("else_branch", else_branch)});
  auto chosen = RunModel(model, {Integers(ElementType::kBool, {}, {1}), Floats({1, 2}, {1, 2})});
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_THAT(Values(chosen->front()), ElementsAre(-1, -2));
  auto other = RunModel(model, {Integers(ElementType::kBool, {}, {0}), Floats({1, 2}, {1, 2})});
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_THAT(Values(other->front()), ElementsAre(IsNan(), IsNan()));
}

TEST(If, ABranchThatCanNeverBeRightIsRefused) {
  auto refused = [](const GraphProto& else_branch, TensorProto::DataType type) {
    GraphProto then_branch = Graph({}, {"t"});
    AddNode(then_branch, "Identity", {"x"}, {"t"});
    ModelBuilder model(16);
    model.Input("condition", {}, TensorProto::BOOL).Input("x", {1, 2}, type).Output("y");
    model.Node("If", {"condition"}, {"y"},
               {GraphAttribute("then_branch", then_branch), GraphAttribute("else_branch", else_branch)});
    return ImportStatus(model.Model()).code();
  };
  // Not a matter of shapes.
  GraphProto wrong = Graph({}, {"e"});
  AddNode(wrong, "Elu", {"x"}, {"e"}, {StringAttribute("alpha", "one")});
  EXPECT_EQ(refused(wrong, TensorProto::FLOAT), absl::StatusCode::kInvalidArgument);
  // Integers have no NaN that would show it.
  GraphProto product = Graph({}, {"e"});
  AddNode(product, "MatMul", {"x", "x"}, {"e"});
  EXPECT_EQ(refused(product, TensorProto::INT32), absl::StatusCode::kInvalidArgument);
}

TEST(If, BranchesOfDifferentShapesAreRefused) {
  const absl::Status status = ImportStatus(IfModel("Transpose").Model());
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("output 0"));
}

// A body that adds the iteration number to v and gives v squared as a scan output.
GraphProto SumBody() {
  GraphProto body = Graph({"i", "go", "v"}, {"go_on", "sum", "square"});
  AddNode(body, "Cast", {"i"}, {"number"}, {IntAttribute("to", TensorProto::FLOAT)});
  AddNode(body, "Add", {"v", "number"}, {"sum"});
  AddNode(body, "Mul", {"sum", "sum"}, {"square"});
  AddNode(body, "Identity", {"go"}, {"go_on"});
  return body;
}

TEST(Loop, RunsAConstantNumberOfSteps) {
  for (const int64_t steps : {0, 1, 4}) {
    ModelBuilder model(16);
    model.Input("x", {1}).Output("y").Output("squares").Constant(Int64Tensor("n", {}, {steps}));
    model.Node("Loop", {"n", "", "x"}, {"y", "squares"}, {GraphAttribute("body", SumBody())});
    auto results = RunModel(model, {Floats({1}, {1})});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_THAT(Values((*results)[0]), ElementsAre(1.0 + static_cast<double>(steps * (steps - 1)) / 2));
    EXPECT_EQ((*results)[1].shape(), (Shape{steps, 1}));
    if (steps == 4) EXPECT_THAT(Values((*results)[1]), ElementsAre(1, 4, 16, 49));
  }
}

TEST(Loop, ARunTimeConditionEndsItWithinTheTripCount) {
  // Doubles v while it is below 10, at most 6 times.
  GraphProto body = Graph({"i", "go", "v"}, {"go_on", "double"});
  AddNode(body, "Add", {"v", "v"}, {"double"});
  AddNode(body, "Less", {"double", "ten"}, {"go_on"});
  ModelBuilder model(16);
  model.Input("x", {}).Output("y").Constant(Int64Tensor("n", {}, {6})).Constant(FloatTensor("ten", {}, {10}));
  model.Node("Loop", {"n", "", "x"}, {"y"}, {GraphAttribute("body", body)});
  for (const auto& [x, y] : {std::pair(1.0f, 16.0), std::pair(9.0f, 18.0), std::pair(0.001f, 0.064)}) {
    auto results = RunModel(model, {Floats({}, {x})});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_THAT(Values(results->front()), Pointwise(DoubleNear(1e-6), {y}));
  }
}

TEST(Loop, WithoutABoundItIsRefused) {
  GraphProto body = Graph({"i", "go", "v"}, {"go_on", "double"});
  AddNode(body, "Add", {"v", "v"}, {"double"});
  AddNode(body, "Less", {"double", "ten"}, {"go_on"});
  ModelBuilder model(16);
  model.Input("x", {}).Output("y").Constant(FloatTensor("ten", {}, {10}));
  model.Node("Loop", {"", "", "x"}, {"y"}, {GraphAttribute("body", body)});
  EXPECT_EQ(ImportStatus(model.Model()).code(), absl::StatusCode::kUnimplemented);
}

TEST(Scan, SumsAlongAnAxisInBothDirections) {
  GraphProto body = Graph({"sum", "x"}, {"next", "copy"});
  AddNode(body, "Add", {"sum", "x"}, {"next"});
  AddNode(body, "Identity", {"next"}, {"copy"});
  auto run = [&](const std::vector<aot::onnx::AttributeProto>& attributes) {
    ModelBuilder model(11);
    model.Input("x", {2, 3}).Output("sum").Output("sums").Constant(FloatTensor("zero", {2}, {0, 0}));
    model.Node("Scan", {"zero", "x"}, {"sum", "sums"}, attributes);
    auto results = RunModel(model, {Floats({2, 3}, {1, 2, 3, 10, 20, 30})});
    EXPECT_TRUE(results.ok()) << results.status();
    return *results;
  };
  auto forward = run({GraphAttribute("body", body), IntAttribute("num_scan_inputs", 1),
                      IntsAttribute("scan_input_axes", {1}), IntsAttribute("scan_output_axes", {1})});
  EXPECT_THAT(Values(forward[0]), ElementsAre(6, 60));
  EXPECT_THAT(Values(forward[1]), ElementsAre(1, 3, 6, 10, 30, 60));
  auto backward =
      run({GraphAttribute("body", body), IntAttribute("num_scan_inputs", 1), IntsAttribute("scan_input_axes", {-1}),
           IntsAttribute("scan_input_directions", {1}), IntsAttribute("scan_output_directions", {1})});
  EXPECT_THAT(Values(backward[1]), ElementsAre(6, 60, 5, 50, 3, 30));
}

TEST(Scan, Version8HasABatch) {
  GraphProto body = Graph({"sum", "x"}, {"next", "copy"});
  AddNode(body, "Add", {"sum", "x"}, {"next"});
  AddNode(body, "Identity", {"next"}, {"copy"});
  ModelBuilder model(8);
  model.Input("x", {2, 2, 1}).Output("sum").Output("sums").Constant(FloatTensor("zero", {2, 1}, {0, 100}));
  model.Node("Scan", {"", "zero", "x"}, {"sum", "sums"},
             {GraphAttribute("body", body), IntAttribute("num_scan_inputs", 1)});
  auto results = RunModel(model, {Floats({2, 2, 1}, {1, 2, 3, 4})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Values((*results)[0]), ElementsAre(3, 107));
  EXPECT_EQ((*results)[1].shape(), (Shape{2, 2, 1}));
  EXPECT_THAT(Values((*results)[1]), ElementsAre(1, 3, 103, 107));
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Recurrent, LstmOfOneUnit) {
  // Gates input, output, forget, cell with weights 1, 2, 3, 4, recurrent weights 0.5 and biases 0.1.
  ModelBuilder model(14);
  model.Input("x", {2, 1, 1}).Output("y").Output("h").Output("c");
  model.Constant(FloatTensor("w", {1, 4, 1}, {1, 2, 3, 4})).Constant(FloatTensor("r", {1, 4, 1}, {.5, .5, .5, .5}));
  model.Constant(FloatTensor("b", {1, 8}, {.1, .1, .1, .1, 0, 0, 0, 0}));
  model.Node("LSTM", {"x", "w", "r", "b"}, {"y", "h", "c"}, {IntAttribute("hidden_size", 1)});
  auto results = RunModel(model, {Floats({2, 1, 1}, {0.3f, -0.2f})});
  ASSERT_TRUE(results.ok()) << results.status();
  double h = 0, c = 0;
  std::vector<double> hidden;
  for (double x : {0.3, -0.2}) {
    const double i = Sigmoid(x + .5 * h + .1), o = Sigmoid(2 * x + .5 * h + .1), f = Sigmoid(3 * x + .5 * h + .1);
    c = f * c + i * std::tanh(4 * x + .5 * h + .1);
    h = o * std::tanh(c);
    hidden.push_back(h);
  }
  EXPECT_EQ((*results)[0].shape(), (Shape{2, 1, 1, 1}));
  EXPECT_THAT(Values((*results)[0]), Pointwise(DoubleNear(1e-6), hidden));
  EXPECT_THAT(Values((*results)[1]), Pointwise(DoubleNear(1e-6), {h}));
  EXPECT_THAT(Values((*results)[2]), Pointwise(DoubleNear(1e-6), {c}));
}

TEST(Recurrent, GruResetsBeforeOrAfterTheProduct) {
  for (const int64_t linear : {0, 1}) {
    ModelBuilder model(14);
    model.Input("x", {1, 1, 1}).Output("y").Constant(FloatTensor("h", {1, 1, 1}, {0.7f}));
    model.Constant(FloatTensor("w", {1, 3, 1}, {1, 2, 3})).Constant(FloatTensor("r", {1, 3, 1}, {.5, .6, .7}));
    model.Constant(FloatTensor("b", {1, 6}, {.1, .1, .1, .2, .3, .4}));
    model.Node("GRU", {"x", "w", "r", "b", "", "h"}, {"y"}, {IntAttribute("linear_before_reset", linear)});
    auto results = RunModel(model, {Floats({1, 1, 1}, {0.3f})});
    ASSERT_TRUE(results.ok()) << results.status();
    const double x = 0.3, h = 0.7, z = Sigmoid(x + .5 * h + .3), r = Sigmoid(2 * x + .6 * h + .4);
    const double candidate =
        linear ? std::tanh(3 * x + .1 + r * (.7 * h + .4)) : std::tanh(3 * x + .1 + .7 * (r * h) + .4);
    EXPECT_THAT(Values(results->front()), Pointwise(DoubleNear(1e-6), {(1 - z) * candidate + z * h}));
  }
}

TEST(Recurrent, BothDirectionsLengthsAndBatchFirst) {
  // Affine with alpha 1: the state is the running sum of the inputs.
  ModelBuilder model(14);
  model.Input("x", {2, 3, 1}).Output("y").Output("h").Constant(FloatTensor("w", {2, 1, 1}, {1, 1}));
  model.Constant(FloatTensor("r", {2, 1, 1}, {1, 1})).Constant(Int32Tensor("n", TensorProto::INT32, {2}, {3, 2}));
  aot::onnx::AttributeProto activations;
  activations.set_name("activations");
  activations.set_type(aot::onnx::AttributeProto::STRINGS);
  for (int i = 0; i < 2; ++i) activations.add_strings("Affine");
  model.Node("RNN", {"x", "w", "r", "", "n"}, {"y", "h"},
             {StringAttribute("direction", "bidirectional"), IntAttribute("layout", 1), activations});
  auto results = RunModel(model, {Floats({2, 3, 1}, {1, 2, 3, 10, 20, 30})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].shape(), (Shape{2, 3, 2, 1}));
  EXPECT_THAT(Values((*results)[0]), ElementsAre(1, 6, 3, 5, 6, 3, 10, 30, 30, 20, 0, 0));
  EXPECT_EQ((*results)[1].shape(), (Shape{2, 2, 1}));
  EXPECT_THAT(Values((*results)[1]), ElementsAre(6, 6, 30, 30));
}

TEST(Recurrent, MisfitsAreRefused) {
  ModelBuilder model(14);
  model.Input("x", {1, 1, 2}).Output("y").Constant(FloatTensor("w", {1, 1, 3}, {1, 1, 1}));
  model.Constant(FloatTensor("r", {1, 1, 1}, {1})).Node("RNN", {"x", "w", "r"}, {"y"});
  const absl::Status status = ImportStatus(model.Model());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("W is 1x1x3, 1x1x2 is expected"));
}

}  // namespace
}  // namespace aot::import::onnx
