// Operators of ai.onnx.ml, run through the reference.
#include <cmath>

#include "compiler/import/onnx/model_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace aot::import::onnx {
namespace {

using aot::onnx::AttributeProto;
using aot::onnx::TensorProto;
using reference::ElementType;
using reference::Shape;
using reference::Tensor;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr float kNan = __builtin_nanf("");

AttributeProto StringsAttribute(const std::string& name, const std::vector<std::string>& values) {
  AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(AttributeProto::STRINGS);
  for (const std::string& value : values) attribute.add_strings(value);
  return attribute;
}

// One node of the domain on input x.
ModelBuilder OneNode(const std::string& op, int64_t version, const Shape& shape, TensorProto::DataType type,
                     int outputs, const std::vector<AttributeProto>& attributes) {
  ModelBuilder model(13);
  auto* domain = model.proto().add_opset_import();
  domain->set_domain("ai.onnx.ml");
  domain->set_version(version);
  model.Input("x", shape, type);
  std::vector<std::string> names;
  for (int i = 0; i < outputs; ++i) {
    names.push_back("y" + std::to_string(i));
    model.Output(names.back());
  }
  model.Node(op, {"x"}, names, attributes);
  model.proto().mutable_graph()->mutable_node(0)->set_domain("ai.onnx.ml");
  return model;
}

std::vector<Tensor> RunNode(const std::string& op, int64_t version, const Tensor& x, int outputs,
                            const std::vector<AttributeProto>& attributes) {
  const auto type = reference::IsFloat(x.element()) ? TensorProto::FLOAT : TensorProto::INT64;
  auto results = RunModel(OneNode(op, version, x.shape(), type, outputs, attributes), {x});
  EXPECT_TRUE(results.ok()) << op << ": " << results.status();
  return results.ok() ? *results : std::vector<Tensor>(static_cast<size_t>(outputs));
}

// Tree 0: feature 0 < 1 ? leaf 1 : (feature 1 <= 5 ? leaf 3 : leaf 4); tree 1: a leaf.
std::vector<AttributeProto> Trees(const std::string& kind, const std::vector<int64_t>& ids,
                                  const std::vector<float>& weights) {
  return {IntsAttribute("nodes_treeids", {0, 0, 0, 0, 0, 1}),
          IntsAttribute("nodes_nodeids", {0, 1, 2, 3, 4, 0}),
          IntsAttribute("nodes_featureids", {0, 0, 1, 0, 0, 0}),
          FloatsAttribute("nodes_values", {1, 0, 5, 0, 0, 0}),
          StringsAttribute("nodes_modes", {"BRANCH_LT", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"}),
          IntsAttribute("nodes_truenodeids", {1, 0, 3, 0, 0, 0}),
          IntsAttribute("nodes_falsenodeids", {2, 0, 4, 0, 0, 0}),
          IntsAttribute("nodes_missing_value_tracks_true", {1, 0, 0, 0, 0, 0}),
          IntsAttribute(kind + "_treeids", {0, 0, 0, 1}),
          IntsAttribute(kind + "_nodeids", {1, 3, 4, 0}),
          IntsAttribute(kind + "_ids", ids),
          FloatsAttribute(kind + "_weights", weights)};
}

const Tensor kRows = Floats({4, 2}, {0, 9, 1, 5, 2, 6, kNan, 9});

TEST(Trees, RegressorSumsLeaves) {
  auto attributes = Trees("target", {0, 0, 0, 0}, {10, 20, 30, 1});
  EXPECT_THAT(Values(RunNode("TreeEnsembleRegressor", 1, kRows, 1, attributes)[0]), ElementsAre(11, 21, 31, 11));
  attributes.push_back(StringAttribute("aggregate_function", "MAX"));
  attributes.push_back(FloatsAttribute("base_values", {100}));
  EXPECT_THAT(Values(RunNode("TreeEnsembleRegressor", 1, kRows, 1, attributes)[0]), ElementsAre(110, 120, 130, 110));
}

TEST(Trees, ClassifierOfThreeClasses) {
  auto attributes = Trees("class", {0, 1, 2, 1}, {1, 2, 3, -0.5});
  attributes.push_back(IntsAttribute("classlabels_int64s", {7, 8, 9}));
  auto results = RunNode("TreeEnsembleClassifier", 1, kRows, 2, attributes);
  EXPECT_THAT(Values(results[0]), ElementsAre(7, 8, 9, 7));
  EXPECT_THAT(Values(results[1]), ElementsAre(1, -0.5, 0, 0, 1.5, 0, 0, -0.5, 3, 1, -0.5, 0));
}

TEST(Trees, ClassesWithoutAScoreAreNoCandidates) {
  auto attributes = Trees("class", {0, 1, 2, 0}, {-1, -2, -3, -4});
  attributes.push_back(IntsAttribute("classlabels_int64s", {0, 1, 2}));
  // Row 1: class 0 has -4 and class 1 has -2; class 2 has none, which is not 0.
  EXPECT_THAT(Values(RunNode("TreeEnsembleClassifier", 1, kRows, 1, attributes)[0]), ElementsAre(0, 1, 2, 0));
}

TEST(Trees, OneScoreForTwoClasses) {
  auto attributes = Trees("class", {0, 0, 0, 0}, {-1, 2, 3, 0});
  attributes.push_back(IntsAttribute("classlabels_int64s", {0, 1}));
  attributes.push_back(StringAttribute("post_transform", "LOGISTIC"));
  auto results = RunNode("TreeEnsembleClassifier", 1, kRows, 2, attributes);
  EXPECT_THAT(Values(results[0]), ElementsAre(0, 1, 1, 0));
  auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_THAT(Values(results[1]), Pointwise(DoubleNear(1e-6), {sigmoid(1), sigmoid(-1), sigmoid(-2), sigmoid(2),
                                                               sigmoid(-3), sigmoid(3), sigmoid(1), sigmoid(-1)}));
  // Weights of one sign are probabilities.
  attributes = Trees("class", {0, 0, 0, 0}, {0.25, 0.5, 0.75, 0});
  attributes.push_back(IntsAttribute("classlabels_int64s", {0, 1}));
  results = RunNode("TreeEnsembleClassifier", 1, kRows, 2, attributes);
  EXPECT_THAT(Values(results[0]), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(Values(results[1]), ElementsAre(0.75, 0.25, 0.5, 0.5, 0.25, 0.75, 0.75, 0.25));
}

TEST(Trees, EnsembleTestsMembership) {
  // Feature 0 in {1, 3, 4} ? leaf 0 : leaf 1.
  AttributeProto modes = TensorAttribute("nodes_modes", Int32Tensor("", TensorProto::UINT8, {1}, {6}));
  const std::vector<AttributeProto> attributes = {
      IntAttribute("n_targets", 2),
      IntsAttribute("tree_roots", {0}),
      IntsAttribute("nodes_featureids", {0}),
      modes,
      TensorAttribute("nodes_splits", FloatTensor("", {1}, {0})),
      IntsAttribute("nodes_truenodeids", {0}),
      IntsAttribute("nodes_falsenodeids", {1}),
      IntsAttribute("nodes_trueleafs", {1}),
      IntsAttribute("nodes_falseleafs", {1}),
      IntsAttribute("leaf_targetids", {0, 1}),
      TensorAttribute("leaf_weights", FloatTensor("", {2}, {10, 20})),
      TensorAttribute("membership_values", FloatTensor("", {4}, {1, 3, 4, kNan}))};
  EXPECT_THAT(Values(RunNode("TreeEnsemble", 5, Floats({3, 1}, {1, 2, 4}), 1, attributes)[0]),
              ElementsAre(10, 0, 0, 20, 10, 0));
}

TEST(Trees, BrokenTreesAreRefused) {
  auto attributes = Trees("target", {0, 0, 0, 0}, {1, 1, 1, 1});
  attributes[5] = IntsAttribute("nodes_truenodeids", {0, 0, 3, 0, 0, 0});  // the root leads to itself
  EXPECT_EQ(ImportStatus(OneNode("TreeEnsembleRegressor", 1, {1, 2}, TensorProto::FLOAT, 1, attributes).Model()).code(),
            absl::StatusCode::kInvalidArgument);
  attributes[5] = IntsAttribute("nodes_truenodeids", {9, 0, 3, 0, 0, 0});
  EXPECT_THAT(
      std::string(ImportStatus(OneNode("TreeEnsembleRegressor", 1, {1, 2}, TensorProto::FLOAT, 1, attributes).Model())
                      .message()),
      HasSubstr("tree 0 has no node 9"));
}

TEST(Linear, ClassifierAndRegressor) {
  const std::vector<AttributeProto> attributes = {FloatsAttribute("coefficients", {1, 0, 0, 1}),
                                                  FloatsAttribute("intercepts", {0, 0.5}),
                                                  IntsAttribute("classlabels_ints", {3, 4})};
  auto results = RunNode("LinearClassifier", 1, Floats({2, 2}, {1, 0, 1, 2}), 2, attributes);
  EXPECT_THAT(Values(results[0]), ElementsAre(3, 4));
  EXPECT_THAT(Values(results[1]), ElementsAre(1, 0.5, 1, 2.5));
  EXPECT_THAT(Values(RunNode("LinearRegressor", 1, Floats({1, 2}, {1, 2}), 1,
                             {FloatsAttribute("coefficients", {3, 4}), FloatsAttribute("intercepts", {5})})[0]),
              ElementsAre(16));
}

TEST(Linear, SupportVectors) {
  const std::vector<AttributeProto> attributes = {FloatsAttribute("coefficients", {1, -2}),
                                                  FloatsAttribute("support_vectors", {0, 1}),
                                                  IntAttribute("n_supports", 2),
                                                  FloatsAttribute("rho", {0.5}),
                                                  StringAttribute("kernel_type", "RBF"),
                                                  FloatsAttribute("kernel_params", {2, 0, 0})};
  EXPECT_THAT(Values(RunNode("SVMRegressor", 1, Floats({1, 1}, {1}), 1, attributes)[0]),
              Pointwise(DoubleNear(1e-6), {std::exp(-2.0) - 2 + 0.5}));
}

TEST(Features, ScalersAndNorms) {
  const Tensor x = Floats({1, 2}, {3, -4});
  EXPECT_THAT(
      Values(RunNode("Scaler", 1, x, 1, {FloatsAttribute("offset", {1, 2}), FloatsAttribute("scale", {10})})[0]),
      ElementsAre(20, -60));
  EXPECT_THAT(Values(RunNode("Normalizer", 1, x, 1, {StringAttribute("norm", "L2")})[0]),
              Pointwise(DoubleNear(1e-6), {0.6, -0.8}));
  EXPECT_THAT(Values(RunNode("Normalizer", 1, x, 1, {StringAttribute("norm", "L1")})[0]),
              Pointwise(DoubleNear(1e-6), {3.0 / 7, -4.0 / 7}));
  EXPECT_THAT(Values(RunNode("Normalizer", 1, Floats({1, 2}, {0, 0}), 1, {})[0]), ElementsAre(0, 0));
  EXPECT_THAT(Values(RunNode("Binarizer", 1, x, 1, {FloatAttribute("threshold", 1)})[0]), ElementsAre(1, 0));
  const Tensor integers = Integers(ElementType::kInt64, {1, 3}, {-1, 0, 1});
  EXPECT_THAT(Values(RunNode("Binarizer", 1, integers, 1, {FloatAttribute("threshold", -0.5f)})[0]),
              ElementsAre(0, 1, 1));
  EXPECT_THAT(Values(RunNode(
                  "Imputer", 1, Floats({1, 2}, {kNan, 1}), 1,
                  {FloatsAttribute("imputed_value_floats", {7, 8}), FloatAttribute("replaced_value_float", kNan)})[0]),
              ElementsAre(7, 1));
}

TEST(Features, Encoders) {
  const Tensor x = Integers(ElementType::kInt64, {3}, {2, 5, 9});
  const std::vector<AttributeProto> table = {IntsAttribute("keys_int64s", {5, 2, 5}),
                                             FloatsAttribute("values_floats", {0.5, 0.25, 9}),
                                             FloatAttribute("default_float", -1)};
  EXPECT_THAT(Values(RunNode("LabelEncoder", 2, x, 1, table)[0]), ElementsAre(0.25, 0.5, -1));
  EXPECT_THAT(Values(RunNode("OneHotEncoder", 1, x, 1, {IntsAttribute("cats_int64s", {9, 2})})[0]),
              ElementsAre(0, 1, 0, 0, 1, 0));
  EXPECT_EQ(ImportStatus(OneNode("LabelEncoder", 2, {1}, TensorProto::INT64, 1,
                                 {IntsAttribute("keys_int64s", {1}), StringsAttribute("values_strings", {"a"})})
                             .Model())
                .code(),
            absl::StatusCode::kUnimplemented);
}

TEST(Features, ZipMapGivesTheScores) {
  const Tensor x = Floats({2, 2}, {0.25, 0.75, 1, 0});
  EXPECT_THAT(Values(RunNode("ZipMap", 1, x, 1, {IntsAttribute("classlabels_int64s", {4, 2})})[0]),
              ElementsAre(0.25, 0.75, 1, 0));
}

}  // namespace
}  // namespace aot::import::onnx
