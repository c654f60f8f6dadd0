// Faults that other compilers had, as rules that hold here: each through the whole compiler and the runtime, at -O0 and
// -O3, with canaries around every buffer.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "compiler/import/onnx/model_builder.h"
#include "compiler/testing/compiled_function.h"
#include "compiler/testing/compiled_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace aot::numeric {
namespace {

using aot::onnx::AttributeProto;
using aot::onnx::TensorProto;
using compiler::Model;
using import::onnx::FloatAttribute;
using import::onnx::Floats;
using import::onnx::FloatTensor;
using import::onnx::Int32Tensor;
using import::onnx::Int64Tensor;
using import::onnx::IntAttribute;
using import::onnx::Integers;
using import::onnx::IntsAttribute;
using import::onnx::ModelBuilder;
using import::onnx::StringAttribute;
using reference::ElementType;
using reference::Shape;
using reference::Tensor;
using ::testing::HasSubstr;

compiler::Options At(int level, const std::string& target = testing::HostTarget()) {
  compiler::Options options;
  options.target = target;
  options.opt_level = level;
  options.threads = 1;
  return options;
}

std::vector<float> Noise(int64_t count, uint32_t seed = 1) {
  std::minstd_rand random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  return values;
}
Tensor NoiseTensor(const Shape& shape, uint32_t seed = 1) {
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  return Floats(shape, Noise(count, seed));
}

std::vector<Tensor> Execute(const ModelBuilder& model, const std::vector<Tensor>& inputs,
                            const compiler::Options& options) {
  auto outputs = testing::CompileAndRun(model.Model(), options, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? *std::move(outputs) : std::vector<Tensor>();
}

// The outputs at -O3, which at both levels are those of the reference.
std::vector<Tensor> Agree(const ModelBuilder& model, const std::vector<Tensor>& inputs, double tolerance = 1e-5) {
  auto want = compiler::RunReference(model.Model(), {}, inputs);
  EXPECT_TRUE(want.ok()) << want.status();
  std::vector<Tensor> got;
  for (int level : {0, 3}) {
    got = Execute(model, inputs, At(level));
    if (want.ok()) EXPECT_LE(testing::Distance(got, *want), tolerance) << "-O" << level;
  }
  return got;
}

TEST(EveryAttribute, ResizeInAllModesReadsNothingOutside) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinates :
         {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric"}) {
      for (const char* nearest : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
        if (std::string(mode) != "nearest" && std::string(nearest) != "floor") continue;
        ModelBuilder model(19);
        // All scales in one model: fewer compiles.
        model.Input("x", {1, 2, 3, 5});
        int outputs = 0;
        for (const std::vector<float>& scales :
             std::vector<std::vector<float>>{{1, 1, 2, 2}, {1, 1, 0.5f, 0.4f}, {1, 1, 1.7f, 3.3f}, {1, 1, 1, 0.2f}}) {
          const std::string number = std::to_string(outputs++);
          model.Constant(FloatTensor("s" + number, {4}, scales))
              .Output("y" + number)
              .Node("Resize", {"x", "", "s" + number}, {"y" + number},
                    {StringAttribute("mode", mode), StringAttribute("coordinate_transformation_mode", coordinates),
                     StringAttribute("nearest_mode", nearest)});
        }
        SCOPED_TRACE(std::string(mode) + " " + coordinates + " " + nearest);
        Agree(model, {NoiseTensor({1, 2, 3, 5})});
      }
    }
  }
}

TEST(SpecialPath, ADepthwiseConvolutionEqualsTheDenseOneWithZeros) {
  for (int64_t channels : {1, 3, 8, 17}) {
    const std::vector<float> filter = Noise(channels * 9, 5);
    std::vector<float> dense(static_cast<size_t>(channels * channels * 9), 0);
    for (int64_t c = 0; c < channels; ++c) {
      std::copy(filter.begin() + c * 9, filter.begin() + (c + 1) * 9, dense.begin() + (c * channels + c) * 9);
    }
    const std::vector<AttributeProto> window = {IntsAttribute("strides", {2, 2}), IntsAttribute("pads", {1, 0, 1, 2})};
    std::vector<AttributeProto> depthwise = window;
    depthwise.push_back(IntAttribute("group", channels));
    ModelBuilder model(13);
    model.Input("x", {1, channels, 7, 9})
        .Output("a")
        .Output("b")
        .Constant(FloatTensor("f", {channels, 1, 3, 3}, filter))
        .Constant(FloatTensor("d", {channels, channels, 3, 3}, dense))
        .Node("Conv", {"x", "f"}, {"a"}, depthwise)
        .Node("Conv", {"x", "d"}, {"b"}, window);
    const std::vector<Tensor> outputs = Agree(model, {NoiseTensor({1, channels, 7, 9})});
    ASSERT_EQ(outputs.size(), 2u);
    EXPECT_LE(testing::Distance({outputs[0]}, {outputs[1]}), 1e-5);
  }
}

