// What an import makes of a graph as a whole, and of everything that is wrong with one.
#include "compiler/import/onnx/import.h"

#include <algorithm>

#include "compiler/import/onnx/model_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace aot::import::onnx {
namespace {

using aot::onnx::FunctionProto;
using aot::onnx::GraphProto;
using aot::onnx::TensorProto;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

ModelBuilder Relu() {
  ModelBuilder model(13);
  model.Input("x", {2}).Output("y").Node("Relu", {"x"}, {"y"});
  return model;
}

TEST(Import, NamesArgumentsResultsAndPlaces) {
  mlir::MLIRContext context;
  auto imported = Import(context, Relu().Model(), {});
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->graph_name, "test");
  EXPECT_EQ(imported->operators, (std::map<std::string, int>{{"Relu", 1}}));
  ASSERT_EQ(imported->inputs.size(), 1u);
  EXPECT_EQ(imported->inputs[0].name, "x");
  EXPECT_EQ(imported->outputs[0].type.shape, reference::Shape{2});
  auto function = *imported->module->getOps<mlir::func::FuncOp>().begin();
  EXPECT_EQ(function.getName().str(), "main");
  EXPECT_EQ(function.getArgAttrOfType<mlir::StringAttr>(0, "nn.name").getValue().str(), "x");
  EXPECT_EQ(function.getResultAttrOfType<mlir::StringAttr>(0, "nn.name").getValue().str(), "y");
  std::string place;
  llvm::raw_string_ostream(place) << function.getBody().front().front().getLoc();
  EXPECT_THAT(place, HasSubstr("y_node (Relu, opset 13)"));
}

TEST(Import, ConstantsShareTheModelsBytes) {
  ModelBuilder model(13);
  std::vector<float> weights(1000);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i);
  model.Input("x", {1000}).Output("y").Constant(FloatTensor("w", {1000}, weights)).Node("Add", {"x", "w"}, {"y"});
  mlir::MLIRContext context;
  auto imported = Import(context, model.Model(), {});
  ASSERT_TRUE(imported.ok()) << imported.status();
  int resources = 0;
  imported->module->walk([&](mlir::Operation* operation) {
    if (operation->getName().getStringRef() != "nn.constant") return;
    resources += operation->getAttrOfType<mlir::DenseResourceElementsAttr>("value") ? 1 : 0;
  });
  EXPECT_EQ(resources, 1);
  // The context's blobs keep the message alive.
  imported->storage.reset();
  auto results = RunModel(model, {Floats({1000}, std::vector<float>(1000, 1.0f))});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->front().GetFloat(999), 1000.0);
}

TEST(Import, ResolvesShapeArithmeticAndDropsWhatNothingUses) {
  ModelBuilder model(13);
  model.SymbolicInput("x", {"N", "M"})
      .Output("y")
      .Constant(Int64Tensor("zero", {1}, {0}))
      .Constant(Int64Tensor("rest", {1}, {-1}))
      .Constant(FloatTensor("unused", {3}, {1, 2}))  // wrong, but nothing reads it
      .Node("Shape", {"x"}, {"shape"})
      .Node("Gather", {"shape", "zero"}, {"n"}, {IntAttribute("axis", 0)})
      .Node("Concat", {"n", "rest"}, {"target"}, {IntAttribute("axis", 0)})
      .Node("Relu", {"x"}, {"r"})
      .Node("Exp", {"r"}, {"dead"})
      .Node("Reshape", {"r", "target"}, {"y"});
  compiler::Options options;
  options.dims = {{"N", 2}, {"M", 3}};
  mlir::MLIRContext context;
  auto imported = Import(context, model.Model(), options);
  ASSERT_TRUE(imported.ok()) << imported.status();
  std::vector<std::string> names;
  for (mlir::Operation& operation : (*imported->module->getOps<mlir::func::FuncOp>().begin()).getBody().front()) {
    names.push_back(operation.getName().getStringRef().str());
  }
  EXPECT_THAT(names, ElementsAre("nn.relu", "func.return"));
}

