// Operators across the opsets in which they changed, run through the reference.
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
using ::testing::ElementsAreArray;
using ::testing::Pointwise;

struct Case {
  int64_t opset;
  std::string op;
  Shape input;
  std::vector<float> values;
  std::vector<AttributeProto> attributes;
  std::vector<TensorProto> constants;  // the inputs after the first; one without data is an absent input
  Shape shape;
  std::vector<double> expected;
};

// One node with one input x and constants.
void Check(const Case& c) {
  SCOPED_TRACE(c.op + " of opset " + std::to_string(c.opset));
  ModelBuilder model(c.opset);
  model.Input("x", c.input).Output("y");
  std::vector<std::string> inputs = {"x"};
  for (TensorProto tensor : c.constants) {
    const bool absent = !tensor.has_data_type();
    inputs.push_back(absent ? "" : "c" + std::to_string(inputs.size()));
    tensor.set_name(inputs.back());
    if (!absent) model.Constant(tensor);
  }
  model.Node(c.op, inputs, {"y"}, c.attributes);
  auto results = RunModel(model, {Floats(c.input, c.values)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->front().shape(), c.shape);
  EXPECT_THAT(Values(results->front()), Pointwise(DoubleNear(1e-5), c.expected));
}

TensorProto F(const std::vector<int64_t>& dims, const std::vector<float>& values) {
  return FloatTensor("", dims, values);
}
TensorProto I(const std::vector<int64_t>& values) {
  return Int64Tensor("", {static_cast<int64_t>(values.size())}, values);
}
TensorProto Scalar(int64_t value) { return Int64Tensor("", {}, {value}); }
const TensorProto kAbsent;

TEST(Arithmetic, LegacyBroadcast) {
  const std::vector<float> x = {0, 0, 0, 0, 0, 0};
  // Along an axis, as a suffix, and without permission.
  Check({6,
         "Add",
         {2, 3},
         x,
         {IntAttribute("broadcast", 1), IntAttribute("axis", 0)},
         {F({2}, {1, 2})},
         {2, 3},
         {1, 1, 1, 2, 2, 2}});
  Check({1, "Add", {2, 3}, x, {IntAttribute("broadcast", 1)}, {F({3}, {1, 2, 3})}, {2, 3}, {1, 2, 3, 1, 2, 3}});
  Check({7, "Add", {2, 3}, x, {}, {F({3}, {1, 2, 3})}, {2, 3}, {1, 2, 3, 1, 2, 3}});
  ModelBuilder model(6);
  model.Input("x", {2, 3}).Output("y").Constant(FloatTensor("c", {3}, {1, 2, 3})).Node("Add", {"x", "c"}, {"y"});
  EXPECT_EQ(ImportStatus(model.Model()).code(), absl::StatusCode::kInvalidArgument);
}

TEST(Arithmetic, VariadicOperatorsBroadcast) {
  Check({13, "Max", {2, 1}, {1, 5}, {}, {F({2}, {3, 4}), F({1}, {2})}, {2, 2}, {3, 4, 5, 5}});
  Check({13, "Mean", {2}, {1, 5}, {}, {F({2}, {3, 4}), F({}, {2})}, {2}, {2, 11.0 / 3}});
  Check({8, "Sum", {2}, {1, 5}, {}, {}, {2}, {1, 5}});
}

TEST(Arithmetic, PowTakesAnotherTypeOfExponent) {
  Check({13, "Pow", {3}, {1, 2, 3}, {}, {I({2, 3, 2})}, {3}, {1, 8, 9}});
}

TEST(Activation, ClipAcrossOpsets) {
  const std::vector<float> x = {-3, 0, 3};
  Check({6, "Clip", {3}, x, {FloatAttribute("min", -1), FloatAttribute("max", 2)}, {}, {3}, {-1, 0, 2}});
  Check({6, "Clip", {3}, x, {FloatAttribute("max", 2)}, {}, {3}, {-3, 0, 2}});
  Check({11, "Clip", {3}, x, {}, {F({}, {-1}), F({}, {2})}, {3}, {-1, 0, 2}});
  Check({13, "Clip", {3}, x, {}, {kAbsent, F({}, {2})}, {3}, {-3, 0, 2}});
  Check({13, "Clip", {3}, x, {}, {}, {3}, {-3, 0, 3}});
  Check({13, "Clip", {3}, x, {}, {F({}, {2}), F({}, {1})}, {3}, {1, 1, 1}});  // crossed bounds: the upper one
}

TEST(Activation, PReluSlopesPerChannel) {
  Check({6, "PRelu", {1, 2, 2}, {-1, -1, -1, 2}, {}, {F({2}, {0.5, 0.25})}, {1, 2, 2}, {-0.5, -0.5, -0.25, 2}});
  Check({9, "PRelu", {1, 2, 2}, {-1, -1, -1, 2}, {}, {F({2, 1}, {0.5, 0.25})}, {1, 2, 2}, {-0.5, -0.5, -0.25, 2}});
}

TEST(Activation, DropoutIsTheIdentity) {
  Check({1, "Dropout", {2}, {1, 2}, {FloatAttribute("ratio", 0.9f)}, {}, {2}, {1, 2}});
  Check({13, "Dropout", {2}, {1, 2}, {}, {F({}, {0.9f})}, {2}, {1, 2}});
}

TEST(Comparison, CastByNameAndNumber) {
  Check({1, "Cast", {2}, {1.7f, -1.7f}, {StringAttribute("to", "INT32")}, {}, {2}, {1, -1}});
  Check({13, "Cast", {2}, {1.7f, 0}, {IntAttribute("to", TensorProto::BOOL)}, {}, {2}, {1, 0}});
  Check({21, "Cast", {3}, {9, -9, 3.9f}, {IntAttribute("to", TensorProto::INT4)}, {}, {3}, {-7, 7, 3}});
  Check({21, "Cast", {2}, {17, -1}, {IntAttribute("to", TensorProto::UINT4)}, {}, {2}, {1, 15}});
}

TEST(Softmax, FlattensBeforeOpset13) {
  const std::vector<float> x(8, 1.0f);
  Check({11, "Softmax", {2, 2, 2}, x, {}, {}, {2, 2, 2}, std::vector<double>(8, 0.25)});  // axis 1 and 2 as one
  Check({11, "Softmax", {2, 2, 2}, x, {IntAttribute("axis", 2)}, {}, {2, 2, 2}, std::vector<double>(8, 0.5)});
  Check({13, "Softmax", {2, 2, 2}, x, {}, {}, {2, 2, 2}, std::vector<double>(8, 0.5)});
  Check({11, "Softmax", {2, 2, 2}, x, {IntAttribute("axis", 0)}, {}, {2, 2, 2}, std::vector<double>(8, 0.125)});
}

TEST(Movement, AbsurdPadsAreRefused) {
  for (int64_t pad : {INT64_MIN, INT64_MAX}) {
    ModelBuilder model(13);
    model.Input("x", {2}).Output("y").Constant(Int64Tensor("pads", {2}, {pad, 0})).Node("Pad", {"x", "pads"}, {"y"});
    EXPECT_EQ(ImportStatus(model.Model()).code(), absl::StatusCode::kInvalidArgument);
  }
}

// The powers are beyond float32, the root isn't.
TEST(Pooling, HighPowers) {
  for (const char* op : {"LpPool", "GlobalLpPool"}) {
    std::vector<AttributeProto> attributes = {IntAttribute("p", 100)};
    if (op[0] == 'L') attributes.push_back(IntsAttribute("kernel_shape", {2}));
    Check({18, op, {1, 1, 2}, {3, -3}, attributes, {}, {1, 1, 1}, {3 * std::pow(2.0, 0.01)}});
    attributes[0] = IntAttribute("p", INT64_MAX);
    ModelBuilder model(18);
    model.Input("x", {1, 1, 2}).Output("y").Node(op, {"x"}, {"y"}, attributes);
    EXPECT_EQ(ImportStatus(model.Model()).code(), absl::StatusCode::kUnimplemented);
  }
}

TEST(Reduction, AxesAsAttributeAndInput) {
  const std::vector<float> x = {1, 2, 3, 4};
  Check({11, "ReduceSum", {2, 2}, x, {IntsAttribute("axes", {1}), IntAttribute("keepdims", 0)}, {}, {2}, {3, 7}});
  Check({13, "ReduceSum", {2, 2}, x, {IntAttribute("keepdims", 0)}, {I({-1})}, {2}, {3, 7}});
  Check({13, "ReduceSum", {2, 2}, x, {}, {}, {1, 1}, {10}});
  Check({13, "ReduceSum", {2, 2}, x, {IntAttribute("noop_with_empty_axes", 1)}, {I({})}, {2, 2}, {1, 2, 3, 4}});
  Check({13, "ReduceMean", {2, 2}, x, {IntsAttribute("axes", {0})}, {}, {1, 2}, {2, 3}});
  Check({18, "ReduceMean", {2, 2}, x, {}, {I({0})}, {1, 2}, {2, 3}});
  Check({18, "ReduceL1", {2, 2}, {-1, 2, -3, 4}, {}, {I({1})}, {2, 1}, {3, 7}});
  Check({18, "ReduceL2", {2, 2}, {3, 4, 0, 2}, {}, {I({1})}, {2, 1}, {5, 2}});
  Check({18, "ReduceSumSquare", {2, 2}, x, {}, {I({1})}, {2, 1}, {5, 25}});
  Check({18, "ReduceLogSumExp", {1, 2}, {100, 100}, {}, {I({1})}, {1, 1}, {100 + std::log(2.0)}});
}

TEST(Reduction, ArgMaxAndCumSum) {
  Check({12, "ArgMax", {1, 3}, {2, 5, 5}, {IntAttribute("axis", 1)}, {}, {1, 1}, {1}});
  Check({12,
         "ArgMax",
         {1, 3},
         {2, 5, 5},
         {IntAttribute("axis", 1), IntAttribute("keepdims", 0), IntAttribute("select_last_index", 1)},
         {},
         {1},
         {2}});
  Check({11,
         "CumSum",
         {3},
         {1, 2, 3},
         {IntAttribute("exclusive", 1), IntAttribute("reverse", 1)},
         {Scalar(0)},
         {3},
         {5, 3, 0}});
}

TEST(Shape, ReshapeFamilies) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::vector<double> same = {1, 2, 3, 4, 5, 6};
  Check({1, "Reshape", {2, 3}, x, {IntsAttribute("shape", {3, -1})}, {}, {3, 2}, same});
  Check({13, "Reshape", {2, 3}, x, {}, {I({0, 1, -1})}, {2, 1, 3}, same});
  Check({11, "Squeeze", {1, 6, 1}, x, {IntsAttribute("axes", {-1})}, {}, {1, 6}, same});
  Check({13, "Squeeze", {1, 6, 1}, x, {}, {I({0})}, {6, 1}, same});
  Check({13, "Squeeze", {1, 6, 1}, x, {}, {}, {6}, same});
  Check({11, "Unsqueeze", {6}, x, {IntsAttribute("axes", {0, 2})}, {}, {1, 6, 1}, same});
  Check({13, "Unsqueeze", {6}, x, {}, {I({-1, 0})}, {1, 6, 1}, same});
  Check({13, "Flatten", {1, 2, 3}, x, {IntAttribute("axis", 2)}, {}, {2, 3}, same});
  Check({13, "Flatten", {2, 3}, x, {IntAttribute("axis", 0)}, {}, {1, 6}, same});
  Check({15, "Shape", {2, 3}, x, {IntAttribute("start", -1)}, {}, {1}, {3}});
  Check({13, "Size", {2, 3}, x, {}, {}, {}, {6}});
}

