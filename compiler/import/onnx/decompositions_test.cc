// Operators that are written out as several operations: losses, transforms, sampling, states. Run through the
// reference; the expected values are small enough to be done by hand.
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
using ::testing::Pointwise;

constexpr int64_t kOpset = 27;

// One node; every operand is an input of the graph, except that those in `constants` are initialisers.
struct Node {
  std::string op;
  std::vector<Tensor> inputs;
  std::vector<AttributeProto> attributes;
  std::vector<TensorProto> constants;  // after the inputs
  int outputs = 1;
  int64_t opset = kOpset;
};

std::vector<Tensor> Results(const Node& node) {
  ModelBuilder model(node.opset);
  std::vector<std::string> operands, results;
  for (const Tensor& input : node.inputs) {
    operands.push_back("x" + std::to_string(operands.size()));
    model.Input(operands.back(), input.shape(), static_cast<TensorProto::DataType>(input.element()));
  }
  for (TensorProto constant : node.constants) {
    operands.push_back("c" + std::to_string(operands.size()));
    constant.set_name(operands.back());
    model.Constant(constant);
  }
  for (int i = 0; i < node.outputs; ++i) {
    results.push_back("y" + std::to_string(i));
    model.Output(results.back());
  }
  model.Node(node.op, operands, results, node.attributes);
  auto outputs = RunModel(model, node.inputs);
  EXPECT_TRUE(outputs.ok()) << node.op << ": " << outputs.status();
  return outputs.ok() ? *outputs : std::vector<Tensor>(static_cast<size_t>(node.outputs));
}

void Expect(const Tensor& result, const Shape& shape, const std::vector<double>& values) {
  EXPECT_EQ(result.shape(), shape);
  EXPECT_THAT(Values(result), Pointwise(DoubleNear(1e-5), values));
}

Tensor Longs(const Shape& shape, const std::vector<int64_t>& values) {
  return Integers(ElementType::kInt64, shape, values);
}
TensorProto I(const std::vector<int64_t>& values) {
  return Int64Tensor("", {static_cast<int64_t>(values.size())}, values);
}
TensorProto Scalar(int64_t value) { return Int64Tensor("", {}, {value}); }

TEST(Losses, NegativeLogLikelihood) {
  const Tensor scores = Floats({2, 3}, {-1, -2, -3, -4, -5, -6}), labels = Longs({2}, {2, 0});
  const Tensor weights = Floats({3}, {1, 2, 3});
  const std::string op = "NegativeLogLikelihoodLoss";
  Expect(Results({op, {scores, labels}, {StringAttribute("reduction", "none")}})[0], {2}, {3, 4});
  Expect(Results({op, {scores, labels}, {StringAttribute("reduction", "sum")}})[0], {}, {7});
  Expect(Results({op, {scores, labels}})[0], {}, {3.5});
  Expect(Results({op, {scores, labels, weights}})[0], {}, {13.0 / 4});
  Expect(Results({op, {scores, labels}, {IntAttribute("ignore_index", 2)}})[0], {}, {4});
  // An ignored label need not be a class.
  Expect(Results({op, {scores, Longs({2}, {-100, 1}), weights}, {IntAttribute("ignore_index", -100)}})[0], {}, {5});
}

TEST(Losses, SoftmaxCrossEntropyGivesLogProbabilities) {
  auto results = Results({"SoftmaxCrossEntropyLoss", {Floats({1, 2, 1}, {0, 0}), Longs({1, 1}, {1})}, {}, {}, 2});
  Expect(results[0], {}, {std::log(2)});
  Expect(results[1], {1, 2, 1}, {-std::log(2), -std::log(2)});
}

