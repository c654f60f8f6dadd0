// Operators whose results have as many elements as the data decides, what may follow them, and what is refused. Values
// of the examples in ONNX's operator documents, or worked out by hand.
#include <cmath>

#include "compiler/import/onnx/model_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace aot::import::onnx {
namespace {

using ::aot::onnx::TensorProto;
using reference::ElementType;
using reference::Shape;
using reference::Tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor Bools(const Shape& shape, const std::vector<int64_t>& values) {
  return Integers(ElementType::kBool, shape, values);
}

// The outputs of the model, cut to the dimensions found.
std::vector<Tensor> Outputs(const ModelBuilder& model, const std::vector<Tensor>& inputs,
                            const compiler::Options& options = {}) {
  auto results = RunModel(model, inputs, options);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *results : std::vector<Tensor>(8, Tensor(reference::TensorType{ElementType::kInt64, {0}}));
}

std::string Refusal(const ModelBuilder& model) {
  const absl::Status status = ImportStatus(model.Model());
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  return std::string(status.message());
}

TEST(NonZero, GivesIndicesInRowMajorOrder) {
  ModelBuilder model(13);
  model.Input("x", {2, 3}).Node("NonZero", {"x"}, {"y"}).Output("y");
  std::vector<Tensor> results = Outputs(model, {Floats({2, 3}, {0, -1, 0, 0.5f, 0, NAN})});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].shape(), (Shape{2, 3}));
  EXPECT_THAT(Values(results[0]), ElementsAre(0, 1, 1, 1, 0, 2));
  EXPECT_THAT(Values(results[1]), ElementsAre(2, 3));
  results = Outputs(model, {Floats({2, 3}, {0, 0, 0, 0, 0, 0})});
  EXPECT_EQ(results[0].shape(), (Shape{2, 0}));
}

TEST(NonZero, OfAScalarHasNoRows) {
  ModelBuilder model(13);
  model.Input("x", {}, TensorProto::INT32).Node("NonZero", {"x"}, {"y"}).Output("y");
  EXPECT_EQ(Outputs(model, {Integers(ElementType::kInt32, {}, {7})})[0].shape(), (Shape{0, 1}));
  EXPECT_EQ(Outputs(model, {Integers(ElementType::kInt32, {}, {0})})[0].shape(), (Shape{0, 0}));
}

TEST(NonZero, OfAConstantHasAFixedShape) {
  ModelBuilder model(13);
  model.Constant(Int64Tensor("x", {4}, {0, 3, 0, 4})).Node("NonZero", {"x"}, {"y"}).Output("y");
  std::vector<Tensor> results = Outputs(model, {});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].shape(), (Shape{1, 2}));
  EXPECT_THAT(Values(results[0]), ElementsAre(1, 3));
}

TEST(Compress, TakesSlicesOrElements) {
  for (const bool flat : {false, true}) {
    ModelBuilder model(11);
    model.Input("x", {3, 2}).Input("c", {-1}, TensorProto::BOOL);
    model.Node("Compress", {"x", "c"}, {"y"},
               flat ? std::vector<::aot::onnx::AttributeProto>{} : std::vector{IntAttribute("axis", -1)});
    model.Output("y");
    compiler::Options options;
    options.input_shapes["c"] = {flat ? 5 : 2};
    const Tensor condition = flat ? Bools({5}, {0, 1, 0, 0, 1}) : Bools({2}, {0, 1});
    std::vector<Tensor> results = Outputs(model, {Floats({3, 2}, {1, 2, 3, 4, 5, 6}), condition}, options);
    EXPECT_EQ(results[0].shape(), flat ? (Shape{2}) : (Shape{3, 1}));
    if (flat) {
      EXPECT_THAT(Values(results[0]), ElementsAre(2, 5));
    } else {
      EXPECT_THAT(Values(results[0]), ElementsAre(2, 4, 6));
    }
  }
}