TEST(Import, SortsNodesAndResolvesInitialisersThatAreInputs) {
  ModelBuilder model(13);
  model.Input("x", {2})
      .Input("w", {2})
      .Output("y")
      .Constant(FloatTensor("w", {2}, {1, 2}))
      .Node("Neg", {"t"}, {"y"})
      .Node("Add", {"x", "w"}, {"t"});
  auto results = RunModel(model, {Floats({2}, {10, 20})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Values(results->front()), ElementsAre(-11, -22));
}

TEST(Import, OutputsMayBeInputsAndConstants) {
  ModelBuilder model(13);
  model.Input("x", {2}).Output("x").Output("c").Constant(FloatTensor("c", {1}, {5}));
  auto results = RunModel(model, {Floats({2}, {1, 2})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Values((*results)[0]), ElementsAre(1, 2));
  EXPECT_THAT(Values((*results)[1]), ElementsAre(5));
}

TEST(Import, ListsUnboundDimensionsAtOnce) {
  ModelBuilder model(13);
  model.SymbolicInput("x", {"N", "C"}).Input("z", {-1}).Output("y").Node("Relu", {"x"}, {"y"});
  absl::Status status = ImportStatus(model.Model());
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Message(status),
            "input 'x' has symbolic dimension 'N' at position 0: bind it with --dim N=1 or --input-shape x=...\n"
            "input 'x' has symbolic dimension 'C' at position 1: bind it with --dim C=1 or --input-shape x=...\n"
            "input 'z' has an unknown dimension without a name at position 0: bind it with --input-shape z=...");
}

TEST(Import, RefusesOptionsThatDontFit) {
  ModelBuilder model(13);
  model.SymbolicInput("x", {"N"}).SymbolicInput("z", {"N"}).Output("y").Node("Add", {"x", "z"}, {"y"});
  compiler::Options options;
  options.dims = {{"K", 1}};
  EXPECT_THAT(Message(ImportStatus(model.Model(), options)),
              HasSubstr("--dim K=1: no input has a dimension of that name; there are: N"));
  options.dims = {{"N", -1}};
  EXPECT_THAT(Message(ImportStatus(model.Model(), options)), HasSubstr("negative"));
  options.dims.clear();
  options.input_shapes = {{"x", {2}}, {"z", {3}}};
  EXPECT_THAT(Message(ImportStatus(model.Model(), options)), HasSubstr("already bound to 2"));
  options.input_shapes = {{"q", {2}}};
  EXPECT_THAT(Message(ImportStatus(model.Model(), options)), HasSubstr("the model has no such input; it has: x, z"));
  options.input_shapes = {{"x", {2, 2}}};
  EXPECT_THAT(Message(ImportStatus(model.Model(), options)), HasSubstr("the model's input has 1 dimensions"));
  options.input_shapes = {{"x", {2}}};
  EXPECT_TRUE(ImportStatus(model.Model(), options).ok());  // binds N for both
  options.input_shapes = {{"x", {3}}};
  EXPECT_THAT(Message(ImportStatus(Relu().Model(), options)), HasSubstr("dimension 0 is fixed to 2 in the model"));
}

TEST(Import, ListsEveryUnsupportedNode) {
  ModelBuilder model(13);
  model.Input("x", {2})
      .Output("y")
      .Node("NoSuchOp", {"x"}, {"a"})
      .Node("Relu", {"a"}, {"b"})
      .Node("Gelu", {"b"}, {"c"})
      .Node("Cast", {"c"}, {"y"}, {IntAttribute("to", TensorProto::STRING)});
  model.proto().mutable_graph()->mutable_node(0)->set_name("bad \xff 'name'\n");
  absl::Status status = ImportStatus(model.Model());
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(
      Message(status),
      HasSubstr("unsupported: node 'bad \\xff \\'name\\'\\x0a' (NoSuchOp, opset 13): the operator is not known; "
                "supported: the operators in the list of supported operators\n"));
  EXPECT_THAT(Message(status),
              HasSubstr("unsupported: node 'c_node' (Gelu, opset 13): the operator is newer than opset 13; "
                        "supported: opsets 20 to 27"));
  EXPECT_THAT(Message(status), Not(HasSubstr("Relu")));
}

TEST(Import, NamesTheDimensionThatDependsOnData) {
  ModelBuilder model(13);
  model.Input("x", {2, 2}).Input("shape", {1}, TensorProto::INT64).Output("y").Node("Reshape", {"x", "shape"}, {"y"});
  absl::Status status = ImportStatus(model.Model());
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Message(status),
            "unsupported: node 'y_node' (Reshape, opset 13): the result's dimensions depend on the shape, 'shape', "
            "which is only "
            "known at run time; supported: constants and what follows from shapes");
}