TEST(Signals, FourierTransforms) {
  const Tensor x = Floats({1, 4, 1}, {1, 2, 3, 4});
  const std::vector<double> spectrum = {10, 0, -2, 2, -2, 0, -2, -2};
  Expect(Results({"DFT", {x}})[0], {1, 4, 2}, spectrum);
  Expect(Results({"DFT", {x}, {IntAttribute("onesided", 1)}})[0], {1, 3, 2}, {10, 0, -2, 2, -2, 0});
  // A longer transform sees zeros behind, a shorter one less.
  Expect(Results({"DFT", {x}, {}, {Scalar(2)}})[0], {1, 2, 2}, {3, 0, -1, 0});
  Expect(Results({"DFT", {Floats({1, 2, 1}, {1, 2})}, {}, {Scalar(4)}})[0], {1, 4, 2}, {3, 0, 1, -2, -1, 0, 1, 2});
  // Another axis.
  Expect(Results({"DFT", {Floats({2, 1, 1}, {1, 2})}, {IntAttribute("axis", 0)}, {}, 1, 17})[0], {2, 1, 2},
         {3, 0, -1, 0});
  const std::vector<float> back(spectrum.begin(), spectrum.end());
  Expect(Results({"DFT", {Floats({1, 4, 2}, back)}, {IntAttribute("inverse", 1)}})[0], {1, 4, 2},
         {1, 0, 2, 0, 3, 0, 4, 0});
  Expect(Results({"DFT",
                  {Floats({1, 3, 2}, {10, 0, -2, 2, -2, 0})},
                  {IntAttribute("inverse", 1), IntAttribute("onesided", 1)}})[0],
         {1, 4, 1}, {1, 2, 3, 4});
}

TEST(Signals, ShortTimeTransformsAndWindows) {
  const Tensor x = Floats({1, 4, 1}, {1, 2, 3, 4});
  // Without a window: input 2 is absent, so the frame length comes by a window of ones instead.
  Expect(Results({"STFT", {x}, {}, {Scalar(2), FloatTensor("", {2}, {1, 1})}})[0], {1, 2, 2, 2},
         {3, 0, -1, 0, 7, 0, -1, 0});
  Expect(Results({"STFT", {x}, {}, {Scalar(2), FloatTensor("", {2}, {0, 1})}})[0], {1, 2, 2, 2},
         {2, 0, -2, 0, 4, 0, -4, 0});
  Expect(Results({"HannWindow", {}, {}, {Scalar(4)}})[0], {4}, {0, 0.5, 1, 0.5});
  Expect(Results({"HannWindow", {}, {IntAttribute("periodic", 0)}, {Scalar(3)}})[0], {3}, {0, 1, 0});
  Expect(Results({"BlackmanWindow", {}, {}, {Scalar(2)}})[0], {2}, {0, 1});
  Expect(Results({"HammingWindow", {}, {}, {Scalar(2)}})[0], {2}, {4.0 / 46, 1});
}

TEST(Grids, SampleBetweenAndBeyond) {
  const Tensor x = Floats({1, 1, 2, 2}, {1, 2, 3, 4});
  auto sample = [&](const std::vector<float>& at, const std::string& mode, const std::string& padding,
                    int64_t corners) {
    const int64_t points = static_cast<int64_t>(at.size()) / 2;
    return Values(Results({"GridSample",
                           {x, Floats({1, 1, points, 2}, at)},
                           {StringAttribute("mode", mode), StringAttribute("padding_mode", padding),
                            IntAttribute("align_corners", corners)}})[0]);
  };
  EXPECT_THAT(sample({0, 0, 0.5, -0.5, 3, 3}, "linear", "zeros", 0), Pointwise(DoubleNear(1e-5), {2.5, 2.0, 0.0}));
  EXPECT_THAT(sample({0.9f, -0.9f, 3, 3}, "nearest", "border", 0), Pointwise(DoubleNear(1e-5), {2.0, 4.0}));
  // Past the right edge by one width of the image: back at the left.
  EXPECT_THAT(sample({2.5, -0.5}, "nearest", "reflection", 0), Pointwise(DoubleNear(1e-5), {1.0}));
  EXPECT_THAT(sample({-1, -1, 1, 1, 1.5, 1}, "linear", "reflection", 1), Pointwise(DoubleNear(1e-5), {1.0, 4.0, 3.75}));
  // A cubic through the elements gives them.
  EXPECT_THAT(sample({-1, 1, 1, -1}, "cubic", "border", 1), Pointwise(DoubleNear(1e-5), {3.0, 2.0}));
  // A quarter beyond the outermost element, but inside the image: the position stays, so a cubic overshoots. Its four
  // elements are 1, 1, 1, 2, with Keys' weights at distances 7/4, 3/4, 1/4 and 5/4.
  const double weight = ((-0.75 * 1.75 + 3.75) * 1.75 - 6) * 1.75 + 3, near = (1.25 * 0.25 - 2.25) * 0.0625 + 1;
  const double at = ((1.25 * 0.75) - 2.25) * 0.5625 + 1, far = ((-0.75 * 1.25 + 3.75) * 1.25 - 6) * 1.25 + 3;
  EXPECT_NEAR(weight + near + at + far, 1, 1e-6);
  EXPECT_THAT(sample({-0.75, -0.5}, "cubic", "border", 0), Pointwise(DoubleNear(1e-5), {weight + at + near + 2 * far}));
}