TEST(Unique, SortedWithAllOutputs) {
  ModelBuilder model(11);
  model.Input("x", {6}).Node("Unique", {"x"}, {"y", "indices", "inverse", "counts"});
  for (const char* output : {"y", "indices", "inverse", "counts"}) model.Output(output);
  std::vector<Tensor> results = Outputs(model, {Floats({6}, {2, 1, 1, 3, 4, 3})});
  EXPECT_THAT(Values(results[0]), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Values(results[1]), ElementsAre(1, 0, 3, 4));
  EXPECT_THAT(Values(results[2]), ElementsAre(1, 0, 0, 2, 3, 2));
  EXPECT_THAT(Values(results[3]), ElementsAre(2, 1, 2, 1));
}

TEST(Unique, UnsortedKeepsTheOrderOfFirstOccurrence) {
  ModelBuilder model(11);
  model.Input("x", {6}).Node("Unique", {"x"}, {"y", "indices", "inverse", "counts"}, {IntAttribute("sorted", 0)});
  for (const char* output : {"y", "indices", "inverse", "counts"}) model.Output(output);
  std::vector<Tensor> results = Outputs(model, {Floats({6}, {2, 1, 1, 3, 4, 3})});
  EXPECT_THAT(Values(results[0]), ElementsAre(2, 1, 3, 4));
  EXPECT_THAT(Values(results[1]), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(Values(results[2]), ElementsAre(0, 1, 1, 2, 3, 2));
  EXPECT_THAT(Values(results[3]), ElementsAre(1, 2, 2, 1));
}

TEST(Unique, AlongAnAxis) {
  ModelBuilder model(11);
  model.Input("x", {2, 4, 2}).Node("Unique", {"x"}, {"y", "indices", "inverse", "counts"}, {IntAttribute("axis", 1)});
  for (const char* output : {"y", "indices", "inverse", "counts"}) model.Output(output);
  std::vector<Tensor> results = Outputs(model, {Floats({2, 4, 2}, {1, 1, 0, 1, 2, 1, 0, 1, 1, 1, 0, 1, 2, 1, 0, 1})});
  EXPECT_EQ(results[0].shape(), (Shape{2, 3, 2}));
  EXPECT_THAT(Values(results[0]), ElementsAre(0, 1, 1, 1, 2, 1, 0, 1, 1, 1, 2, 1));
  EXPECT_THAT(Values(results[1]), ElementsAre(1, 0, 2));
  EXPECT_THAT(Values(results[2]), ElementsAre(1, 0, 2, 0));
  EXPECT_THAT(Values(results[3]), ElementsAre(2, 1, 1));
}

// The boxes of ONNX's examples.
Tensor Boxes(bool center = false) {
  if (center)
    return Floats({1, 6, 4}, {0.5f, 0.5f,  1, 1, 0.5f, 0.6f,  1, 1, 0.5f, 0.4f,   1, 1,
                              0.5f, 10.5f, 1, 1, 0.5f, 10.6f, 1, 1, 0.5f, 100.5f, 1, 1});
  // The second has its corners in the other order.
  return Floats({1, 6, 4},
                {0, 0, 1, 1, 1, 1.1f, 0, 0.1f, 0, -0.1f, 1, 0.9f, 0, 10, 1, 11, 0, 10.1f, 1, 11.1f, 0, 100, 1, 101});
}
Tensor Scores() { return Floats({1, 1, 6}, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f}); }

ModelBuilder Suppression(bool center = false) {
  ModelBuilder model(11);
  model.Input("boxes", {1, 6, 4}).Input("scores", {1, 1, 6}).Input("limit", {1}, TensorProto::INT64);
  model.Input("iou", {1}).Input("least", {1});
  model.Node("NonMaxSuppression", {"boxes", "scores", "limit", "iou", "least"}, {"selected"},
             {IntAttribute("center_point_box", center)});
  return model;
}

