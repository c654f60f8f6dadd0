// What attackers and accidents upload: limits are told before the work, in bounded time and memory.
#include <functional>

#include "compiler/import/onnx/model_builder.h"
#include "compiler/import/onnx/wire_scan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace aot::import::onnx {
namespace {

using aot::onnx::AttributeProto;
using aot::onnx::FunctionProto;
using aot::onnx::GraphProto;
using aot::onnx::NodeProto;
using aot::onnx::TensorProto;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kHuge = INT64_MAX;

std::string Message(const absl::Status& status) { return std::string(status.message()); }
std::string MessageOf(const std::string& bytes) {
  compiler::Model model;
  model.bytes = bytes;
  return Message(ImportStatus(model));
}
std::string MessageOf(const ModelBuilder& model) { return Message(ImportStatus(model.Model())); }

// A field of the wire format that holds `content`.
std::string Field(int number, const std::string& content) {
  std::string bytes;
  for (size_t value : {static_cast<size_t>(number << 3 | 2), content.size()}) {
    for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
    bytes.push_back(static_cast<char>(value));
  }
  return bytes + content;
}
std::string Repeat(const std::string& text, int64_t count) {
  std::string bytes;
  bytes.reserve(text.size() * static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) bytes += text;
  return bytes;
}

// ---- Counts, told before anything is parsed. The empty message of a field takes two bytes on the wire.

TEST(Limits, NodesAreCountedBeforeParsing) {
  const std::string graph = Field(7, Repeat(Field(1, ""), kMostNodes + 1));
  EXPECT_EQ(MessageOf(graph), "the model has more than 2000000 nodes");
  EXPECT_EQ(MessageOf(Field(25, Repeat(Field(7, ""), kMostNodes + 1))), "the model has more than 2000000 nodes");
}

TEST(Limits, InitialisersAreCountedBeforeParsing) {
  EXPECT_EQ(MessageOf(Field(7, Repeat(Field(5, ""), kMostTensors + 1))),
            "the model has more than 2000000 initialisers and tensors in attributes");
}

TEST(Limits, DimensionsOfShapesAreCountedBeforeParsing) {
  const std::string shape = Field(2, Repeat(Field(1, ""), kMostMessages));
  const std::string input = Field(11, Field(2, Field(1, shape)));
  EXPECT_THAT(MessageOf(Field(7, input)), HasSubstr("more than 32000000 messages, dimensions of shapes included"));
}

TEST(Limits, OperandsAreCountedBeforeParsing) {
  EXPECT_THAT(MessageOf(Field(7, Field(1, Repeat(Field(1, ""), kMostTexts + 1)))),
              HasSubstr("more than 64000000 names and texts"));
}

TEST(Limits, IntegersThatGrowEightfoldAreCountedBeforeParsing) {
  const std::string tensor = Field(7, std::string(static_cast<size_t>(kMostIntegers) + 1, '\1'));
  EXPECT_THAT(MessageOf(Field(7, Field(5, tensor))),
              HasSubstr("more than 64000000 integers outside of raw_data; large tensors keep their elements there"));
}

TEST(Limits, NamesHaveALength) {
  ModelBuilder model(13);
  const std::string name(70'000, 'n');
  model.Input(name, {2}).Output("y").Node("Relu", {name}, {"y"});
  EXPECT_EQ(MessageOf(model),
            "a name that starts with '" + std::string(40, 'n') + "' has 70000 bytes; at most 65536 are accepted");
}

TEST(Limits, NestingHasADepthForGraphsAndForTypes) {
  std::string graph = Field(1, "");
  for (int depth = 0; depth < 1000; ++depth) graph = Field(1, Field(5, Field(6, graph)));
  EXPECT_EQ(MessageOf(Field(7, graph)), "graphs are nested deeper than 64 in attributes of nodes");
  std::string type = Field(1, "");
  for (int depth = 0; depth < 1000; ++depth) type = Field(4, Field(1, type));
  EXPECT_THAT(MessageOf(Field(7, Field(11, Field(2, type)))), HasSubstr("messages are nested deeper than 208"));
}

TEST(Limits, AScanCountsWhatAModelHas) {
  ModelBuilder model(13);
  GraphProto body;
  AddNode(body, "Neg", {"x"}, {"a"});
  body.add_output()->set_name("a");
  model.Input("x", {2, 3})
      .Input("c", {}, TensorProto::BOOL)
      .Output("y")
      .Constant(Int64Tensor("w", {2}, {1, 2}))
      .Node("If", {"c"}, {"y"}, {GraphAttribute("then_branch", body), GraphAttribute("else_branch", body)});
  WireCounts counts;
  ASSERT_TRUE(ScanModel(model.Model().bytes, &counts).ok());
  EXPECT_EQ(counts.nodes, 3);
  EXPECT_EQ(counts.tensors, 1);
  EXPECT_GT(counts.integers, 4);
}

TEST(Limits, GroupsAndTornFieldsAreCorrupt) {
  EXPECT_THAT(MessageOf("\x0b\x0c"), HasSubstr("not an ONNX model: the data are truncated or corrupt (2 bytes)"));
  EXPECT_THAT(MessageOf("\x3a\x7f"), HasSubstr("truncated or corrupt"));
  EXPECT_THAT(MessageOf(std::string(20, '\xff')), HasSubstr("truncated or corrupt"));
}

// ---- Large but legal: accepted in the time that this test has.

TEST(Limits, AHundredThousandTinyInitialisersAreFine) {
  ModelBuilder model(13);
  model.Input("x", {1}).Output("y");
  for (int i = 0; i < 100'000; ++i) model.Constant(FloatTensor("w" + std::to_string(i), {1}, {1}));
  model.Node("Add", {"x", "w99999"}, {"y"});
  EXPECT_EQ(MessageOf(model), "");
}

TEST(Limits, AHundredThousandStringsInAnAttributeAreFine) {
  AttributeProto keys;
  keys.set_name("keys_strings");
  keys.set_type(AttributeProto::STRINGS);
  for (int i = 0; i < 100'000; ++i) keys.add_strings("word" + std::to_string(i));
  ModelBuilder model(13);
  model.Input("x", {1}).Output("y").Node("Relu", {"x"}, {"y"}, {keys});
  EXPECT_EQ(MessageOf(model), "");
}

TEST(Limits, AMillionNodesThatNothingNeedsAreFine) {
  ModelBuilder model(13);
  model.Input("x", {1}).Output("y").Node("Relu", {"x"}, {"y"});
  compiler::Model bytes = model.Model();
  // Merging messages: a second graph field adds its nodes to the first.
  bytes.bytes += Field(7, Repeat(Field(1, Field(1, "x") + Field(4, "Neg")), 1'000'000));
  EXPECT_EQ(Message(ImportStatus(bytes)), "");
}

// ---- Graphs that lie (field notes on uploads that attack).

TEST(Attacks, AFunctionThatCallsItselfThroughABranchIsRefused) {
  for (const char* op : {"If", "Loop"}) {
    GraphProto body;
    if (std::string(op) == "Loop") {
      body.add_input()->set_name("step");
      body.add_input()->set_name("go");
      body.add_output()->set_name("go");
    }
    NodeProto& call = AddNode(body, "Again", {"a"}, {"inner"});
    call.set_domain("local");
    body.add_output()->set_name("inner");
    FunctionProto function;
    function.set_domain("local");
    function.set_name("Again");
    function.add_input("a");
    function.add_output("b");
    function.add_opset_import()->set_version(13);
    auto& local = *function.add_opset_import();
    local.set_domain("local");
    local.set_version(1);
    GraphProto nodes;
    AddNode(nodes, "Cast", {"a"}, {"truth"}, {IntAttribute("to", TensorProto::BOOL)});
    if (std::string(op) == "If") {
      AddNode(nodes, "If", {"truth"}, {"b"},
              {GraphAttribute("then_branch", body), GraphAttribute("else_branch", body)});
    } else {
      AddNode(nodes, "Constant", {}, {"trips"}, {IntAttribute("value_int", 3)});
      AddNode(nodes, "Loop", {"trips", ""}, {"b"}, {GraphAttribute("body", body)});
    }
    function.mutable_node()->Swap(nodes.mutable_node());
    ModelBuilder model(13);
    model.Input("x", {1}).Output("y").Node("Again", {"x"}, {"y"});
    model.proto().mutable_graph()->mutable_node(0)->set_domain("local");
    model.proto().add_opset_import()->set_domain("local");
    *model.proto().add_functions() = function;
    EXPECT_THAT(MessageOf(model), HasSubstr("function 'Again' calls itself")) << op;
  }
}

TEST(Attacks, CallsThatDoubleAtEachLevelEndAtTheNodeLimit) {
  // f0(x) = f1(f1(x)), f1(x) = f2(f2(x)) ...: 2^40 nodes from a kilobyte.
  ModelBuilder model(13);
  model.Input("x", {1}).Output("y").Node("f0", {"x"}, {"y"});
  model.proto().mutable_graph()->mutable_node(0)->set_domain("local");
  model.proto().add_opset_import()->set_domain("local");
  for (int level = 0; level < 40; ++level) {
    FunctionProto& function = *model.proto().add_functions();
    function.set_domain("local");
    function.set_name("f" + std::to_string(level));
    function.add_input("a");
    function.add_output("c");
    function.add_opset_import()->set_version(13);
    auto& local = *function.add_opset_import();
    local.set_domain("local");
    local.set_version(1);
    GraphProto nodes;
    const bool last = level == 39;
    const std::string next = last ? "Neg" : "f" + std::to_string(level + 1);
    for (auto* node : {&AddNode(nodes, next, {"a"}, {"b"}), &AddNode(nodes, next, {"b"}, {"c"})}) {
      if (!last) node->set_domain("local");
    }
    function.mutable_node()->Swap(nodes.mutable_node());
  }
  EXPECT_THAT(MessageOf(model), HasSubstr("with its functions inlined, the model has more than 2000000 nodes"));
}

TEST(Attacks, DuplicateNamesAreRefusedWhereverTheyAre) {
  ModelBuilder initialisers(13);
  initialisers.Input("x", {1}).Output("y").Node("Relu", {"x"}, {"y"});
  initialisers.Constant(FloatTensor("w", {1}, {1})).Constant(FloatTensor("w", {1}, {2}));
  EXPECT_THAT(MessageOf(initialisers), HasSubstr("two initialisers have the name 'w'"));
  ModelBuilder inputs(13);
  inputs.Input("x", {1}).Input("x", {2}).Output("y").Node("Relu", {"x"}, {"y"});
  EXPECT_THAT(MessageOf(inputs), HasSubstr("'x'"));
  ModelBuilder shadow(13);
  shadow.Input("x", {1}).Output("x").Node("Relu", {"x"}, {"x"});
  EXPECT_THAT(MessageOf(shadow), AnyOf(HasSubstr("defined twice"), HasSubstr("cycle")));
}

TEST(Attacks, UnknownEnumValuesAreNamed) {
  ModelBuilder cast(13);
  cast.Input("x", {1}).Output("y").Node("Cast", {"x"}, {"y"}, {IntAttribute("to", 77)});
  EXPECT_THAT(MessageOf(cast), HasSubstr("element type 77 does not exist"));
  ModelBuilder input(13);
  input.Input("x", {1}, static_cast<TensorProto::DataType>(1234)).Output("y").Node("Relu", {"x"}, {"y"});
  EXPECT_THAT(MessageOf(input), HasSubstr("element type 1234 does not exist"));
  ModelBuilder attribute(13);
  AttributeProto axis = IntAttribute("axis", 1);
  axis.set_type(99);
  attribute.Input("x", {1, 1}).Output("y").Node("Softmax", {"x"}, {"y"}, {axis});
  EXPECT_NE(MessageOf(attribute), "");
}

TEST(Attacks, OpaqueDomainsAndAttributesOfAnyContentAreNamedNotRun) {
  const std::string content("import os\n\x00\xff\x1b[31m'; DROP TABLE", 33);
  ModelBuilder model(13);
  model.Input("x", {1}).Output("y").Node("PythonOp", {"x"}, {"y"}, {StringAttribute(content, content)});
  auto& node = *model.proto().mutable_graph()->mutable_node(0);
  node.set_domain("evil\n\x1b.domain");
  model.proto().add_opset_import()->set_domain(node.domain());
  const std::string message = MessageOf(model);
  EXPECT_THAT(message, AllOf(HasSubstr("unsupported: node 'y_node'"), HasSubstr("evil\\x0a\\x1b.domain"),
                             HasSubstr("supported: operators of ai.onnx")));
  EXPECT_THAT(message, Not(HasSubstr("\x1b")));
}

TEST(Attacks, StringAttributesThatSelectAModeAreQuotedInTheRefusal) {
  ModelBuilder model(13);
  model.Input("x", {1, 1, 2, 2})
      .Output("y")
      .Constant(FloatTensor("scales", {4}, {1, 1, 2, 2}))
      .Node("Resize", {"x", "", "scales"}, {"y"}, {StringAttribute("mode", "near\nest\x01")});
  EXPECT_THAT(MessageOf(model), AllOf(HasSubstr("near\\x0aest\\x01"), Not(HasSubstr("\x01"))));
}

// ---- Tensors that lie.

TEST(Attacks, OddCountsOfPackedValuesTakeWholeBytes) {
  auto message = [](int64_t count, size_t bytes) {
    TensorProto tensor;
    tensor.set_name("w");
    tensor.set_data_type(TensorProto::INT4);
    tensor.add_dims(count);
    tensor.set_raw_data(std::string(bytes, '\x21'));
    ModelBuilder model(21);
    model.Input("x", {1}).Output("w").Constant(tensor);
    return MessageOf(model);
  };
  EXPECT_EQ(message(3, 2), "");
  EXPECT_THAT(message(3, 1), HasSubstr("1 bytes of data, int4 3 takes 2"));
  EXPECT_THAT(message(3, 3), HasSubstr("3 bytes of data, int4 3 takes 2"));
}

TEST(Attacks, DimensionsWhoseProductOverflowsAreRefusedEvenWithAZero) {
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{
           {kHuge, kHuge}, {int64_t{1} << 32, int64_t{1} << 32}, {kHuge}, {int64_t{1} << 20, int64_t{1} << 21}}) {
    ModelBuilder model(13);
    model.Input("x", dims).Output("y").Node("Relu", {"x"}, {"y"});
    EXPECT_THAT(MessageOf(model), HasSubstr("is larger than"));
  }
  ModelBuilder rank(13);
  rank.Input("x", std::vector<int64_t>(100'000, 1)).Output("y").Node("Relu", {"x"}, {"y"});
  EXPECT_THAT(MessageOf(rank), HasSubstr("dimensions; at most 16"));
}

TEST(Attacks, UnknownKeysOfExternalDataChangeNothing) {
  TensorProto tensor = FloatTensor("w", {1}, {});
  tensor.clear_raw_data();
  tensor.set_data_location(TensorProto::EXTERNAL);
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"location", "blob"}, {"checksum", "none"}, {"__class__", "x"}, {"raw_data", "evil"}}) {
    auto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  ModelBuilder model(13);
  model.Input("x", {1}).Output("y").Constant(tensor).Node("Add", {"x", "w"}, {"y"});
  compiler::Model bytes = model.Model();
  EXPECT_THAT(Message(ImportStatus(bytes)), HasSubstr("'blob' were not given"));
  bytes.external["blob"] = std::string(4, '\0');
  EXPECT_EQ(Message(ImportStatus(bytes)), "");
}

TEST(Attacks, ExternalNamesAreLookedUpByTheirBytesAlone) {
  for (const char* location : {"/etc/passwd", "../blob", "./blob", "BLOB", "blob/",
                               "bl\xc3\xb6"
                               "b",
                               "blob\xcc\x88", ""}) {
    TensorProto tensor = FloatTensor("w", {1}, {});
    tensor.clear_raw_data();
    tensor.set_data_location(TensorProto::EXTERNAL);
    auto& entry = *tensor.add_external_data();
    entry.set_key("location");
    entry.set_value(location);
    ModelBuilder model(13);
    model.Input("x", {1}).Output("y").Constant(tensor).Node("Add", {"x", "w"}, {"y"});
    compiler::Model bytes = model.Model();
    bytes.external["blob"] = std::string(4, '\0');
    EXPECT_THAT(Message(ImportStatus(bytes)), HasSubstr("were not given")) << location;
  }
}

// ---- Shapes that explode, and windows that make no sense.

TEST(Attacks, ShapeBombsOfEveryOperatorEndInAStatus) {
  auto message = [](const std::string& op, const std::vector<std::string>& inputs, const TensorProto& constant) {
    ModelBuilder model(13);
    model.Input("x", {2, 2}).Output("y").Constant(constant).Node(op, inputs, {"y"});
    return MessageOf(model);
  };
  EXPECT_THAT(message("Expand", {"x", "c"}, Int64Tensor("c", {3}, {int64_t{1} << 40, 2, 2})),
              HasSubstr("is larger than"));
  EXPECT_THAT(message("Tile", {"x", "c"}, Int64Tensor("c", {2}, {kHuge, kHuge})), HasSubstr("is larger than"));
  EXPECT_NE(message("Pad", {"x", "c"}, Int64Tensor("c", {4}, {kHuge, kHuge, kHuge, kHuge})), "");
  EXPECT_NE(message("Pad", {"x", "c"}, Int64Tensor("c", {4}, {int64_t{1} << 40, 0, int64_t{1} << 40, 0})), "");
  EXPECT_NE(message("Reshape", {"x", "c"}, Int64Tensor("c", {2}, {kHuge, -1})), "");
  EXPECT_NE(message("ConstantOfShape", {"c"}, Int64Tensor("c", {2}, {kHuge, 2})), "");
  EXPECT_NE(message("Resize", {"x", "", "c"}, FloatTensor("c", {2}, {1e30f, 1e30f})), "");
  EXPECT_NE(message("OneHot", {"x", "c", "x"}, Int64Tensor("c", {}, {kHuge})), "");
}

// A chain of `count` negations of the value `from`; gives the last one's name.
std::string Negations(ModelBuilder& model, const std::string& from, int count) {
  std::string last = from;
  for (int i = 0; i < count; ++i) {
    const std::string next = from + std::to_string(i);
    model.Node("Neg", {last}, {next});
    last = next;
  }
  return last;
}

TEST(Attacks, WhatIsComputedOfConstantsHasALimit) {
  // 600 times half a megabyte: the last ones are left to run time.
  ModelBuilder model(13);
  model.Constant(Int64Tensor("large", {65536}, std::vector<int64_t>(65536, 3)));
  model.Output(Negations(model, "large", 600));
  EXPECT_EQ(MessageOf(model), "");
  // Then 2 KB each time, which shapes may need.
  model.Constant(Int64Tensor("small", {256}, std::vector<int64_t>(256, 3)));
  model.Output(Negations(model, "small", 70'000));
  EXPECT_THAT(MessageOf(model), AllOf(HasSubstr("node 'small"), HasSubstr("(Neg, opset 13)"),
                                      HasSubstr("what the model computes of constants, such as shapes, takes more "
                                                "than 402653184 bytes")));
}

TEST(Attacks, KernelsStridesAndDilationsOfZeroAndOfAllBitsAreRefused) {
  for (int64_t value : {int64_t{0}, int64_t{-1}, kHuge, INT64_MIN}) {
    for (const char* attribute : {"kernel_shape", "strides", "dilations"}) {
      for (const char* op : {"Conv", "ConvTranspose", "MaxPool", "AveragePool"}) {
        std::vector<AttributeProto> attributes = {IntsAttribute(attribute, {value, value})};
        if (std::string(attribute) != "kernel_shape" && std::string(op) != "Conv") {
          attributes.push_back(IntsAttribute("kernel_shape", {2, 2}));
        }
        std::vector<std::string> inputs = {"x"};
        if (std::string(op).substr(0, 4) == "Conv") inputs.push_back("w");
        ModelBuilder model(19);
        model.Input("x", {1, 1, 4, 4})
            .Output("y")
            .Constant(FloatTensor("w", {1, 1, 2, 2}, {1, 1, 1, 1}))
            .Node(op, inputs, {"y"}, attributes);
        const std::string message = MessageOf(model);
        // A stride beyond the input is legal: one position is left.
        if (std::string(attribute) == "strides" && value == kHuge && std::string(op) != "ConvTranspose") continue;
        EXPECT_THAT(message, HasSubstr("y_node")) << op << " " << attribute << " " << value;
      }
    }
  }
  for (int64_t pad : {kHuge, INT64_MIN, int64_t{1} << 40}) {
    ModelBuilder model(13);
    model.Input("x", {1, 1, 4, 4})
        .Output("y")
        .Node("MaxPool", {"x"}, {"y"},
              {IntsAttribute("kernel_shape", {2, 2}), IntsAttribute("pads", {pad, pad, pad, pad})});
    EXPECT_NE(MessageOf(model), "") << pad;
  }
}

// ---- Optional operands (field notes on imports).

TEST(Optional, AnEmptyNameAndAnEmptyTensorEqualAnOmittedOperand) {
  for (const std::vector<std::string>& inputs : std::vector<std::vector<std::string>>{
           {"x", "", "scales"}, {"x", "none", "scales"}, {"x", "none", "scales", ""}, {"x", "", "scales", "none64"}}) {
    ModelBuilder model(13);
    model.Input("x", {1, 1, 1, 2})
        .Output("y")
        .Constant(FloatTensor("none", {0}, {}))
        .Constant(Int64Tensor("none64", {0}, {}))
        .Constant(FloatTensor("scales", {4}, {1, 1, 1, 2}))
        .Node("Resize", inputs, {"y"}, {StringAttribute("mode", "nearest"), StringAttribute("nearest_mode", "floor")});
    auto results = RunModel(model, {Floats({1, 1, 1, 2}, {1, 2})});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_THAT(Values(results->front()), ::testing::ElementsAre(1, 1, 1, 2));
  }
  ModelBuilder clip(13);
  clip.Input("x", {3}).Output("y").Constant(FloatTensor("most", {}, {1})).Node("Clip", {"x", "", "most"}, {"y", ""});
  auto results = RunModel(clip, {Floats({3}, {-5, 0.5, 2})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Values(results->front()), ::testing::ElementsAre(-5, 0.5, 1));
}

}  // namespace
}  // namespace aot::import::onnx