TEST(Quantised, AFusedChainStaysWithinOneQuantumOfTheUnfusedOne) {
  for (bool per_channel : {false, true}) {
    const int64_t features = 4;
    ModelBuilder model(13);
    std::vector<int32_t> weights;
    for (float value : Noise(features * 3 * 9, 9)) weights.push_back(static_cast<int32_t>(value * 127));
    std::vector<float> scales;
    for (int64_t i = 0; i < (per_channel ? features : 1); ++i) scales.push_back(0.01f + 0.003f * static_cast<float>(i));
    model.Input("x", {1, 3, 6, 6})
        .Output("y")
        .Constant(FloatTensor("xs", {}, {0.02f}))
        .Constant(Int32Tensor("xz", TensorProto::UINT8, {}, {128}))
        .Constant(FloatTensor("ws", per_channel ? std::vector<int64_t>{features} : std::vector<int64_t>{}, scales))
        .Constant(Int32Tensor("w", TensorProto::INT8, {features, 3, 3, 3}, weights))
        .Constant(FloatTensor("ys", {}, {0.05f}))
        .Constant(Int32Tensor("yz", TensorProto::UINT8, {}, {3}))
        .Node("QuantizeLinear", {"x", "xs", "xz"}, {"xq"})
        .Node("DequantizeLinear", {"xq", "xs", "xz"}, {"xd"})
        .Node("DequantizeLinear", {"w", "ws"}, {"wd"},
              per_channel ? std::vector<AttributeProto>{IntAttribute("axis", 0)} : std::vector<AttributeProto>{})
        .Node("Conv", {"xd", "wd"}, {"c"}, {IntsAttribute("pads", {1, 1, 1, 1})})
        .Node("Relu", {"c"}, {"r"})
        .Node("QuantizeLinear", {"r", "ys", "yz"}, {"y"});
    const std::vector<Tensor> inputs = {NoiseTensor({1, 3, 6, 6}, 3)};
    auto want = compiler::RunReference(model.Model(), {}, inputs);
    ASSERT_TRUE(want.ok()) << want.status();
    for (int level : {0, 3}) {
      const std::vector<Tensor> got = Execute(model, inputs, At(level));
      ASSERT_EQ(got.size(), 1u);
      ASSERT_EQ(got[0].shape(), (*want)[0].shape());
      for (int64_t i = 0; i < got[0].size(); ++i) {
        EXPECT_LE(std::abs(got[0].GetInt(i) - (*want)[0].GetInt(i)), 1) << "-O" << level << " element " << i;
      }
    }
  }
}

TEST(IntegerDivision, TruncatesAndNeverTraps) {
  for (auto [element, type, least] : {std::tuple{ElementType::kInt32, TensorProto::INT32, int64_t{INT32_MIN}},
                                      std::tuple{ElementType::kInt64, TensorProto::INT64, INT64_MIN}}) {
    const std::vector<int64_t> dividends = {7, -7, 7, -7, 5, 0, least, least, least, -1};
    const std::vector<int64_t> divisors = {2, 2, -2, -2, 0, 0, -1, 1, 0, least};
    const auto count = static_cast<int64_t>(dividends.size());
    ModelBuilder model(13);
    model.Input("a", {count}, type)
        .Input("b", {count}, type)
        .Output("q")
        .Output("m")
        .Output("f")
        .Node("Div", {"a", "b"}, {"q"})
        .Node("Mod", {"a", "b"}, {"m"})
        .Node("Mod", {"a", "b"}, {"f"}, {IntAttribute("fmod", 1)});
    const std::vector<Tensor> outputs =
        Agree(model, {Integers(element, {count}, dividends), Integers(element, {count}, divisors)}, 0);
    ASSERT_EQ(outputs.size(), 3u);
    const std::vector<int64_t> quotients = {3, -3, -3, 3}, floor_mods = {1, 1, -1, -1}, c_mods = {1, -1, 1, -1};
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(outputs[0].GetInt(i), quotients[static_cast<size_t>(i)]);
      EXPECT_EQ(outputs[1].GetInt(i), floor_mods[static_cast<size_t>(i)]);
      EXPECT_EQ(outputs[2].GetInt(i), c_mods[static_cast<size_t>(i)]);
    }
    EXPECT_EQ(outputs[0].GetInt(6), least);
    EXPECT_EQ(outputs[1].GetInt(6), 0);
  }
}

