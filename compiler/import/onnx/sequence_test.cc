// Sequences and optionals, run through the reference: every operator, positions from both ends, bodies, inputs and
// outputs of such types.
#include "compiler/import/onnx/import.h"
#include "compiler/import/onnx/model_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace aot::import::onnx {
namespace {

using aot::onnx::AttributeProto;
using aot::onnx::GraphProto;
using aot::onnx::TensorProto;
using aot::onnx::TypeProto;
using reference::ElementType;
using reference::Shape;
using reference::Tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TypeProto FloatTensorType(const std::vector<std::string>& dims) {
  TypeProto type;
  type.mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  for (const std::string& dim : dims) type.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_param(dim);
  return type;
}

TypeProto SequenceOf(const TypeProto& element) {
  TypeProto type;
  *type.mutable_sequence_type()->mutable_elem_type() = element;
  return type;
}

TypeProto OptionalOf(const TypeProto& element) {
  TypeProto type;
  *type.mutable_optional_type()->mutable_elem_type() = element;
  return type;
}

void AddInput(ModelBuilder& model, const std::string& name, const TypeProto& type) {
  auto& input = *model.proto().mutable_graph()->add_input();
  input.set_name(name);
  *input.mutable_type() = type;
}

AttributeProto TypeAttribute(const std::string& name, const TypeProto& type) {
  AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(AttributeProto::TYPE_PROTO);
  *attribute.mutable_tp() = type;
  return attribute;
}

GraphProto Graph(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  GraphProto graph;
  for (const std::string& name : inputs) graph.add_input()->set_name(name);
  for (const std::string& name : outputs) graph.add_output()->set_name(name);
  return graph;
}

// The elements of all results, one list each.
std::vector<std::vector<double>> RunAll(const ModelBuilder& model, const std::vector<Tensor>& inputs,
                                        const compiler::Options& options = {}) {
  auto results = RunModel(model, inputs, options);
  EXPECT_TRUE(results.ok()) << results.status();
  std::vector<std::vector<double>> values;
  if (results.ok()) {
    for (const Tensor& result : *results) values.push_back(Values(result));
  }
  return values;
}

// What an import that should fail says.
std::string Refusal(const ModelBuilder& model, absl::StatusCode code, const compiler::Options& options = {}) {
  const absl::Status status = ImportStatus(model.Model(), options);
  EXPECT_EQ(status.code(), code) << status;
  return std::string(status.message());
}

// A model with x = [1, 2], y = [3], z = [4, 5, 6] and the sequence s of the three.
ModelBuilder ThreeTensors() {
  ModelBuilder model(18);
  model.Input("x", {2}).Input("y", {1}).Input("z", {3});
  model.Node("SequenceConstruct", {"x", "y", "z"}, {"s"});
  return model;
}
const std::vector<Tensor>& ThreeInputs() {
  static const auto* const inputs =
      new std::vector<Tensor>{Floats({2}, {1, 2}), Floats({1}, {3}), Floats({3}, {4, 5, 6})};
  return *inputs;
}

TEST(Sequence, PositionsCountFromBothEnds) {
  for (const auto& [position, value] : {std::pair(0, 1.0), std::pair(2, 4.0), std::pair(-1, 4.0), std::pair(-3, 1.0)}) {
    ModelBuilder model = ThreeTensors();
    model.Output("e").Constant(Int64Tensor("p", {}, {position})).Node("SequenceAt", {"s", "p"}, {"e"});
    EXPECT_EQ(RunAll(model, ThreeInputs()).at(0).at(0), value) << position;
  }
  for (const int64_t position : {3, -4}) {
    ModelBuilder model = ThreeTensors();
    model.Output("e").Constant(Int64Tensor("p", {}, {position})).Node("SequenceAt", {"s", "p"}, {"e"});
    EXPECT_THAT(Refusal(model, absl::StatusCode::kInvalidArgument), HasSubstr("outside of [-3, 2]"));
  }
}

TEST(Sequence, APositionThatComesAtRunTimeIsRefused) {
  ModelBuilder model = ThreeTensors();
  model.Input("p", {}, TensorProto::INT64).Output("e").Node("SequenceAt", {"s", "p"}, {"e"});
  EXPECT_THAT(Refusal(model, absl::StatusCode::kUnimplemented), HasSubstr("position"));
}

TEST(Sequence, InsertEraseAndLength) {
  ModelBuilder model = ThreeTensors();
  model.Constant(Int64Tensor("first", {}, {0})).Constant(Int64Tensor("end", {}, {3}));
  model.Constant(Int64Tensor("before_last", {}, {-1})).Constant(Int64Tensor("middle", {1}, {1}));
  model.Node("SequenceInsert", {"s", "y"}, {"a"}).Node("SequenceInsert", {"s", "y", "first"}, {"b"});
  model.Node("SequenceInsert", {"s", "y", "before_last"}, {"c"}).Node("SequenceInsert", {"s", "y", "end"}, {"d"});
  model.Node("SequenceErase", {"s"}, {"e"}).Node("SequenceErase", {"s", "middle"}, {"f"});
  model.Node("SequenceLength", {"a"}, {"n"}).Output("n");
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) model.Output(name);
  EXPECT_THAT(RunAll(model, ThreeInputs()),
              ElementsAre(ElementsAre(4),                                                                // n
                          ElementsAre(1, 2), ElementsAre(3), ElementsAre(4, 5, 6), ElementsAre(3),       // a
                          ElementsAre(3), ElementsAre(1, 2), ElementsAre(3), ElementsAre(4, 5, 6),       // b
                          ElementsAre(1, 2), ElementsAre(3), ElementsAre(3), ElementsAre(4, 5, 6),       // c
                          ElementsAre(1, 2), ElementsAre(3), ElementsAre(4, 5, 6), ElementsAre(3),       // d
                          ElementsAre(1, 2), ElementsAre(3), ElementsAre(1, 2), ElementsAre(4, 5, 6)));  // e, f
}