TEST(NonMaxSuppression, LimitAndThresholdsComeAtRunTime) {
  for (const bool center : {false, true}) {
    ModelBuilder model = Suppression(center);
    model.Output("selected");
    auto run = [&](int64_t limit, float iou, float least) {
      return Outputs(model, {Boxes(center), Scores(), Integers(ElementType::kInt64, {1}, {limit}), Floats({1}, {iou}),
                             Floats({1}, {least})})[0];
    };
    EXPECT_THAT(Values(run(3, 0.5f, 0)), ElementsAre(0, 0, 3, 0, 0, 0, 0, 0, 5));
    EXPECT_THAT(Values(run(2, 0.5f, 0)), ElementsAre(0, 0, 3, 0, 0, 0));
    EXPECT_THAT(Values(run(9, 0.5f, 0.4f)), ElementsAre(0, 0, 3, 0, 0, 0));
    EXPECT_EQ(run(9, 1, 0).shape(), (Shape{6, 3}));
    EXPECT_EQ(run(0, 0.5f, 0).shape(), (Shape{0, 3}));
    EXPECT_EQ(run(-1, 0.5f, 0).shape(), (Shape{0, 3}));
  }
}

TEST(NonMaxSuppression, WithoutALimitSelectsNothing) {
  ModelBuilder model(10);
  model.Input("boxes", {1, 6, 4}).Input("scores", {1, 1, 6});
  model.Node("NonMaxSuppression", {"boxes", "scores"}, {"selected"}).Output("selected");
  std::vector<Tensor> results = Outputs(model, {Boxes(), Scores()});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].shape(), (Shape{0, 3}));
}

TEST(NonMaxSuppression, ChecksItsInputs) {
  ModelBuilder model(11);
  model.Input("boxes", {1, 6, 4}).Input("scores", {1, 1, 5});
  model.Node("NonMaxSuppression", {"boxes", "scores"}, {"selected"}).Output("selected");
  EXPECT_TRUE(absl::IsInvalidArgument(ImportStatus(model.Model())));
}

// A detector's tail: the boxes and scores of what was selected, one row each.
TEST(DataSizes, ADetectorsTail) {
  ModelBuilder model = Suppression();
  model.Constant(Int64Tensor("two", {1}, {2})).Constant(Int64Tensor("axis", {1}, {1}));
  model.Constant(Int64Tensor("rows", {2}, {-1, 4})).Constant(Int64Tensor("flat", {1}, {-1}));
  model.Node("Gather", {"selected", "two"}, {"column"}, {IntAttribute("axis", 1)});  // n x 1
  model.Node("Squeeze", {"column", "axis"}, {"index"});
  model.Node("Reshape", {"boxes", "rows"}, {"all_boxes"});
  model.Node("Reshape", {"scores", "flat"}, {"all_scores"});
  model.Node("Gather", {"all_boxes", "index"}, {"found_boxes"});
  model.Node("Gather", {"all_scores", "index"}, {"found_scores"});
  model.Node("Unsqueeze", {"found_scores", "axis"}, {"score_column"});
  model.Node("Concat", {"found_boxes", "score_column"}, {"rows_with_scores"}, {IntAttribute("axis", 1)});
  model.Node("Transpose", {"rows_with_scores"}, {"columns"});
  model.Node("ReduceMax", {"rows_with_scores"}, {"largest"}, {IntsAttribute("axes", {1}), IntAttribute("keepdims", 0)});
  model.Node("Shape", {"rows_with_scores"}, {"shape"});
  model.Output("rows_with_scores").Output("columns").Output("largest").Output("shape");
  model.proto().mutable_opset_import(0)->set_version(13);
  std::vector<Tensor> results = Outputs(
      model, {Boxes(), Scores(), Integers(ElementType::kInt64, {1}, {2}), Floats({1}, {0.5f}), Floats({1}, {0})});
  EXPECT_EQ(results[0].shape(), (Shape{2, 5}));
  EXPECT_THAT(Values(results[0]), ElementsAre(0, 10, 1, 11, 0.95f, 0, 0, 1, 1, 0.9f));
  EXPECT_EQ(results[1].shape(), (Shape{5, 2}));
  EXPECT_THAT(Values(results[1]), ElementsAre(0, 0, 10, 0, 1, 1, 11, 1, 0.95f, 0.9f));
  EXPECT_THAT(Values(results[2]), ElementsAre(11, 1));
  EXPECT_THAT(Values(results[3]), ElementsAre(2, 5));
}