TEST(Import, RefusesBrokenGraphs) {
  {
    ModelBuilder model(13);
    model.Input("x", {2})
        .Output("y")
        .Node("Add", {"x", "b"}, {"a"})
        .Node("Neg", {"a"}, {"b"})
        .Node("Neg", {"b"}, {"y"});
    EXPECT_THAT(Message(ImportStatus(model.Model())), HasSubstr("the graph has a cycle: node 'a_node' (Add)"));
  }
  {
    ModelBuilder model(13);
    model.Input("x", {2}).Output("y").Node("Neg", {"x"}, {"y"}).Node("Abs", {"x"}, {"y"});
    EXPECT_THAT(Message(ImportStatus(model.Model())), HasSubstr("value 'y' is given twice"));
  }
  {
    ModelBuilder model(13);
    model.Input("x", {2}).Output("x2").Constant(FloatTensor("x2", {1}, {1})).Node("Neg", {"x"}, {"x2"});
    EXPECT_THAT(Message(ImportStatus(model.Model())), HasSubstr("value 'x2' is defined twice"));
  }
  {
    ModelBuilder model(13);
    model.Input("x", {2}).Output("y").Node("Add", {"x", "nowhere"}, {"y"});
    EXPECT_THAT(Message(ImportStatus(model.Model())),
                HasSubstr("node 'y_node' (Add, opset 13): input 1 ('nowhere') is not defined"));
  }
  {
    ModelBuilder model(13);
    model.Input("x", {2}).Output("nothing");
    EXPECT_THAT(Message(ImportStatus(model.Model())), HasSubstr("graph output 'nothing' is not defined"));
  }
  {
    ModelBuilder model(13);
    model.Input("x", {2}).Output("y").Node("Add", {"x"}, {"y"});
    EXPECT_THAT(Message(ImportStatus(model.Model())), HasSubstr("input 1 is missing"));
  }
  {
    ModelBuilder model(13);
    model.Input("x", {2}).Output("y").Node("Relu", {"x", "x"}, {"y"});
    EXPECT_THAT(Message(ImportStatus(model.Model())), HasSubstr("takes at most 1"));
  }
  {
    ModelBuilder model(13);
    model.Input("x", {2}).Output("y").Node("Softmax", {"x"}, {"y"}, {StringAttribute("axis", "1")});
    EXPECT_THAT(Message(ImportStatus(model.Model())),
                HasSubstr("attribute 'axis' has the wrong type; it must be an integer"));
  }
  {
    ModelBuilder model(13);
    model.Input("x", {2, 3}).Input("z", {4}).Output("y").Node("Add", {"x", "z"}, {"y"});
    EXPECT_THAT(Message(ImportStatus(model.Model())), HasSubstr("shapes 2x3 and 4 don't broadcast"));
  }
}

TEST(Import, RefusesWhatIsNoModel) {
  for (const std::string& bytes : {std::string(), std::string("\x00\xff garbage", 10), std::string(1000, 'x')}) {
    compiler::Model model;
    model.bytes = bytes;
    absl::Status status = ImportStatus(model);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(Message(status), HasSubstr("not an ONNX model: "));
    EXPECT_THAT(Message(status), HasSubstr(std::to_string(bytes.size()) + " bytes)"));
  }
  ModelBuilder without_opset = Relu();
  without_opset.proto().clear_opset_import();
  EXPECT_THAT(Message(ImportStatus(without_opset.Model())), HasSubstr("imports no operator set"));
  ModelBuilder newer = Relu();
  newer.proto().mutable_opset_import(0)->set_version(99);
  EXPECT_THAT(Message(ImportStatus(newer.Model())), HasSubstr("opset 99; supported: opsets 1 to 27"));
}

TEST(Import, TruncationAtEveryByteGivesAStatus) {
  ModelBuilder model(13);
  model.Input("x", {2, 2})
      .Output("y")
      .Constant(FloatTensor("w", {2, 2}, {1, 2, 3, 4}))
      .Node("MatMul", {"x", "w"}, {"t"})
      .Node("Softmax", {"t"}, {"y"}, {IntAttribute("axis", -1)});
  const std::string bytes = model.Model().bytes;
  for (size_t size = 0; size < bytes.size(); ++size) {
    compiler::Model cut;
    cut.bytes = bytes.substr(0, size);
    (void)ImportStatus(cut);  // some cuts between fields leave a smaller model
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    compiler::Model flipped;
    flipped.bytes = bytes;
    flipped.bytes[i] = static_cast<char>(flipped.bytes[i] ^ 0x55);
    (void)ImportStatus(flipped);
  }
}