TEST(Sequence, EmptyOnesHaveTheirElementType) {
  ModelBuilder model(11);
  model.Input("x", {1}).Output("n").Output("t").Node("SequenceEmpty", {}, {"e"});
  model.Node("SequenceLength", {"e"}, {"n"}).Node("SequenceInsert", {"e", "x"}, {"t"});
  EXPECT_THAT(RunAll(model, {Floats({1}, {7})}), ElementsAre(ElementsAre(0), ElementsAre(7)));
  ModelBuilder other(11);
  other.Input("x", {1}).Output("t").Node("SequenceEmpty", {}, {"e"}, {IntAttribute("dtype", TensorProto::INT64)});
  other.Node("SequenceInsert", {"e", "x"}, {"t"});
  EXPECT_THAT(Refusal(other, absl::StatusCode::kInvalidArgument), HasSubstr("one element type"));
  ModelBuilder nothing(11);
  nothing.Output("e").Node("SequenceEmpty", {}, {"e"});
  EXPECT_THAT(Refusal(nothing, absl::StatusCode::kUnimplemented), HasSubstr("empty sequences"));
}

TEST(Sequence, ConcatJoinsOrStacks) {
  auto run = [](int64_t axis, int64_t new_axis, const Shape& want) {
    ModelBuilder model(11);
    model.Input("x", {1, 2}).Input("y", {1, 2}).Output("c").Node("SequenceConstruct", {"x", "y"}, {"s"});
    model.Node("ConcatFromSequence", {"s"}, {"c"}, {IntAttribute("axis", axis), IntAttribute("new_axis", new_axis)});
    auto results = RunModel(model, {Floats({1, 2}, {1, 2}), Floats({1, 2}, {3, 4})});
    EXPECT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(results->front().shape(), want);
    return Values(results->front());
  };
  EXPECT_THAT(run(0, 0, {2, 2}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(run(-1, 0, {1, 4}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(run(-1, 1, {1, 2, 2}), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(run(2, 1, {1, 2, 2}), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(run(-3, 1, {2, 1, 2}), ElementsAre(1, 2, 3, 4));
  ModelBuilder misfit = ThreeTensors();
  misfit.Output("c").Node("ConcatFromSequence", {"s"}, {"c"}, {IntAttribute("axis", 0), IntAttribute("new_axis", 1)});
  EXPECT_THAT(Refusal(misfit, absl::StatusCode::kInvalidArgument), HasSubstr("tensor 1 of the sequence"));
}

TEST(SplitToSequence, ScalarListAndNothing) {
  const Tensor x = Floats({5}, {1, 2, 3, 4, 5});
  auto model = [](const TensorProto* split, std::vector<AttributeProto> attributes = {}) {
    ModelBuilder builder(11);
    builder.Input("x", {5}).Output("s");
    if (split) builder.Constant(*split);
    builder.Node("SplitToSequence", split ? std::vector<std::string>{"x", "n"} : std::vector<std::string>{"x"}, {"s"},
                 attributes);
    return builder;
  };
  const TensorProto two = Int64Tensor("n", {}, {2}), list = Int64Tensor("n", {3}, {1, 0, 4});
  EXPECT_THAT(RunAll(model(&two), {x}), ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4), ElementsAre(5)));
  // Without a split alone keepdims counts.
  EXPECT_THAT(RunAll(model(&list, {IntAttribute("keepdims", 0)}), {x}),
              ElementsAre(ElementsAre(1), IsEmpty(), ElementsAre(2, 3, 4, 5)));
  for (const int64_t keep : {0, 1}) {
    auto results = RunModel(model(nullptr, {IntAttribute("axis", -1), IntAttribute("keepdims", keep)}), {x});
    ASSERT_TRUE(results.ok()) << results.status();
    ASSERT_EQ(results->size(), 5u);
    EXPECT_EQ((*results)[4].shape(), keep ? Shape{1} : Shape{});
    EXPECT_THAT(Values((*results)[4]), ElementsAre(5));
  }
  for (const TensorProto& wrong : {Int64Tensor("n", {}, {0}), Int64Tensor("n", {2}, {2, 2}),
                                   Int64Tensor("n", {2}, {-1, 6}), Int64Tensor("n", {2}, {INT64_MAX, INT64_MAX})}) {
    EXPECT_FALSE(Refusal(model(&wrong), absl::StatusCode::kInvalidArgument).empty());
  }
}

TEST(SequenceMap, RunsItsBodyForEachPlace) {
  // Adds z, which is the same in all places, and y, which isn't.
  GraphProto body = Graph({"a", "b", "c"}, {"sum", "shape"});
  AddNode(body, "Add", {"a", "b"}, {"ab"});
  AddNode(body, "Add", {"ab", "c"}, {"sum"});
  AddNode(body, "Shape", {"a"}, {"shape"});
  ModelBuilder model(17);
  model.Input("x", {2}).Input("y", {1}).Output("sums").Output("shapes");
  model.Node("SequenceConstruct", {"x", "y"}, {"s"}).Node("SequenceConstruct", {"y", "x"}, {"t"});
  model.Node("SequenceMap", {"s", "t", "y"}, {"sums", "shapes"}, {GraphAttribute("body", body)});
  EXPECT_THAT(RunAll(model, {Floats({2}, {1, 2}), Floats({1}, {10})}),
              ElementsAre(ElementsAre(21, 22), ElementsAre(21, 22), ElementsAre(2), ElementsAre(1)));
}

TEST(SequenceMap, AnEmptySequenceStaysOne) {
  GraphProto body = Graph({"a"}, {"r"});
  *body.mutable_output(0)->mutable_type() = FloatTensorType({});
  AddNode(body, "Neg", {"a"}, {"r"});
  ModelBuilder model(17);
  model.Input("x", {2}).Output("out").Node("SequenceEmpty", {}, {"s"});
  model.Node("SequenceMap", {"s"}, {"m"}, {GraphAttribute("body", body)}).Node("SequenceInsert", {"m", "x"}, {"out"});
  EXPECT_THAT(RunAll(model, {Floats({2}, {1, 2})}), ElementsAre(ElementsAre(1, 2)));
}

TEST(SequenceMap, DifferentLengthsAreRefused) {
  ModelBuilder model = ThreeTensors();
  GraphProto body = Graph({"a", "b"}, {"sum"});
  AddNode(body, "Add", {"a", "b"}, {"sum"});
  model.Output("m").Node("SequenceErase", {"s"}, {"t"});
  model.Node("SequenceMap", {"s", "t"}, {"m"}, {GraphAttribute("body", body)});
  EXPECT_THAT(Refusal(model, absl::StatusCode::kInvalidArgument), HasSubstr("2 tensors, input 0 one of 3"));
}

TEST(Optional, HasAndGivesItsElement) {
  ModelBuilder model = ThreeTensors();
  model.Node("Optional", {"x"}, {"ox"}).Node("Optional", {"s"}, {"os"});
  model.Node("Optional", {}, {"none"}, {TypeAttribute("type", FloatTensorType({}))});
  int outputs = 0;
  for (const char* value : {"ox", "os", "none", "x", "s", ""}) {
    const std::string result = "has" + std::to_string(outputs++);
    model.Node("OptionalHasElement", {value}, {result}).Output(result);
  }
  model.Node("OptionalGetElement", {"ox"}, {"gx"}).Node("OptionalGetElement", {"os"}, {"gs"});
  model.Node("OptionalGetElement", {"y"}, {"gy"}).Output("gx").Output("gs").Output("gy");
  EXPECT_THAT(
      RunAll(model, ThreeInputs()),
      ElementsAre(ElementsAre(1), ElementsAre(1), ElementsAre(0), ElementsAre(1), ElementsAre(1), ElementsAre(0),
                  ElementsAre(1, 2), ElementsAre(1, 2), ElementsAre(3), ElementsAre(4, 5, 6), ElementsAre(3)));
}

TEST(Optional, NothingHasNoElementAndIsNoOutput) {
  ModelBuilder model(15);
  model.Output("y").Node("Optional", {}, {"none"}, {TypeAttribute("type", FloatTensorType({}))});
  model.Node("OptionalGetElement", {"none"}, {"y"});
  EXPECT_THAT(Refusal(model, absl::StatusCode::kInvalidArgument), HasSubstr("has no element"));
  ModelBuilder output(15);
  output.Output("none").Node("Optional", {}, {"none"}, {TypeAttribute("type", FloatTensorType({}))});
  EXPECT_THAT(Refusal(output, absl::StatusCode::kUnimplemented), HasSubstr("output 'none'"));
  ModelBuilder untyped(15);
  untyped.Output("none").Node("Optional", {}, {"none"});
  EXPECT_THAT(Refusal(untyped, absl::StatusCode::kInvalidArgument), HasSubstr("attribute type"));
}

TEST(Containers, OtherOperatorsRefuseThem) {
  ModelBuilder model = ThreeTensors();
  model.Output("r").Node("Neg", {"s"}, {"r"});
  EXPECT_THAT(Refusal(model, absl::StatusCode::kInvalidArgument), HasSubstr("input 0 is a sequence"));
  ModelBuilder at = ThreeTensors();
  at.Output("r").Constant(Int64Tensor("p", {}, {0})).Node("SequenceAt", {"x", "p"}, {"r"});
  EXPECT_THAT(Refusal(at, absl::StatusCode::kInvalidArgument), HasSubstr("a sequence is expected"));
  ModelBuilder condition = ThreeTensors();
  GraphProto branch = Graph({}, {"b"});
  AddNode(branch, "Identity", {"x"}, {"b"});
  condition.Output("r").Node("If", {"s"}, {"r"},
                             {GraphAttribute("then_branch", branch), GraphAttribute("else_branch", branch)});
  EXPECT_THAT(Refusal(condition, absl::StatusCode::kInvalidArgument), HasSubstr("condition is a sequence"));
}

TEST(Containers, AnIfSelectsThemTensorByTensor) {
  GraphProto then_branch = Graph({}, {"a"}), else_branch = Graph({}, {"b"});
  AddNode(then_branch, "SequenceConstruct", {"x", "y"}, {"a"});
  AddNode(else_branch, "SequenceConstruct", {"y", "x"}, {"b"});
  ModelBuilder model(16);
  model.Input("condition", {}, TensorProto::BOOL).Input("x", {1}).Input("y", {1}).Output("s");
  model.Node("If", {"condition"}, {"s"},
             {GraphAttribute("then_branch", then_branch), GraphAttribute("else_branch", else_branch)});
  for (const bool condition : {false, true}) {
    const Tensor flag = Integers(ElementType::kBool, {}, {condition});
    EXPECT_THAT(RunAll(model, {flag, Floats({1}, {1}), Floats({1}, {2})}),
                ElementsAre(ElementsAre(condition ? 1 : 2), ElementsAre(condition ? 2 : 1)));
  }
  GraphProto longer = Graph({}, {"b"});
  AddNode(longer, "SequenceConstruct", {"y", "x", "x"}, {"b"});
  *model.proto().mutable_graph()->mutable_node(0)->mutable_attribute(1)->mutable_g() = longer;
  EXPECT_THAT(Refusal(model, absl::StatusCode::kUnimplemented), HasSubstr("a sequence of 2 tensors"));
}

TEST(Containers, LoopsCarryThem) {
  // Collects x + i; the carried value starts as an optional without an element.
  GraphProto then_branch = Graph({}, {"kept"}), else_branch = Graph({}, {"fresh"});
  AddNode(then_branch, "OptionalGetElement", {"carried"}, {"kept"});
  AddNode(else_branch, "SequenceEmpty", {}, {"fresh"});
  GraphProto body = Graph({"i", "go", "carried"}, {"go_on", "next"});
  AddNode(body, "Identity", {"go"}, {"go_on"});
  AddNode(body, "OptionalHasElement", {"carried"}, {"has"});
  AddNode(body, "If", {"has"}, {"s"},
          {GraphAttribute("then_branch", then_branch), GraphAttribute("else_branch", else_branch)});
  AddNode(body, "Cast", {"i"}, {"f"}, {IntAttribute("to", TensorProto::FLOAT)});
  AddNode(body, "Add", {"x", "f"}, {"e"});
  AddNode(body, "SequenceInsert", {"s", "e"}, {"next"});
  ModelBuilder model(18);
  model.Input("x", {1}).Output("s").Constant(Int64Tensor("n", {}, {3}));
  model.Node("Optional", {}, {"none"}, {TypeAttribute("type", SequenceOf(FloatTensorType({})))});
  model.Node("Loop", {"n", "", "none"}, {"s"}, {GraphAttribute("body", body)});
  EXPECT_THAT(RunAll(model, {Floats({1}, {10})}), ElementsAre(ElementsAre(10), ElementsAre(11), ElementsAre(12)));
}

TEST(Containers, ALengthThatTheRunDecidesIsRefused) {
  GraphProto body = Graph({"i", "go", "carried"}, {"go_on", "next"});
  AddNode(body, "Identity", {"flag"}, {"go_on"});
  AddNode(body, "SequenceInsert", {"carried", "x"}, {"next"});
  ModelBuilder model(16);
  model.Input("x", {1}).Input("flag", {}, TensorProto::BOOL).Output("s").Constant(Int64Tensor("n", {}, {3}));
  model.Node("SequenceEmpty", {}, {"empty"});
  model.Node("Loop", {"n", "", "empty"}, {"s"}, {GraphAttribute("body", body)});
  EXPECT_THAT(Refusal(model, absl::StatusCode::kUnimplemented), HasSubstr("the number of steps"));
}

TEST(Containers, WhatGrowsWithTheSquareOfALoopIsRefused) {
  GraphProto body = Graph({"i", "go", "carried"}, {"go_on", "next"});
  AddNode(body, "Identity", {"go"}, {"go_on"});
  AddNode(body, "SequenceInsert", {"carried", "x"}, {"next"});
  ModelBuilder model(16);
  model.Input("x", {1}).Output("n").Constant(Int64Tensor("steps", {}, {4000}));
  model.Node("SequenceEmpty", {}, {"empty"});
  model.Node("Loop", {"steps", "", "empty"}, {"s"}, {GraphAttribute("body", body)});
  model.Node("SequenceLength", {"s"}, {"n"});
  EXPECT_THAT(Refusal(model, absl::StatusCode::kUnimplemented), HasSubstr("tensors in all"));
  ModelBuilder split(11);
  split.Input("x", {1000, 1000}).Output("n").Node("Reshape", {"x", "shape"}, {"flat"});
  split.Constant(Int64Tensor("shape", {1}, {-1})).Node("SplitToSequence", {"flat"}, {"s"});
  split.Node("SequenceLength", {"s"}, {"n"});
  EXPECT_THAT(Refusal(split, absl::StatusCode::kUnimplemented), HasSubstr("a split into 1000000 tensors"));
}

// A model that gives back the sequence that it takes.
ModelBuilder SequenceInput() {
  ModelBuilder model(13);
  AddInput(model, "s", SequenceOf(FloatTensorType({"N"})));
  model.Output("out").Node("Identity", {"s"}, {"out"});
  return model;
}

TEST(Inputs, ASequenceIsOneInputForEachTensor) {
  compiler::Options options;
  options.input_shapes = {{"s[0]", {1}}, {"s[1]", {2}}};
  mlir::MLIRContext context;
  auto imported = Import(context, SequenceInput().Model(), options);
  ASSERT_TRUE(imported.ok()) << imported.status();
  ASSERT_EQ(imported->inputs.size(), 2u);
  EXPECT_EQ(imported->inputs[1].name, "s[1]");
  EXPECT_EQ(imported->inputs[1].type.shape, Shape{2});
  ASSERT_EQ(imported->outputs.size(), 2u);
  EXPECT_EQ(imported->outputs[0].name, "out[0]");
  EXPECT_THAT(RunAll(SequenceInput(), {Floats({1}, {1}), Floats({2}, {2, 3})}, options),
              ElementsAre(ElementsAre(1), ElementsAre(2, 3)));
}

TEST(Inputs, TheNumberOfTensorsMayBeGivenAlone) {
  compiler::Options options;
  options.input_elements = {{"s", 2}};
  options.dims = {{"N", 1}};
  EXPECT_THAT(RunAll(SequenceInput(), {Floats({1}, {1}), Floats({1}, {2})}, options),
              ElementsAre(ElementsAre(1), ElementsAre(2)));
}

TEST(Inputs, WhatTheOptionsLeaveOpenIsNamed) {
  EXPECT_THAT(Refusal(SequenceInput(), absl::StatusCode::kFailedPrecondition), HasSubstr("--input-elements s=N"));
  compiler::Options options;
  options.input_elements = {{"s", 2}};
  options.input_shapes = {{"s[0]", {1}}};
  EXPECT_THAT(Refusal(SequenceInput(), absl::StatusCode::kFailedPrecondition, options), HasSubstr("input 's[1]'"));
  options.input_shapes = {{"s[0]", {1}}, {"s[1]", {1}}, {"s[2]", {1}}};
  EXPECT_THAT(Refusal(SequenceInput(), absl::StatusCode::kInvalidArgument, options), HasSubstr("s[2]"));
  options.input_elements = {{"s", compiler::kAbsent}};
  EXPECT_THAT(Refusal(SequenceInput(), absl::StatusCode::kInvalidArgument, options), HasSubstr("are possible"));
  options.input_elements = {{"t", 1}};
  EXPECT_THAT(Refusal(SequenceInput(), absl::StatusCode::kInvalidArgument, options), HasSubstr("no such input"));
  ModelBuilder collision = SequenceInput();
  collision.Input("s[0]", {1});
  options.input_elements = {};
  options.input_shapes = {{"s[0]", {1}}};
  EXPECT_THAT(Refusal(collision, absl::StatusCode::kUnimplemented, options), HasSubstr("'s[0]'"));
}

TEST(Inputs, AnOptionalIsThereOrNot) {
  auto model = [](const TypeProto& element) {
    ModelBuilder builder(18);
    AddInput(builder, "o", OptionalOf(element));
    builder.Output("has").Node("OptionalHasElement", {"o"}, {"has"});
    return builder;
  };
  compiler::Options options;
  const ModelBuilder tensor = model(FloatTensorType({"N"})), sequence = model(SequenceOf(FloatTensorType({"N"})));
  EXPECT_THAT(Refusal(tensor, absl::StatusCode::kFailedPrecondition), HasSubstr("--input-elements o=absent"));
  options.input_elements = {{"o", compiler::kAbsent}};
  EXPECT_THAT(RunAll(tensor, {}, options), ElementsAre(ElementsAre(0)));
  EXPECT_THAT(RunAll(sequence, {}, options), ElementsAre(ElementsAre(0)));
  options.input_elements = {{"o", 0}};
  EXPECT_THAT(RunAll(sequence, {}, options), ElementsAre(ElementsAre(1)));
  EXPECT_THAT(Refusal(tensor, absl::StatusCode::kInvalidArgument, options), HasSubstr("absent"));
  options.input_elements = {};
  options.input_shapes = {{"o", {2}}};
  EXPECT_THAT(RunAll(tensor, {Floats({2}, {1, 2})}, options), ElementsAre(ElementsAre(1)));
}

}  // namespace
}  // namespace aot::import::onnx