// Halves go to the even neighbour, in two and in three dimensions.
TEST(Grids, NearestOfHalves) {
  auto sample = [](const Shape& image, const Shape& grid, const std::vector<float>& at) {
    return Values(Results({"GridSample",
                           {Floats(image, {1, 2, 3, 4}), Floats(grid, at)},
                           {StringAttribute("mode", "nearest"), StringAttribute("padding_mode", "border"),
                            IntAttribute("align_corners", 1)}})[0]);
  };
  // Positions 0.5, 1.5 and 2.5 of four elements.
  const float at[] = {-2.0f / 3, 0.0f, 2.0f / 3};
  EXPECT_THAT(sample({1, 1, 1, 4}, {1, 1, 3, 2}, {at[0], 0, at[1], 0, at[2], 0}),
              Pointwise(DoubleNear(0), {1.0, 3.0, 3.0}));
  EXPECT_THAT(sample({1, 1, 1, 1, 4}, {1, 1, 1, 3, 3}, {at[0], 0, 0, at[1], 0, 0, at[2], 0, 0}),
              Pointwise(DoubleNear(0), {1.0, 3.0, 3.0}));
}

// A double keeps its digits.
TEST(Grids, DoublesStayDoubles) {
  Tensor x(reference::TensorType{ElementType::kFloat64, {1, 1, 1, 1}});
  x.SetFloat(0, 1.000000000001);
  auto result = Results({"GridSample", {x, Floats({1, 1, 1, 2}, {0, 0})}, {}})[0];
  EXPECT_DOUBLE_EQ(result.GetFloat(0), 1.000000000001);
}