TEST(Import, RefusesTensorsThatDontHoldWhatTheySay) {
  auto status = [](const TensorProto& tensor, const std::map<std::string, std::string>& external = {}) {
    ModelBuilder model(13);
    model.Input("x", {2}).Output("w").Constant(tensor);
    compiler::Model bytes = model.Model();
    bytes.external = external;
    return Message(ImportStatus(bytes));
  };
  EXPECT_THAT(status(FloatTensor("w", {3}, {1, 2})), HasSubstr("tensor 'w': 8 bytes of data, float32 3 takes 12"));
  EXPECT_THAT(status(Int64Tensor("w", {3}, {1, 2})), HasSubstr("2 entries in int64_data"));
  EXPECT_THAT(status(FloatTensor("w", {-3}, {1, 2})), HasSubstr("a dimension of -3"));
  EXPECT_THAT(status(FloatTensor("w", {int64_t{1} << 62, int64_t{1} << 62}, {})), HasSubstr("is larger than"));
  EXPECT_THAT(status(FloatTensor("w", std::vector<int64_t>(17, 1), {1})), HasSubstr("17 dimensions; at most 16"));
  TensorProto unknown = FloatTensor("w", {2}, {1, 2});
  unknown.set_data_type(99);
  EXPECT_THAT(status(unknown), HasSubstr("element type 99 does not exist"));
  TensorProto strings = Int32Tensor("w", TensorProto::STRING, {1}, {});
  EXPECT_THAT(status(strings), HasSubstr("string tensors"));

  TensorProto external = FloatTensor("w", {2}, {});
  external.clear_raw_data();
  external.set_data_location(TensorProto::EXTERNAL);
  auto set = [&](const std::string& key, const std::string& value) {
    for (auto& entry : *external.mutable_external_data()) {
      if (entry.key() == key) return entry.set_value(value);
    }
    auto& entry = *external.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  EXPECT_THAT(status(external), HasSubstr("without a location"));
  set("location", "../../etc/passwd");
  EXPECT_THAT(status(external), HasSubstr("'../../etc/passwd' were not given"));
  set("location", "w.bin");
  const std::string data(12, '\0');
  EXPECT_THAT(status(external, {{"w.bin", data}}), HasSubstr("12 bytes of data, float32 2 takes 8"));
  set("offset", "-4");
  EXPECT_THAT(status(external, {{"w.bin", data}}), HasSubstr("offset is '-4', a number of bytes is expected"));
  set("offset", "18446744073709551615");
  EXPECT_THAT(status(external, {{"w.bin", data}}), HasSubstr("are outside its 12 bytes"));
  set("offset", "4");
  EXPECT_EQ(status(external, {{"w.bin", data}}), "");
  set("length", "9");
  EXPECT_THAT(status(external, {{"w.bin", data}}), HasSubstr("are outside its 12 bytes"));
}

TEST(Import, ShapeBombsEndInAStatus) {
  ModelBuilder model(13);
  model.Input("x", {2})
      .Output("y")
      .Constant(Int64Tensor("shape", {3}, {1 << 20, 1 << 20, 1 << 20}))
      .Node("ConstantOfShape", {"shape"}, {"y"});
  EXPECT_THAT(Message(ImportStatus(model.Model())), HasSubstr("is larger than"));
  // Large but legal: no memory is taken for it.
  ModelBuilder large(13);
  large.Input("x", {1})
      .Output("y")
      .Constant(Int64Tensor("shape", {2}, {1 << 19, 1 << 18}))
      .Node("ConstantOfShape", {"shape"}, {"z"})
      .Node("Add", {"z", "x"}, {"y"});
  EXPECT_TRUE(ImportStatus(large.Model()).ok());
  ModelBuilder tile(13);
  tile.Input("x", {2})
      .Output("y")
      .Constant(Int64Tensor("repeats", {1}, {int64_t{1} << 62}))
      .Node("Tile", {"x", "repeats"}, {"y"});
  EXPECT_THAT(Message(ImportStatus(tile.Model())), HasSubstr("is larger than"));
  ModelBuilder range(13);
  range.Input("x", {2})
      .Output("y")
      .Constant(Int64Tensor("start", {}, {0}))
      .Constant(Int64Tensor("limit", {}, {int64_t{1} << 62}))
      .Constant(Int64Tensor("delta", {}, {1}))
      .Node("Range", {"start", "limit", "delta"}, {"y"});
  EXPECT_THAT(Message(ImportStatus(range.Model())), HasSubstr("at most"));
}

// f(a; scale) = a * scale + 1, with scale = 2 by default.
FunctionProto ScaleFunction() {
  FunctionProto function;
  function.set_domain("local");
  function.set_name("Scale");
  function.add_input("a");
  function.add_output("b");
  *function.add_attribute_proto() = FloatAttribute("scale", 2);
  function.add_opset_import()->set_version(13);
  GraphProto graph;
  auto& constant = AddNode(graph, "Constant", {}, {"s"});
  auto& attribute = *constant.add_attribute();
  attribute.set_name("value_float");
  attribute.set_type(aot::onnx::AttributeProto::FLOAT);
  attribute.set_ref_attr_name("scale");
  AddNode(graph, "Constant", {}, {"one"}, {FloatAttribute("value_float", 1)});
  AddNode(graph, "Mul", {"a", "s"}, {"m"});
  AddNode(graph, "Add", {"m", "one"}, {"b"});
  function.mutable_node()->Swap(graph.mutable_node());
  return function;
}

TEST(Import, InlinesFunctions) {
  ModelBuilder model(13);
  model.Input("x", {1})
      .Output("y")
      .Node("Scale", {"x"}, {"t"})
      .Node("Scale", {"t"}, {"y"}, {FloatAttribute("scale", 10)});
  for (auto& node : *model.proto().mutable_graph()->mutable_node()) node.set_domain("local");
  model.proto().add_opset_import()->set_domain("local");
  *model.proto().add_functions() = ScaleFunction();
  auto results = RunModel(model, {Floats({1}, {3})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Values(results->front()), ElementsAre(71));  // (3 * 2 + 1) * 10 + 1
}

TEST(Import, RefusesFunctionsThatCallThemselves) {
  ModelBuilder model(13);
  model.Input("x", {1}).Output("y").Node("Scale", {"x"}, {"y"});
  model.proto().mutable_graph()->mutable_node(0)->set_domain("local");
  model.proto().add_opset_import()->set_domain("local");
  FunctionProto function = ScaleFunction();
  function.mutable_node(2)->set_op_type("Scale");
  function.mutable_node(2)->set_domain("local");
  function.mutable_node(2)->mutable_input()->RemoveLast();
  *model.proto().add_functions() = function;
  EXPECT_THAT(Message(ImportStatus(model.Model())), HasSubstr("function 'Scale' calls itself"));
}

TEST(Import, ResolvesConditionsThatAreKnown) {
  GraphProto then_branch, else_branch;
  AddNode(then_branch, "Neg", {"x"}, {"a"});
  then_branch.add_output()->set_name("a");
  AddNode(else_branch, "NoSuchOp", {"x"}, {"a"});
  else_branch.add_output()->set_name("a");
  ModelBuilder model(13);
  model.Input("x", {2})
      .Output("y")
      .Constant(Int64Tensor("two", {1}, {2}))
      .Node("Shape", {"x"}, {"shape"})
      .Node("Equal", {"shape", "two"}, {"condition"})
      .Node("If", {"condition"}, {"y"},
            {GraphAttribute("then_branch", then_branch), GraphAttribute("else_branch", else_branch)});
  auto results = RunModel(model, {Floats({2}, {1, 2})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Values(results->front()), ElementsAre(-1, -2));

  ModelBuilder open(13);
  open.Input("x", {2})
      .Input("condition", {}, TensorProto::BOOL)
      .Output("y")
      .Node("If", {"condition"}, {"y"},
            {GraphAttribute("then_branch", then_branch), GraphAttribute("else_branch", else_branch)});
  const std::string message = Message(ImportStatus(open.Model()));
  EXPECT_THAT(message, HasSubstr("(NoSuchOp, opset 13): the operator is not known"));
}

TEST(Import, RefusesGraphsThatAreNestedTooDeep) {
  GraphProto graph;
  AddNode(graph, "Neg", {"x"}, {"a"});
  graph.add_output()->set_name("a");
  for (int depth = 0; depth < 100; ++depth) {
    GraphProto outer;
    AddNode(outer, "If", {"c"}, {"a"}, {GraphAttribute("then_branch", graph), GraphAttribute("else_branch", {})});
    outer.add_output()->set_name("a");
    graph = std::move(outer);
  }
  ModelBuilder model(13);
  model.proto().mutable_graph()->Swap(&graph);
  EXPECT_THAT(Message(ImportStatus(model.Model())), HasSubstr("nested deeper than 64"));
}

TEST(Import, ListsItsOperators) {
  bool found = false;
  for (const SupportedOperator& op : SupportedOperators()) {
    EXPECT_FALSE(op.versions.empty()) << op.name;
    EXPECT_TRUE(std::is_sorted(op.versions.begin(), op.versions.end())) << op.name;
    EXPECT_LE(op.versions.back(), NewestOpset()) << op.name;
    found = found || (op.name == "Clip" && op.versions == std::vector<int>{1, 6, 11, 12, 13});
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace aot::import::onnx