TEST(FloatToInteger, HasOneResultForNanInfinityAndOutOfRangeOnAllTargets) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {std::nanf(""),  infinity, -infinity, 1e30f, -1e30f, 2147483648.0f,
                                     -2147483648.0f, 300.0f,   -129.0f,   -1.9f, 1.9f,   -0.5f};
  const auto count = static_cast<int64_t>(values.size());
  const std::vector<std::pair<const char*, TensorProto::DataType>> types = {
      {"i8", TensorProto::INT8},    {"u8", TensorProto::UINT8},  {"i16", TensorProto::INT16},
      {"u16", TensorProto::UINT16}, {"i32", TensorProto::INT32}, {"u32", TensorProto::UINT32},
      {"i64", TensorProto::INT64},  {"u64", TensorProto::UINT64}};
  ModelBuilder model(13);
  model.Input("x", {count});
  for (const auto& [name, type] : types) model.Output(name).Node("Cast", {"x"}, {name}, {IntAttribute("to", type)});
  auto want = compiler::RunReference(model.Model(), {}, {Floats({count}, values)});
  ASSERT_TRUE(want.ok()) << want.status();
  for (const std::string& target : testing::RunnableTargets()) {
    for (int level : {0, 3}) {
      EXPECT_EQ(testing::Distance(Execute(model, {Floats({count}, values)}, At(level, target)), *want), 0)
          << target << " -O" << level;
    }
  }
}

TEST(Folding, GivesTheBitsThatRunningGives) {
  const std::vector<float> values = {
      std::nanf(""), 0.0f, -0.0f, 1e-40f, 0.3f, -0.7f, 5.5f, -88.0f, std::numeric_limits<float>::infinity(), -2.5f};
  const auto count = static_cast<int64_t>(values.size());
  for (const char* op :
       {"Abs",   "Neg",   "Relu",       "Exp", "Tanh",     "Sigmoid",   "Erf",         "Floor",   "Ceil",
        "Round", "Sqrt",  "Reciprocal", "Log", "Softplus", "Softsign",  "Sign",        "Sin",     "Cos",
        "Atan",  "IsNaN", "IsInf",      "Elu", "Selu",     "LeakyRelu", "HardSigmoid", "Identity"}) {
    ModelBuilder model(13);
    model.Input("x", {count})
        .Output("run")
        .Output("folded")
        .Constant(FloatTensor("c", {count}, values))
        .Node(op, {"x"}, {"run"})
        .Node(op, {"c"}, {"folded"});
    for (int level : {0, 3}) {
      const std::vector<Tensor> outputs = Execute(model, {Floats({count}, values)}, At(level));
      ASSERT_EQ(outputs.size(), 2u);
      EXPECT_EQ(testing::Distance({outputs[0]}, {outputs[1]}), 0) << op << " -O" << level;
    }
  }
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow"}) {
    std::vector<float> others(values.rbegin(), values.rend());
    ModelBuilder model(13);
    model.Input("x", {count})
        .Output("run")
        .Output("folded")
        .Constant(FloatTensor("a", {count}, values))
        .Constant(FloatTensor("b", {count}, others))
        .Node(op, {"x", "b"}, {"run"})
        .Node(op, {"a", "b"}, {"folded"});
    const std::vector<Tensor> outputs = Execute(model, {Floats({count}, values)}, At(3));
    ASSERT_EQ(outputs.size(), 2u);
    EXPECT_EQ(testing::Distance({outputs[0]}, {outputs[1]}), 0) << op;
  }
}