TEST(DataSizes, SlicesReshapesAndProductsKeepTheSize) {
  ModelBuilder model(13);
  model.Input("x", {4, 6}).Input("keep", {4}, TensorProto::BOOL).Input("w", {6, 2});
  model.Node("Compress", {"x", "keep"}, {"rows"}, {IntAttribute("axis", 0)});
  for (const auto& [name, values] : std::vector<std::pair<std::string, std::vector<int64_t>>>{
           {"zero_two_three", {0, 2, 3}}, {"minus_three", {-1, 3}}, {"one", {1}}, {"three", {3}}, {"first", {0}}})
    model.Constant(Int64Tensor(name, {static_cast<int64_t>(values.size())}, values));
  model.Node("Reshape", {"rows", "zero_two_three"}, {"cubes"});
  model.Node("Reshape", {"rows", "minus_three"}, {"halves"});
  model.Node("Slice", {"rows", "one", "three", "first"}, {"middle"});
  model.Node("MatMul", {"rows", "w"}, {"products"});
  model.Node("Size", {"rows"}, {"size"});
  for (const char* output : {"cubes", "halves", "middle", "products", "size"}) model.Output(output);
  std::vector<float> x, w(12, 1);
  for (int i = 0; i < 24; ++i) x.push_back(static_cast<float>(i));
  auto run = [&](const std::vector<int64_t>& keep) {
    return Outputs(model, {Floats({4, 6}, x), Bools({4}, keep), Floats({6, 2}, w)});
  };
  std::vector<Tensor> results = run({0, 1, 0, 1});
  EXPECT_EQ(results[0].shape(), (Shape{2, 2, 3}));
  EXPECT_THAT(Values(results[0]), ElementsAre(6, 7, 8, 9, 10, 11, 18, 19, 20, 21, 22, 23));
  EXPECT_EQ(results[1].shape(), (Shape{4, 3}));
  EXPECT_THAT(Values(results[1]), ElementsAre(6, 7, 8, 9, 10, 11, 18, 19, 20, 21, 22, 23));
  EXPECT_THAT(Values(results[2]), ElementsAre(18, 19, 20, 21, 22, 23));
  EXPECT_THAT(Values(results[3]), ElementsAre(51, 51, 123, 123));
  EXPECT_THAT(Values(results[4]), ElementsAre(12));
  results = run({0, 0, 0, 0});
  EXPECT_EQ(results[0].shape(), (Shape{0, 2, 3}));
  EXPECT_EQ(results[2].shape(), (Shape{0, 6}));
  EXPECT_EQ(run({1, 1, 1, 1})[2].shape(), (Shape{2, 6}));
}

TEST(DataSizes, NamesOfOutputsStayApart) {
  ModelBuilder model(13);
  model.Input("x", {3}).Node("NonZero", {"x"}, {"y"}).Node("Abs", {"x"}, {"y.dims"}).Output("y").Output("y.dims");
  std::vector<Tensor> results = Outputs(model, {Floats({3}, {1, 0, 1})});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_THAT(Values(results[1]), ElementsAre(1, 0, 1));
  EXPECT_THAT(Values(results[2]), ElementsAre(1, 2));
}