TEST(Grids, AffinePositions) {
  const Tensor identity = Floats({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  Expect(Results({"AffineGrid", {identity}, {IntAttribute("align_corners", 1)}, {I({1, 1, 2, 2})}})[0], {1, 2, 2, 2},
         {-1, -1, 1, -1, -1, 1, 1, 1});
  const Tensor moved = Floats({1, 2, 3}, {2, 0, 1, 0, 1, 0});
  Expect(Results({"AffineGrid", {moved}, {}, {I({1, 1, 1, 2})}})[0], {1, 1, 2, 2}, {0, 0, 2, 0});
}

TEST(Grids, ColumnsAddUpInTheImage) {
  Expect(Results({"Col2Im", {Floats({1, 2, 2}, {1, 2, 3, 4})}, {}, {I({3}), I({2})}})[0], {1, 1, 3}, {1, 5, 4});
  // With a pad in front the first element of the first block is outside.
  Expect(Results({"Col2Im", {Floats({1, 2, 2}, {1, 2, 3, 4})}, {IntsAttribute("pads", {1, 0})}, {I({2}), I({2})}})[0],
         {1, 1, 2}, {5, 4});
}

TEST(Grids, UnpoolPutsValuesBack) {
  const std::vector<AttributeProto> attributes = {IntsAttribute("kernel_shape", {2, 2}),
                                                  IntsAttribute("strides", {2, 2})};
  const Tensor x = Floats({1, 1, 1, 1}, {5}), indices = Longs({1, 1, 1, 1}, {3});
  Expect(Results({"MaxUnpool", {x, indices}, attributes})[0], {1, 1, 2, 2}, {0, 0, 0, 5});
  Expect(Results({"MaxUnpool", {x, indices}, attributes, {I({1, 1, 2, 3})}})[0], {1, 1, 2, 3}, {0, 0, 0, 0, 5, 0});
}

TEST(Running, ProductsAndSums) {
  const Tensor x = Floats({5}, {1, 2, 3, 4, 5});
  Expect(Results({"CumProd", {x}, {}, {Scalar(0)}})[0], {5}, {1, 2, 6, 24, 120});
  Expect(Results({"CumProd", {x}, {IntAttribute("exclusive", 1)}, {Scalar(0)}})[0], {5}, {1, 1, 2, 6, 24});
  Expect(Results({"CumProd", {x}, {IntAttribute("reverse", 1)}, {Scalar(0)}})[0], {5}, {120, 120, 60, 20, 5});
  // The axis may come at run time.
  const Tensor matrix = Floats({2, 2}, {1, 2, 3, 4});
  for (int64_t axis : {0, -2}) Expect(Results({"CumSum", {matrix, Longs({}, {axis})}})[0], {2, 2}, {1, 2, 4, 6});
  for (int64_t axis : {1, -1}) Expect(Results({"CumSum", {matrix, Longs({}, {axis})}})[0], {2, 2}, {1, 3, 3, 7});
}

TEST(RunTimeOperands, TriangleReverseScatter) {
  const Tensor matrix = Floats({2, 2}, {1, 2, 3, 4});
  Expect(Results({"Trilu", {matrix, Longs({}, {1})}})[0], {2, 2}, {0, 2, 0, 0});
  Expect(Results({"Trilu", {matrix, Longs({}, {INT64_MIN})}})[0], {2, 2}, {1, 2, 3, 4});
  Expect(Results({"ReverseSequence", {Floats({3, 2}, {1, 2, 3, 4, 5, 6}), Longs({2}, {2, 3})}})[0], {3, 2},
         {3, 6, 1, 4, 5, 2});
  Expect(Results({"TensorScatter",
                  {Floats({1, 3, 1}, {1, 2, 3}), Floats({1, 2, 1}, {8, 9}), Longs({1}, {2})},
                  {StringAttribute("mode", "circular")}})[0],
         {1, 3, 1}, {9, 2, 8});
}

TEST(LinearAttention, KeepsAState) {
  const std::vector<AttributeProto> heads = {IntAttribute("q_num_heads", 1), IntAttribute("kv_num_heads", 1),
                                             StringAttribute("update_rule", "linear")};
  auto results = Results({"LinearAttention",
                          {Floats({1, 2, 1}, {1, 1}), Floats({1, 2, 1}, {1, 2}), Floats({1, 2, 1}, {3, 4})},
                          heads,
                          {},
                          2});
  Expect(results[0], {1, 2, 1}, {3, 11});
  Expect(results[1], {1, 1, 1, 1}, {11});
}

TEST(LinearAttention, ConvolutionSeesThePastAlone) {
  auto results =
      Results({"CausalConvWithState", {Floats({1, 1, 3}, {1, 2, 3}), Floats({1, 1, 2}, {10, 1})}, {}, {}, 2});
  Expect(results[0], {1, 1, 3}, {1, 12, 23});
  Expect(results[1], {1, 1, 1}, {3});
}

std::vector<float> Counting(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>((i * 7 + 3) % 11) - 4;
  return values;
}

TEST(Regions, RoiAlign) {
  auto align = [&](const Tensor& x, const std::vector<float>& boxes, const std::vector<AttributeProto>& attributes,
                   int64_t opset = 22) {
    const int64_t count = static_cast<int64_t>(boxes.size()) / 4;
    return Results({"RoiAlign",
                    {x, Floats({count, 4}, boxes), Longs({count}, std::vector<int64_t>(count, 0))},
                    attributes,
                    {},
                    1,
                    opset})[0];
  };
  const Tensor small = Floats({1, 1, 2, 2}, {1, 2, 3, 4});
  Expect(align(small, {0, 0, 2, 2}, {IntAttribute("sampling_ratio", 1)}), {1, 1, 1, 1}, {2.5});
  // Two samples in each direction, at the elements; far outside there is nothing.
  Expect(align(small, {0, 0, 2, 2, 90, 90, 92, 92}, {}), {2, 1, 1, 1}, {2.5, 0});
  // Before version 16 without half a pixel: the sample is at 1, 1.
  Expect(align(small, {0, 0, 2, 2}, {IntAttribute("sampling_ratio", 1)}, 10), {1, 1, 1, 1}, {4});
  Expect(align(small, {0, 0, 2, 2}, {IntAttribute("sampling_ratio", 2), StringAttribute("mode", "max")}), {1, 1, 1, 1},
         {4});
  // As many samples as the box decides: cells of 2.5 elements have three, of 0.4 one; boxes may reach out of the image.
  const Tensor large = Floats({1, 2, 7, 6}, Counting(84));
  const std::vector<AttributeProto> two_by_two = {IntAttribute("output_height", 2), IntAttribute("output_width", 2)};
  for (const auto& [box, ratio] : std::vector<std::pair<std::vector<float>, int>>{
           {{0.5, 1, 5.5, 6}, 3}, {{1.2f, 3.1f, 2, 3.9f}, 1}, {{-9, -7, 9, 11}, 9}, {{-1.5, -1.5, 2.5, 2.5}, 2}}) {
    std::vector<AttributeProto> fixed = two_by_two;
    fixed.push_back(IntAttribute("sampling_ratio", ratio));
    EXPECT_THAT(Values(align(large, box, two_by_two)), Pointwise(DoubleNear(1e-4), Values(align(large, box, fixed))))
        << box[0];
  }
  // A box of no size has no samples.
  EXPECT_THAT(Values(align(large, {3, 3, 3, 3}, {})), Pointwise(DoubleNear(0), {0.0, 0.0}));
}

TEST(Regions, DeformConvWithoutOffsetsIsAConvolution) {
  const Tensor x = Floats({1, 4, 5, 5}, Counting(100)), filter = Floats({2, 2, 3, 2}, Counting(24));
  const std::vector<AttributeProto> attributes = {IntsAttribute("pads", {1, 0, 2, 1}), IntsAttribute("strides", {2, 1}),
                                                  IntsAttribute("dilations", {1, 2}), IntAttribute("group", 2)};
  const Tensor expected = Results({"Conv", {x, filter, Floats({2}, {1, -1})}, attributes})[0];
  const int64_t height = expected.shape()[2], width = expected.shape()[3], points = height * width;
  std::vector<AttributeProto> moved = attributes;
  moved.push_back(IntAttribute("offset_group", 2));
  auto deform = [&](float down, float across, float mask) {
    std::vector<float> offsets;
    for (int64_t i = 0; i < 24 * points; ++i) offsets.push_back(i / points % 2 == 0 ? down : across);
    return Results({"DeformConv",
                    {x, filter, Floats({1, 24, height, width}, offsets), Floats({2}, {1, -1}),
                     Floats({1, 12, height, width}, std::vector<float>(12 * points, mask))},
                    moved})[0];
  };
  Expect(deform(0, 0, 1), expected.shape(), Values(expected));
  // Without any weight the bias is left, and so it is far outside.
  for (const Tensor& empty : {deform(0.3f, 0.7f, 0), deform(100, -100, 1)}) {
    EXPECT_EQ(empty.GetFloat(0), 1);
    EXPECT_EQ(empty.GetFloat(points), -1);
  }
}

TEST(Determinants, OfAnySize) {
  Expect(Results({"Det", {Floats({2, 2}, {1, 2, 3, 4})}})[0], {}, {-2});
  Expect(Results({"Det", {Floats({2, 1, 1}, {5, -3})}})[0], {2}, {5, -3});
  // An exchange of rows, a matrix without an inverse, and one whose first step meets a zero.
  Expect(Results({"Det", {Floats({3, 2, 2}, {0, 1, 1, 0, 1, 2, 2, 4, 0, 2, 3, 1})}})[0], {3}, {-1, 0, -6});
  Expect(Results({"Det", {Floats({3, 3}, {2, -3, 1, 2, 0, -1, 1, 4, 5})}})[0], {}, {49});
  Expect(Results({"Det", {Floats({4, 4}, {0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0, 0})}})[0], {}, {24});
}

TEST(Pooling, IndicesOfTheLargest) {
  const Tensor x = Floats({1, 2, 2, 3}, {1, 5, 5, 2, 0, 4, -9, -8, -7, -6, -5, -4});
  auto indices = [&](std::vector<AttributeProto> attributes) {
    auto results = Results({"MaxPool", {x}, attributes, {}, 2});
    EXPECT_EQ(results[1].element(), ElementType::kInt64);
    return Values(results[1]);
  };
  const AttributeProto kernel = IntsAttribute("kernel_shape", {2, 2});
  EXPECT_THAT(indices({kernel}), Pointwise(DoubleNear(0), {1.0, 1.0, 10.0, 11.0}));
  EXPECT_THAT(indices({kernel, IntAttribute("storage_order", 1)}), Pointwise(DoubleNear(0), {2.0, 2.0, 9.0, 11.0}));
  // The padding is never the largest.
  EXPECT_THAT(indices({kernel, IntsAttribute("pads", {1, 1, 0, 0}), IntsAttribute("strides", {2, 2})}),
              Pointwise(DoubleNear(0), {0.0, 1.0, 6.0, 8.0}));
}

TEST(NGrams, CountsWithWeights) {
  const Tensor x = Longs({2, 5}, {1, 2, 1, 2, 3, 3, 1, 3, 2, 1});
  std::vector<AttributeProto> attributes = {IntsAttribute("pool_int64s", {1, 3, 1, 2, 2, 1}),
                                            IntsAttribute("ngram_counts", {0, 2}),
                                            IntsAttribute("ngram_indexes", {0, 3, 2, 1}),
                                            IntAttribute("min_gram_length", 1),
                                            IntAttribute("max_gram_length", 2),
                                            IntAttribute("max_skip_count", 1)};
  auto run = [&](const std::string& mode, bool weights) {
    std::vector<AttributeProto> all = attributes;
    all.push_back(StringAttribute("mode", mode));
    if (weights) all.push_back(FloatsAttribute("weights", {10, 20, 30, 40}));
    return Values(Results({"TfIdfVectorizer", {x}, all})[0]);
  };
  // Columns: 1 | 2 1 | 1 2 | 3; pairs next to each other and with one element between.
  EXPECT_THAT(run("TF", false), Pointwise(DoubleNear(0), {2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 1.0, 2.0}));
  EXPECT_THAT(run("IDF", true), Pointwise(DoubleNear(0), {10.0, 20.0, 30.0, 40.0, 10.0, 20.0, 30.0, 40.0}));
  EXPECT_THAT(run("TFIDF", true), Pointwise(DoubleNear(0), {20.0, 20.0, 60.0, 40.0, 20.0, 20.0, 30.0, 80.0}));
}

TEST(BitCasts, KeepTheBits) {
  auto cast = [](const Tensor& x, ElementType to) {
    return Results({"BitCast", {x}, {IntAttribute("to", static_cast<int64_t>(to))}})[0];
  };
  Expect(cast(Floats({2}, {1, -2}), ElementType::kInt32), {2}, {0x3f800000, -0x40000000});
  Expect(cast(Longs({1}, {0x4000000000000000}), ElementType::kFloat64), {1}, {2});
  Expect(cast(Integers(ElementType::kInt8, {2}, {-1, 5}), ElementType::kUint8), {2}, {255, 5});
  Expect(cast(Integers(ElementType::kUint16, {1}, {0x3c00}), ElementType::kFloat16), {1}, {1});
  Expect(cast(Integers(ElementType::kUint16, {1}, {0x3f80}), ElementType::kBfloat16), {1}, {1});
  Expect(cast(Integers(ElementType::kInt4, {2}, {-1, 3}), ElementType::kUint4), {2}, {15, 3});
  Expect(cast(Integers(ElementType::kInt4, {2}, {-1, 3}), ElementType::kFloat4E2M1), {2}, {-6, 1.5});
  Expect(cast(Integers(ElementType::kBool, {2}, {1, 0}), ElementType::kInt8), {2}, {1, 0});
}

TEST(Mel, FiltersFromRunTimeFrequencies) {
  auto scalar = [](float value) { return Floats({}, {value}); };
  ModelBuilder model(17);
  model.Input("rate", {}, TensorProto::INT64).Input("low", {}).Input("high", {}).Output("y");
  model.Constant(Int64Tensor("bands", {}, {5})).Constant(Int64Tensor("length", {}, {32}));
  model.Node("MelWeightMatrix", {"bands", "length", "rate", "low", "high"}, {"y"});
  auto results = RunModel(model, {Longs({}, {16000}), scalar(60), scalar(7600)});
  ASSERT_TRUE(results.ok()) << results.status();
  // The edges' bins by hand; the first band has both of its first edges in one.
  std::vector<double> expected(17 * 5, 0.0);
  const int edges[] = {0, 0, 1, 2, 4, 7, 10};
  for (int band = 0; band < 5; ++band) {
    for (int bin = 0; bin < 17; ++bin) {
      const int width = edges[band + 1] - edges[band];
      const double up = width == 0 ? bin == edges[band] : static_cast<double>(bin - edges[band]) / width;
      const double down = static_cast<double>(edges[band + 2] - bin) / (edges[band + 2] - edges[band + 1]);
      expected[static_cast<size_t>(bin * 5 + band)] = std::max(0.0, std::min(up, down));
    }
  }
  Expect((*results)[0], {17, 5}, expected);
}

TEST(Random, IsTheSameEachTimeAndWellSpread) {
  const auto shape = IntsAttribute("shape", {100, 100});
  auto moments = [](const Tensor& x) {
    double sum = 0, squares = 0;
    for (double value : Values(x)) {
      sum += value;
      squares += value * value;
    }
    const double mean = sum / static_cast<double>(x.size());
    return std::pair(mean, std::sqrt(squares / static_cast<double>(x.size()) - mean * mean));
  };
  const Node uniform{"RandomUniform", {}, {shape, FloatAttribute("low", 2), FloatAttribute("high", 4)}};
  const Tensor first = Results(uniform)[0];
  EXPECT_EQ(Values(first), Values(Results(uniform)[0]));
  const auto [mean, deviation] = moments(first);
  EXPECT_NEAR(mean, 3, 0.03);
  EXPECT_NEAR(deviation, 2 / std::sqrt(12.0), 0.02);
  for (double value : Values(first)) EXPECT_TRUE(value >= 2 && value < 4) << value;
  Node seeded = uniform;
  seeded.attributes.push_back(FloatAttribute("seed", 7));
  EXPECT_NE(Values(Results(seeded)[0]), Values(first));
  const auto [normal_mean, normal_deviation] =
      moments(Results({"RandomNormal", {}, {shape, FloatAttribute("mean", -1), FloatAttribute("scale", 3)}})[0]);
  EXPECT_NEAR(normal_mean, -1, 0.1);
  EXPECT_NEAR(normal_deviation, 3, 0.1);
  const Tensor like = Floats({2, 3}, {0, 0, 0, 1, 1, 1});
  EXPECT_EQ(Results({"RandomNormalLike", {like}})[0].shape(), like.shape());
  Expect(Results({"Bernoulli", {like}})[0], {2, 3}, {0, 0, 0, 1, 1, 1});
  // The class that is e^20 times likelier than the others.
  const Tensor classes = Results({"Multinomial", {Floats({1, 3}, {0, 20, 0})}, {IntAttribute("sample_size", 4)}})[0];
  EXPECT_EQ(classes.element(), ElementType::kInt32);
  Expect(classes, {1, 4}, {1, 1, 1, 1});
}

TEST(Attention, LengthsOfKeys) {
  const Tensor query = Floats({2, 1, 2, 1}, {0, 0, 0, 0}), key = Floats({2, 1, 3, 1}, {1, 2, 3, 1, 2, 3});
  const Tensor value = Floats({2, 1, 3, 1}, {2, 4, 9, 2, 4, 9});
  const Tensor lengths = Longs({2}, {2, 0});
  ModelBuilder model(24);
  model.Input("q", {2, 1, 2, 1}).Input("k", {2, 1, 3, 1}).Input("v", {2, 1, 3, 1}).Input("n", {2}, TensorProto::INT64);
  model.Output("y").Output("z");
  model.Node("Attention", {"q", "k", "v", "", "", "", "n"}, {"y"});
  model.Node("Attention", {"q", "k", "v", "", "", "", "n"}, {"z"}, {IntAttribute("is_causal", 1)});
  auto results = RunModel(model, {query, key, value, lengths});
  ASSERT_TRUE(results.ok()) << results.status();
  Expect((*results)[0], {2, 1, 2, 1}, {3, 3, 0, 0});
  Expect((*results)[1], {2, 1, 2, 1}, {2, 3, 0, 0});
}

}  // namespace
}  // namespace aot::import::onnx