TEST(Fusion, AValueThatIsAlsoAnOutputSurvivesAndMayBeUsed) {
  ModelBuilder model(13);
  model.Input("x", {1, 3, 6, 6})
      .Constant(FloatTensor("w", {4, 3, 3, 3}, Noise(108, 4)))
      .Constant(FloatTensor("s", {4}, {1, 2, 3, 4}))
      .Constant(FloatTensor("v", {4}, {1, 1, 2, 2}))
      .Output("c")
      .Output("n")
      .Output("r")
      .Output("t")
      .Output("x")
      .Node("Conv", {"x", "w"}, {"c"})
      .Node("BatchNormalization", {"c", "s", "s", "s", "v"}, {"n"})
      .Node("Relu", {"n"}, {"r"})
      .Node("Add", {"r", "c"}, {"a"})
      .Node("Transpose", {"a"}, {"t"});
  Agree(model, {NoiseTensor({1, 3, 6, 6})});
}

TEST(Determinism, TheSameInputGivesTheSameBitsEachTime) {
  ModelBuilder model(13);
  model.Input("x", {4, 64})
      .Output("y")
      .Constant(FloatTensor("w", {64, 64}, Noise(4096, 6)))
      .Node("MatMul", {"x", "w"}, {"m"})
      .Node("Softmax", {"m"}, {"y"}, {IntAttribute("axis", -1)});
  const std::vector<Tensor> inputs = {NoiseTensor({4, 64})};
  const std::vector<Tensor> first = Execute(model, inputs, At(3));
  for (int run = 0; run < 3; ++run) {
    const std::vector<Tensor> again = Execute(model, inputs, At(3));
    ASSERT_EQ(again.size(), 1u);
    EXPECT_TRUE(std::equal(again[0].bytes().begin(), again[0].bytes().end(), first[0].bytes().begin()));
  }
  compiler::Options many = At(3);
  many.threads = 4;
  auto one = compiler::Compile(model.Model(), At(3)), other = compiler::Compile(model.Model(), many);
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(one->code + one->weights + one->manifest, other->code + other->weights + other->manifest);
}

TEST(Pooling, ShapesFollowTheFormulaWithUnequalPadsCeilAndDilation) {
  for (int64_t ceil_mode : {0, 1}) {
    for (const char* op : {"MaxPool", "AveragePool"}) {
      ModelBuilder model(19);
      model.SymbolicInput("x", {"N", "C", "H", "W"})
          .Output("y")
          .Node(op, {"x"}, {"y"},
                {IntsAttribute("kernel_shape", {3, 2}), IntsAttribute("strides", {2, 3}),
                 IntsAttribute("pads", {1, 0, 0, 1}), IntsAttribute("dilations", {2, 1}),
                 IntAttribute("ceil_mode", ceil_mode)});
      for (int64_t batch : {1, 3}) {
        compiler::Options options = At(3);
        options.dims = {{"N", batch}, {"C", 2}, {"H", 9}, {"W", 8}};
        const std::vector<Tensor> inputs = {NoiseTensor({batch, 2, 9, 8})};
        auto got = testing::CompileAndRun(model.Model(), options, inputs);
        ASSERT_TRUE(got.ok()) << got.status();
        // (9 + 1 - 5) / 2 + 1 rows, rounded up with ceil_mode; (8 + 1 - 2) / 3 + 1 columns, rounded down even then: a
        // further window would start behind the input.
        EXPECT_EQ((*got)[0].shape(), (Shape{batch, 2, ceil_mode ? 4 : 3, 3}));
        auto want = compiler::RunReference(model.Model(), options, inputs);
        ASSERT_TRUE(want.ok());
        EXPECT_LE(testing::Distance(*got, *want), 1e-6);
      }
    }
  }
}

TEST(Names, OfAnyBytesComeThroughTheArtifact) {
  const std::string odd("a'b\"c\\d\ne\xff\x00;--", 14);
  ModelBuilder model(13);
  model.Input(odd, {2}).Output(odd + "y").Node("Relu", {odd}, {odd + "y"});
  model.proto().mutable_graph()->set_name(odd);
  model.proto().mutable_graph()->mutable_node(0)->set_name(odd);
  auto outputs = testing::CompileAndRun(model.Model(), At(3), {Floats({2}, {-1, 2})});
  if (!outputs.ok()) {
    EXPECT_THAT(std::string(outputs.status().message()), HasSubstr("name")) << outputs.status();
    return;
  }
  EXPECT_EQ((*outputs)[0].GetFloat(1), 2);
}

}  // namespace
}  // namespace aot::numeric