// What would count what lies beyond the size as data.
TEST(DataSizes, RefusesWhatWouldMixInWhatLiesBeyond) {
  struct Case {
    const char* op;
    std::vector<std::string> inputs;
    std::vector<::aot::onnx::AttributeProto> attributes;
  };
  const std::vector<Case> cases = {
      {"ReduceSum", {"rows", "first"}, {}},
      {"ReduceSum", {"rows"}, {}},
      {"Softmax", {"rows"}, {IntAttribute("axis", 0)}},
      {"MatMul", {"w", "rows"}, {}},
      {"Add", {"rows", "x"}, {}},
      {"Add", {"rows", "others"}, {}},
      {"Concat", {"rows", "x"}, {IntAttribute("axis", 0)}},
      {"Concat", {"rows", "x"}, {IntAttribute("axis", 1)}},
      {"Gather", {"rows", "first"}, {IntAttribute("axis", 0)}},
      {"Squeeze", {"rows"}, {}},
      {"Reshape", {"rows", "fixed"}, {}},
      {"Reshape", {"x", "shape"}, {}},
      {"TopK", {"rows", "first"}, {}},
      {"NonZero", {"rows"}, {}},
      {"CumSum", {"rows", "axis"}, {}},
      {"Conv", {"rows", "w"}, {}},
  };
  for (const Case& c : cases) {
    ModelBuilder model(13);
    model.Input("x", {4, 3}).Input("keep", {4}, TensorProto::BOOL).Input("keep_too", {4}, TensorProto::BOOL);
    model.Input("w", {2, 4}).Constant(Int64Tensor("first", {1}, {0})).Constant(Int64Tensor("axis", {}, {0}));
    model.Constant(Int64Tensor("fixed", {2}, {4, 3}));
    model.Node("Compress", {"x", "keep"}, {"rows"}, {IntAttribute("axis", 0)});
    model.Node("Compress", {"x", "keep_too"}, {"others"}, {IntAttribute("axis", 0)});
    model.Node("Shape", {"rows"}, {"shape"});
    model.Node(c.op, c.inputs, {"y"}, c.attributes).Output("y");
    const std::string message = Refusal(model);
    EXPECT_THAT(message, HasSubstr(std::string("(") + c.op + ", opset 13)"));
    EXPECT_THAT(message, HasSubstr("run time")) << c.op;
  }
}

TEST(DataSizes, BranchesThatRunTimeChoosesAreRefused) {
  ModelBuilder model(13);
  model.Input("x", {4}).Input("c", {}, TensorProto::BOOL);
  ::aot::onnx::GraphProto branch;
  AddNode(branch, "NonZero", {"x"}, {"inner"});
  branch.add_output()->set_name("inner");
  model.Node("If", {"c"}, {"y"}, {GraphAttribute("then_branch", branch), GraphAttribute("else_branch", branch)});
  model.Output("y");
  EXPECT_THAT(Refusal(model), HasSubstr("a branch's output 0"));
}

TEST(BindInput, BecomesAConstant) {
  ModelBuilder model(13);
  model.SymbolicInput("x", {"n", "m"}).Input("shape", {2}, TensorProto::INT64);
  model.Node("Reshape", {"x", "shape"}, {"y"}).Output("y");
  compiler::Options options;
  options.input_shapes["x"] = {2, 3};
  options.bind_inputs["shape"] = Integers(ElementType::kInt64, {2}, {3, 2});
  std::vector<Tensor> results = Outputs(model, {Floats({2, 3}, {1, 2, 3, 4, 5, 6})}, options);
  EXPECT_EQ(results[0].shape(), (Shape{3, 2}));
}