TEST(Movement, SliceAcrossOpsets) {
  const std::vector<float> x = {0, 1, 2, 3, 4};
  Check({9, "Slice", {5}, x, {IntsAttribute("starts", {1}), IntsAttribute("ends", {-1})}, {}, {3}, {1, 2, 3}});
  Check({13, "Slice", {5}, x, {}, {I({-1}), I({INT64_MIN}), I({0}), I({-2})}, {3}, {4, 2, 0}});
  Check({13, "Slice", {5}, x, {}, {I({3}), I({0}), I({0}), I({-1})}, {3}, {3, 2, 1}});
  Check({13, "Slice", {5}, x, {}, {I({2}), I({INT64_MAX})}, {3}, {2, 3, 4}});
  Check({13, "Slice", {5}, x, {}, {I({4}), I({2})}, {0}, {}});
  Check({13, "Slice", {5}, x, {}, {I({0}), I({5}), I({0}), I({INT64_MAX})}, {1}, {0}});
}

TEST(Movement, SplitUnevenly) {
  ModelBuilder model(18);
  model.Input("x", {5}).Output("a").Output("b").Node("Split", {"x"}, {"a", "b"}, {IntAttribute("num_outputs", 2)});
  auto results = RunModel(model, {Floats({5}, {0, 1, 2, 3, 4})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Values((*results)[0]), ElementsAre(0, 1, 2));
  EXPECT_THAT(Values((*results)[1]), ElementsAre(3, 4));
  ModelBuilder uneven(13);
  uneven.Input("x", {5}).Output("a").Output("b").Node("Split", {"x"}, {"a", "b"});
  EXPECT_EQ(ImportStatus(uneven.Model()).code(), absl::StatusCode::kInvalidArgument);
}

TEST(Movement, TileExpandPadConcat) {
  const std::vector<float> x = {1, 2};
  Check({13, "Tile", {1, 2}, x, {}, {I({2, 2})}, {2, 4}, {1, 2, 1, 2, 1, 2, 1, 2}});
  Check({13, "Expand", {2, 1}, x, {}, {I({2, 1, 2})}, {2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2}});
  Check({2, "Pad", {2}, x, {IntsAttribute("pads", {1, 1}), FloatAttribute("value", 9)}, {}, {4}, {9, 1, 2, 9}});
  Check({1, "Pad", {2}, x, {IntsAttribute("paddings", {0, 1})}, {}, {3}, {1, 2, 0}});
  Check({11, "Pad", {3}, {1, 2, 3}, {StringAttribute("mode", "reflect")}, {I({2, 1})}, {6}, {3, 2, 1, 2, 3, 2}});
  Check({18, "Pad", {1, 2}, x, {}, {I({1, -1}), F({}, {7}), I({-1})}, {1, 2}, {7, 1}});
  Check({19, "Pad", {3}, {1, 2, 3}, {StringAttribute("mode", "wrap")}, {I({1, 1})}, {5}, {3, 1, 2, 3, 1}});
  Check({3, "Concat", {1, 2}, x, {}, {F({1, 1}, {3})}, {1, 3}, {1, 2, 3}});  // the axis was 1 by default
}

TEST(Movement, DepthToSpaceModes) {
  const std::vector<float> x = {0, 1, 2, 3, 4, 5, 6, 7};
  Check({11,
         "DepthToSpace",
         {1, 8, 1, 1},
         x,
         {IntAttribute("blocksize", 2)},
         {},
         {1, 2, 2, 2},
         {0, 2, 4, 6, 1, 3, 5, 7}});
  Check({11,
         "DepthToSpace",
         {1, 8, 1, 1},
         x,
         {IntAttribute("blocksize", 2), StringAttribute("mode", "CRD")},
         {},
         {1, 2, 2, 2},
         {0, 1, 2, 3, 4, 5, 6, 7}});
  Check(
      {13, "SpaceToDepth", {1, 1, 2, 2}, {0, 1, 2, 3}, {IntAttribute("blocksize", 2)}, {}, {1, 4, 1, 1}, {0, 1, 2, 3}});
}

TEST(MatMul, VectorsAndGemm) {
  Check({13, "MatMul", {2}, {1, 2}, {}, {F({2}, {3, 4})}, {}, {11}});
  Check({13, "MatMul", {2}, {1, 2}, {}, {F({2, 2}, {1, 2, 3, 4})}, {2}, {7, 10}});
  Check({13, "MatMul", {2, 2}, {1, 2, 3, 4}, {}, {F({2}, {1, 1})}, {2}, {3, 7}});
  Check({13,
         "Gemm",
         {2, 1},
         {1, 2},
         {IntAttribute("transA", 1), FloatAttribute("alpha", 2), FloatAttribute("beta", 0.5)},
         {F({2, 2}, {1, 2, 3, 4}), F({2}, {2, 4})},
         {1, 2},
         {15, 22}});
  Check({11, "Gemm", {1, 2}, {1, 2}, {IntAttribute("transB", 1)}, {F({2, 2}, {1, 2, 3, 4})}, {1, 2}, {5, 11}});
}

TEST(MatMul, Einsum) {
  const std::vector<float> x = {1, 2, 3, 4};
  Check({12, "Einsum", {2, 2}, x, {StringAttribute("equation", "ij->ji")}, {}, {2, 2}, {1, 3, 2, 4}});
  Check({12, "Einsum", {2, 2}, x, {StringAttribute("equation", "ii->i")}, {}, {2}, {1, 4}});
  Check({12, "Einsum", {2, 2}, x, {StringAttribute("equation", "ij, jk")}, {F({2, 1}, {1, 1})}, {2, 1}, {3, 7}});
  Check({12, "Einsum", {2, 2}, x, {StringAttribute("equation", "...i,i->...")}, {F({2}, {1, 10})}, {2}, {21, 43}});
  Check({12,
         "Einsum",
         {2, 2},
         x,
         {StringAttribute("equation", "ij,kj,k->i")},
         {F({2, 2}, {1, 0, 0, 1}), F({2}, {1, 2})},
         {2},
         {5, 11}});
}

TEST(Convolution, PaddingAndTransposition) {
  const std::vector<float> x = {1, 2, 3, 4};
  const TensorProto ones = F({1, 1, 3}, {1, 1, 1});
  Check({11,
         "Conv",
         {1, 1, 4},
         x,
         {StringAttribute("auto_pad", "SAME_UPPER"), IntsAttribute("strides", {2})},
         {ones},
         {1, 1, 2},
         {6, 7}});
  Check({11,
         "Conv",
         {1, 1, 4},
         x,
         {StringAttribute("auto_pad", "SAME_LOWER"), IntsAttribute("strides", {2})},
         {ones},
         {1, 1, 2},
         {3, 9}});
  Check({11, "Conv", {1, 1, 4}, x, {IntsAttribute("pads", {1, 0})}, {ones, F({1}, {10})}, {1, 1, 3}, {13, 16, 19}});
  Check({11, "ConvTranspose", {1, 1, 2}, {1, 2}, {IntsAttribute("strides", {2})}, {ones}, {1, 1, 5}, {1, 1, 3, 2, 2}});
  Check({11,
         "ConvTranspose",
         {1, 1, 2},
         {1, 2},
         {IntsAttribute("strides", {2}), IntsAttribute("output_shape", {4})},
         {ones},
         {1, 1, 4},
         {1, 3, 2, 2}});
  Check({11,
         "ConvTranspose",
         {1, 1, 2},
         {1, 2},
         {IntsAttribute("strides", {2}), StringAttribute("auto_pad", "SAME_UPPER")},
         {ones},
         {1, 1, 4},
         {1, 1, 3, 2}});
  Check({11,
         "ConvTranspose",
         {1, 1, 2},
         {1, 2},
         {IntsAttribute("strides", {2}), IntsAttribute("output_padding", {1})},
         {ones},
         {1, 1, 6},
         {1, 1, 3, 2, 2, 0}});
}

TEST(Pooling, CeilModeAndPadding) {
  const std::vector<float> x = {1, 2, 3, 4};
  Check({12,
         "MaxPool",
         {1, 1, 4},
         x,
         {IntsAttribute("kernel_shape", {3}), IntsAttribute("strides", {2}), IntAttribute("ceil_mode", 1)},
         {},
         {1, 1, 2},
         {3, 4}});
  Check({12,
         "MaxPool",
         {1, 1, 4},
         x,
         {IntsAttribute("kernel_shape", {1}), IntsAttribute("strides", {5}), IntAttribute("ceil_mode", 1)},
         {},
         {1, 1, 1},
         {1}});
  Check({7,
         "AveragePool",
         {1, 1, 4},
         x,
         {IntsAttribute("kernel_shape", {2}), IntsAttribute("pads", {1, 0}), IntsAttribute("strides", {2})},
         {},
         {1, 1, 2},
         {1, 2.5}});
  Check({7,
         "AveragePool",
         {1, 1, 4},
         x,
         {IntsAttribute("kernel_shape", {2}), IntsAttribute("pads", {1, 0}), IntsAttribute("strides", {2}),
          IntAttribute("count_include_pad", 1)},
         {},
         {1, 1, 2},
         {0.5, 2.5}});
  Check({13, "GlobalAveragePool", {1, 1, 2, 2}, x, {}, {}, {1, 1, 1, 1}, {2.5}});
}

TEST(Normalisation, BatchOfOneChannel) {
  Check({15,
         "BatchNormalization",
         {2},
         {3, 5},
         {FloatAttribute("epsilon", 0)},
         {F({1}, {2}), F({1}, {1}), F({1}, {1}), F({1}, {4})},
         {2},
         {3, 5}});
}

TEST(Normalisation, BatchNormalizationAcrossOpsets) {
  const std::vector<TensorProto> factors = {F({2}, {2, 4}), F({2}, {1, 0}), F({2}, {1, 2}), F({2}, {4, 1})};
  const std::vector<AttributeProto> epsilon = {FloatAttribute("epsilon", 0)};
  for (int64_t opset : {7, 9, 14, 15}) {
    Check({opset, "BatchNormalization", {1, 2, 1}, {3, 3}, epsilon, factors, {1, 2, 1}, {3, 4}});
  }
  std::vector<TensorProto> elements;
  for (TensorProto factor : factors) {
    factor.mutable_dims()->Clear();
    factor.add_dims(2);
    factor.add_dims(1);
    elements.push_back(factor);
  }
  Check({7,
         "BatchNormalization",
         {1, 2, 1},
         {3, 3},
         {FloatAttribute("epsilon", 0), IntAttribute("spatial", 0)},
         elements,
         {1, 2, 1},
         {3, 4}});
}

TEST(Normalisation, GroupScalesBeforeOpset21) {
  const std::vector<float> x = {-1, 1, -2, 2};
  Check({18,
         "GroupNormalization",
         {1, 4, 1},
         x,
         {IntAttribute("num_groups", 2), FloatAttribute("epsilon", 0)},
         {F({2}, {1, 3}), F({2}, {0, 1})},
         {1, 4, 1},
         {-1, 1, -2, 4}});
  Check({21,
         "GroupNormalization",
         {1, 4, 1},
         x,
         {IntAttribute("num_groups", 2), FloatAttribute("epsilon", 0)},
         {F({4}, {1, 1, 3, 3}), F({4}, {0, 0, 1, 1})},
         {1, 4, 1},
         {-1, 1, -2, 4}});
}

TEST(Normalisation, LayerNormalizationGivesItsStatistics) {
  ModelBuilder model(17);
  model.Input("x", {1, 2})
      .Output("y")
      .Output("mean")
      .Output("inverse")
      .Constant(FloatTensor("scale", {2}, {1, 1}))
      .Node("LayerNormalization", {"x", "scale"}, {"y", "mean", "inverse"}, {FloatAttribute("epsilon", 0)});
  auto results = RunModel(model, {Floats({1, 2}, {1, 5})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Values((*results)[0]), Pointwise(DoubleNear(1e-6), {-1.0, 1.0}));
  EXPECT_THAT(Values((*results)[1]), ElementsAre(3));
  EXPECT_THAT(Values((*results)[2]), ElementsAre(0.5));
}

TEST(Indexing, GatherScatterTopK) {
  Check({13, "Gather", {3}, {1, 2, 3}, {}, {I({-1, 0})}, {2}, {3, 1}});
  Check({13,
         "GatherElements",
         {2, 2},
         {1, 2, 3, 4},
         {IntAttribute("axis", 1)},
         {Int64Tensor("", {2, 1}, {1, 0})},
         {2, 1},
         {2, 3}});
  Check({13, "GatherND", {2, 2}, {1, 2, 3, 4}, {}, {Int64Tensor("", {1, 2}, {1, 0})}, {1}, {3}});
  Check({18,
         "ScatterElements",
         {3},
         {1, 2, 3},
         {StringAttribute("reduction", "add")},
         {I({0, 0}), F({2}, {10, 20})},
         {3},
         {31, 2, 3}});
  Check({9, "Scatter", {3}, {1, 2, 3}, {}, {I({2}), F({1}, {9})}, {3}, {1, 2, 9}});
  Check({13, "ScatterND", {3}, {1, 2, 3}, {}, {Int64Tensor("", {1, 1}, {1}), F({1}, {9})}, {3}, {1, 9, 3}});
  Check({1, "TopK", {3}, {1, 3, 2}, {IntAttribute("k", 2)}, {}, {2}, {3, 2}});
  Check({11, "TopK", {3}, {1, 3, 2}, {IntAttribute("largest", 0)}, {I({2})}, {2}, {1, 2}});
  Check({11, "OneHot", {2}, {1, 0}, {}, {Scalar(2), F({2}, {-1, 1})}, {2, 2}, {-1, 1, 1, -1}});
  Check({14, "Trilu", {2, 2}, {1, 2, 3, 4}, {IntAttribute("upper", 0)}, {}, {2, 2}, {1, 0, 3, 4}});
  Check({9, "EyeLike", {2, 2}, {1, 2, 3, 4}, {IntAttribute("k", 1)}, {}, {2, 2}, {0, 1, 0, 0}});
}

TEST(Resize, AcrossOpsets) {
  const std::vector<float> x = {1, 2};
  const std::vector<double> doubled = {1, 1, 2, 2};
  Check({7, "Upsample", {1, 1, 1, 2}, x, {FloatsAttribute("scales", {1, 1, 1, 2})}, {}, {1, 1, 1, 4}, doubled});
  Check({9, "Upsample", {1, 1, 1, 2}, x, {}, {F({4}, {1, 1, 1, 2})}, {1, 1, 1, 4}, doubled});
  Check({10, "Resize", {1, 1, 1, 2}, x, {}, {F({4}, {1, 1, 1, 2})}, {1, 1, 1, 4}, doubled});
  Check({11, "Resize", {1, 1, 1, 2}, x, {}, {F({0}, {}), F({4}, {1, 1, 1, 2})}, {1, 1, 1, 4}, doubled});
  Check({13,
         "Resize",
         {1, 1, 1, 2},
         x,
         {StringAttribute("mode", "linear")},
         {kAbsent, kAbsent, I({1, 1, 1, 4})},
         {1, 1, 1, 4},
         {1, 1.25, 1.75, 2}});
  Check({18, "Resize", {1, 1, 1, 2}, x, {IntsAttribute("axes", {3})}, {kAbsent, F({1}, {2})}, {1, 1, 1, 4}, doubled});
}

// Opset 10 takes the element below where a dimension grows and the one above where it shrinks (ONNX 1.5,
// test_resize_downsample_nearest).
TEST(Resize, NearestOfOpset10) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  Check({10, "Resize", {1, 1, 2, 4}, x, {}, {F({4}, {1, 1, 0.6f, 0.6f})}, {1, 1, 1, 2}, {1, 3}});
  Check({10, "Resize", {1, 1, 2, 4}, x, {}, {F({4}, {1, 1, 2, 0.6f})}, {1, 1, 4, 2}, {1, 3, 1, 3, 5, 7, 5, 7}});
}

// One node on x of any type and constants.
absl::StatusOr<Tensor> RunTyped(int64_t opset, const std::string& op, const Tensor& x,
                                const std::vector<AttributeProto>& attributes,
                                std::vector<TensorProto> constants = {}) {
  ModelBuilder model(opset);
  model.Input("x", x.shape(), static_cast<TensorProto::DataType>(x.element())).Output("y");
  std::vector<std::string> inputs = {"x"};
  for (TensorProto& tensor : constants) {
    inputs.push_back("c" + std::to_string(inputs.size()));
    tensor.set_name(inputs.back());
    model.Constant(tensor);
  }
  auto results = RunModel(model.Node(op, inputs, {"y"}, attributes), {x});
  if (!results.ok()) return results.status();
  return results->front();
}

TEST(Integers, GoThroughFloatsAndAreCutOff) {
  auto run = [](const std::string& op, const std::vector<int64_t>& x, const std::vector<AttributeProto>& attributes,
                ElementType element = ElementType::kInt32) {
    auto result = RunTyped(13, op, Integers(element, {static_cast<int64_t>(x.size())}, x), attributes);
    EXPECT_TRUE(result.ok()) << op << ": " << result.status();
    return result.ok() ? Values(*result) : std::vector<double>();
  };
  EXPECT_THAT(run("Shrink", {-3, -1, 0, 1, 3}, {FloatAttribute("bias", 1.5f), FloatAttribute("lambd", 1)}),
              ElementsAre(-1, 0, 0, 0, 1));
  EXPECT_THAT(run("Shrink", {0, 1, 200}, {FloatAttribute("bias", 2)}, ElementType::kUint8), ElementsAre(0, 0, 198));
  EXPECT_THAT(run("ReduceLogSum", {100, 50, 3}, {}), ElementsAre(5));           // log 153 = 5.03
  EXPECT_THAT(run("ReduceLogSumExp", {1000, 1000, 1}, {}), ElementsAre(1000));  // 1000.69
  EXPECT_THAT(run("ReduceL2", {3, 4, 1}, {}), ElementsAre(5));
}

TEST(Integers, AreRefusedWhereOnlyFloatsHaveAMeaning) {
  const Tensor x = Integers(ElementType::kInt32, {2}, {4, 9});
  for (const char* op : {"Sqrt", "Exp", "Sigmoid", "Softmax"}) {
    const absl::Status status = RunTyped(13, op, x, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
    EXPECT_NE(status.message().find("int32"), std::string::npos) << status;
  }
  // A product by a fraction has no exact integer form.
  const Tensor matrix = Integers(ElementType::kInt32, {1, 1}, {3});
  const TensorProto two = Int32Tensor("", TensorProto::INT32, {1, 1}, {2});
  EXPECT_EQ(RunTyped(13, "Gemm", matrix, {FloatAttribute("alpha", 0.5f)}, {two}).status().code(),
            absl::StatusCode::kUnimplemented);
  auto tripled = RunTyped(13, "Gemm", matrix, {FloatAttribute("alpha", 3)}, {two});
  ASSERT_TRUE(tripled.ok()) << tripled.status();
  EXPECT_THAT(Values(*tripled), ElementsAre(18));
}

TEST(Quantisation, PerAxisAndBlocks) {
  const TensorProto zero_points = Int32Tensor("", TensorProto::INT8, {2}, {0, 10});
  Check({13, "QuantizeLinear", {1, 2}, {3, 3}, {}, {F({2}, {1, 0.5}), zero_points}, {1, 2}, {3, 16}});
  Check({21,
         "QuantizeLinear",
         {1, 4},
         {2, 2, 2, 2},
         {IntAttribute("block_size", 2)},
         {F({1, 2}, {1, 2}), Int32Tensor("", TensorProto::INT8, {1, 2}, {0, 5})},
         {1, 4},
         {2, 2, 6, 6}});
  Check({13, "QuantizeLinear", {2}, {300, -1}, {}, {F({}, {1})}, {2}, {255, 0}});
}

// The sum, 129032, and the ratio of the scales are no float16 numbers.
TEST(Quantisation, HalfScalesOfIntegerProducts) {
  auto scale = [](const std::string& name, float value) {
    TensorProto tensor;
    tensor.set_name(name);
    tensor.set_data_type(TensorProto::FLOAT16);
    Tensor element(reference::TensorType{ElementType::kFloat16, {}});
    element.SetFloat(0, value);
    tensor.set_raw_data(std::string(reinterpret_cast<const char*>(element.bytes().data()), element.bytes().size()));
    return tensor;
  };
  ModelBuilder model(21);
  model.Input("a", {1, 8}, TensorProto::INT8)
      .Output("y")
      .Constant(scale("sa", 0.03125f))
      .Constant(scale("sb", 0.03125f))
      .Constant(scale("sy", 1.0f))
      .Constant(Int32Tensor("zero", TensorProto::INT8, {}, {0}))
      .Constant(Int32Tensor("b", TensorProto::INT8, {8, 1}, std::vector<int32_t>(8, 127)))
      .Node("QLinearMatMul", {"a", "sa", "zero", "b", "sb", "zero", "sy", "zero"}, {"y"});
  auto result = RunModel(model, {Integers(ElementType::kInt8, {1, 8}, std::vector<int64_t>(8, 127))});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Values(result->front()), ElementsAre(126));  // 129032 / 1024 = 126.007
}

TEST(Quantisation, IntegerProducts) {
  ModelBuilder model(10);
  model.Input("a", {1, 2}, TensorProto::UINT8)
      .Output("y")
      .Constant(Int32Tensor("b", TensorProto::INT8, {2, 1}, {-1, 2}))
      .Constant(Int32Tensor("za", TensorProto::UINT8, {}, {128}))
      .Constant(Int32Tensor("zb", TensorProto::INT8, {}, {1}))
      .Node("MatMulInteger", {"a", "b", "za", "zb"}, {"y"});
  auto results = RunModel(model, {Integers(ElementType::kUint8, {1, 2}, {0, 255})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->front().element(), ElementType::kInt32);
  EXPECT_THAT(Values(results->front()), ElementsAre(-128 * -2 + 127 * 1));
}

TEST(Generation, ConstantForms) {
  const std::vector<float> x = {0};
  auto check = [&](const AttributeProto& attribute, const std::vector<double>& expected) {
    ModelBuilder model(13);
    model.Input("x", {1}).Output("y").Node("Constant", {}, {"y"}, {attribute});
    auto results = RunModel(model, {Floats({1}, {0})});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_THAT(Values(results->front()), ElementsAreArray(expected));
  };
  check(TensorAttribute("value", FloatTensor("", {2}, {1, 2})), {1, 2});
  check(FloatAttribute("value_float", 3), {3});
  check(FloatsAttribute("value_floats", {3, 4}), {3, 4});
  check(IntAttribute("value_int", 5), {5});
  check(IntsAttribute("value_ints", {5, 6}), {5, 6});
  AttributeProto sparse;
  sparse.set_name("sparse_value");
  sparse.set_type(AttributeProto::SPARSE_TENSOR);
  *sparse.mutable_sparse_tensor()->mutable_values() = FloatTensor("", {2}, {7, 8});
  *sparse.mutable_sparse_tensor()->mutable_indices() = Int64Tensor("", {2, 2}, {0, 1, 1, 0});
  for (int64_t dim : {2, 2}) sparse.mutable_sparse_tensor()->add_dims(dim);
  check(sparse, {0, 7, 8, 0});
}

TEST(Generation, PackedTypesOfTensors) {
  // Two 4-bit numbers a byte, the first in the low bits.
  TensorProto packed = Int32Tensor("c", TensorProto::INT4, {3}, {});
  packed.set_raw_data(std::string("\xF1\x08", 2));
  ModelBuilder model(21);
  model.Input("x", {1}).Output("y").Constant(packed).Node("Cast", {"c"}, {"y"},
                                                          {IntAttribute("to", TensorProto::INT32)});
  auto results = RunModel(model, {Floats({1}, {0})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Values(results->front()), ElementsAre(1, -1, -8));
}

TEST(Attention, GroupedHeads) {
  // One query of two heads over one key: the result is the value, whatever the scores.
  ModelBuilder model(23);
  model.Input("q", {1, 1, 4})
      .Output("y")
      .Constant(FloatTensor("k", {1, 1, 2}, {1, 2}))
      .Constant(FloatTensor("v", {1, 1, 2}, {3, 4}))
      .Node("Attention", {"q", "k", "v"}, {"y"}, {IntAttribute("q_num_heads", 2), IntAttribute("kv_num_heads", 1)});
  auto results = RunModel(model, {Floats({1, 1, 4}, {1, 2, 3, 4})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->front().shape(), (Shape{1, 1, 4}));
  EXPECT_THAT(Values(results->front()), ElementsAre(3, 4, 3, 4));
}

}  // namespace
}  // namespace aot::import::onnx