TEST(BindInput, BindsSymbolsAndIsChecked) {
  ModelBuilder model(13);
  model.SymbolicInput("x", {"n"}).SymbolicInput("y", {"n"}).Node("Add", {"x", "y"}, {"z"}).Output("z");
  compiler::Options options;
  options.bind_inputs["x"] = Floats({3}, {1, 2, 3});
  EXPECT_THAT(Values(Outputs(model, {Floats({3}, {1, 1, 1})}, options)[0]), ElementsAre(2, 3, 4));
  options.dims["n"] = 4;
  EXPECT_THAT(std::string(ImportStatus(model.Model(), options).message()), HasSubstr("--bind-input x=a tensor of 3"));
  options.dims.clear();
  options.bind_inputs["x"] = Integers(ElementType::kInt64, {3}, {1, 2, 3});
  EXPECT_THAT(std::string(ImportStatus(model.Model(), options).message()), HasSubstr("a tensor of int64"));
  options.bind_inputs.clear();
  options.bind_inputs["a"] = Floats({3}, {1, 2, 3});
  EXPECT_THAT(std::string(ImportStatus(model.Model(), options).message()), HasSubstr("no such input; it has: x, y"));
  options.bind_inputs = {{"x", Floats({3}, {1, 2, 3})}};
  options.input_shapes["x"] = {3};
  EXPECT_THAT(std::string(ImportStatus(model.Model(), options).message()), HasSubstr("its value already"));
}

TEST(Dropout, RatioAndModeComeAtRunTime) {
  ModelBuilder model(13);
  model.Input("x", {4000}).Input("ratio", {}).Input("training", {}, TensorProto::BOOL);
  model.Node("Dropout", {"x", "ratio", "training"}, {"y", "mask"}, {IntAttribute("seed", 7)});
  model.Output("y").Output("mask");
  const std::vector<float> x(4000, 3);
  auto run = [&](float ratio, int64_t training) {
    return Outputs(model, {Floats({4000}, x), Floats({}, {ratio}), Bools({}, {training})});
  };
  auto mean = [](const Tensor& tensor) {
    double sum = 0;
    for (double value : Values(tensor)) sum += value;
    return sum / static_cast<double>(tensor.size());
  };
  for (const auto& [ratio, training] : {std::pair(0.75f, 0), std::pair(0.0f, 1)}) {
    const std::vector<Tensor> results = run(ratio, training);
    EXPECT_THAT(Values(results[0]), ::testing::Each(3));
    EXPECT_THAT(Values(results[1]), ::testing::Each(1));
  }
  const std::vector<Tensor> results = run(0.75f, 1);
  EXPECT_NEAR(mean(results[1]), 0.25, 0.03);
  EXPECT_NEAR(mean(results[0]), 3, 0.3);
  for (int64_t i = 0; i < 4000; ++i) EXPECT_EQ(results[0].GetFloat(i), results[1].GetInt(i) != 0 ? 12 : 0);
}

TEST(BatchNormalization, Training) {
  for (const int opset : {9, 14}) {
    ModelBuilder model(opset);
    model.Input("x", {2, 1, 2});
    for (const char* input : {"scale", "bias", "mean", "var"}) model.Input(input, {1});
    std::vector<::aot::onnx::AttributeProto> attributes = {FloatAttribute("momentum", 0.75f),
                                                           FloatAttribute("epsilon", 0.75f)};
    if (opset >= 14) attributes.push_back(IntAttribute("training_mode", 1));
    model.Node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, {"y", "new_mean", "new_var"}, attributes);
    model.Output("y").Output("new_mean").Output("new_var");
    std::vector<Tensor> results = Outputs(model, {Floats({2, 1, 2}, {1, 2, 3, 6}), Floats({1}, {2}), Floats({1}, {1}),
                                                  Floats({1}, {10}), Floats({1}, {4})});
    // Deviations -2, -1, 0, 3: variance 3.5, and with epsilon 4.25.
    const double scale = 2 / std::sqrt(4.25);
    const std::vector<double> y = Values(results[0]);
    ASSERT_EQ(y.size(), 4u);
    const double centered[] = {-2, -1, 0, 3};
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[i], 1 + scale * centered[i], 1e-6);
    EXPECT_NEAR(Values(results[1])[0], 0.75 * 10 + 0.25 * 3, 1e-6);
    EXPECT_NEAR(Values(results[2])[0], 0.75 * 4 + 0.25 * 3.5, 1e-6);
  }
}

}  // namespace
}  // namespace aot::import::onnx
