// Schedules as compiler::ReportSchedule tells them: work counted by hand, and the reasons' cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/import/onnx/model_builder.h"
#include "compiler/schedule_report.h"

namespace aot::schedule {
namespace {

using aot::import::onnx::FloatTensor;
using aot::import::onnx::IntAttribute;
using aot::import::onnx::IntsAttribute;
using aot::import::onnx::ModelBuilder;
using compiler::Options;
using compiler::ScheduledStep;
using compiler::ScheduleReport;
using testing::HasSubstr;

Options On(const std::string& target, compiler::OptimizeFor optimize_for = compiler::OptimizeFor::kLatency) {
  Options options;
  options.target = target;
  options.optimize_for = optimize_for;
  return options;
}

// A convolution 3x3 with padding on [1, channels, 16, 16].
ModelBuilder Convolution(int64_t channels, int64_t features, int64_t stride, int64_t group) {
  ModelBuilder model(17);
  model.Input("x", {1, channels, 16, 16});
  const std::vector<int64_t> dims = {features, channels / group, 3, 3};
  model.Constant(
      FloatTensor("w", dims, std::vector<float>(static_cast<size_t>(features * channels / group * 9), 0.5f)));
  model.Node(
      "Conv", {"x", "w"}, {"y"},
      {IntsAttribute("pads", {1, 1, 1, 1}), IntsAttribute("strides", {stride, stride}), IntAttribute("group", group)});
  return model.Output("y");
}

// The step that holds the product.
absl::StatusOr<ScheduledStep> ProductOf(const ModelBuilder& model, const Options& options) {
  absl::StatusOr<ScheduleReport> report = compiler::ReportSchedule(model.Model(), options);
  if (!report.ok()) return report.status();
  for (const ScheduledStep& step : report->steps)
    if (step.multiply_adds + step.byte_products > 0) return step;
  return absl::NotFoundError("no step has a product");
}

TEST(DescribeTest, DirectConvolutionCountsTheDefinition) {
  auto step = ProductOf(Convolution(32, 32, 2, 1), On("x86-64-v3"));
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(step->multiply_adds, 8 * 8 * 32 * 9 * 32);
  EXPECT_THAT(step->operation, HasSubstr("conv 3x3 stride 2x2"));
  EXPECT_THAT(step->algorithm, HasSubstr("direct"));
  EXPECT_GE(step->weight_bytes, 32 * 32 * 9 * 4);
  // One multiply-add of 8 lanes a cycle.
  EXPECT_GE(step->cycles, step->multiply_adds / 8);
}

TEST(DescribeTest, ConvolutionOverOneDimension) {
  ModelBuilder model(17);
  model.Input("x", {1, 16, 40});
  model.Constant(FloatTensor("w", {16, 16, 3}, std::vector<float>(16 * 16 * 3, 0.5f)));
  model.Node("Conv", {"x", "w"}, {"y"}).Output("y");
  auto step = ProductOf(model, On("x86-64-v3"));
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(step->multiply_adds, 38 * 16 * 16 * 3);
}

TEST(DescribeTest, MinimalFilteringCountsItsOwnProducts) {
  auto step = ProductOf(Convolution(64, 64, 1, 1), On("x86-64-v4"));
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(step->algorithm, "minimal filtering F(4x4)");
  EXPECT_EQ(step->multiply_adds, 4 * 4 * 36 * 64 * 64);
  EXPECT_THAT(step->reason, HasSubstr("of a direct product"));
  auto direct = ProductOf(Convolution(64, 64, 1, 1), On("x86-64-v4", compiler::OptimizeFor::kSize));
  ASSERT_TRUE(direct.ok()) << direct.status();
  EXPECT_THAT(direct->algorithm, HasSubstr("direct"));
  EXPECT_THAT(direct->reason, HasSubstr("minimal filtering would take"));
  EXPECT_GT(direct->cycles, step->cycles);
}

TEST(DescribeTest, DepthwiseRunsOverChannels) {
  auto step = ProductOf(Convolution(32, 32, 1, 32), On("x86-64-v3"));
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(step->multiply_adds, 16 * 16 * 32 * 9);
  EXPECT_THAT(step->algorithm, HasSubstr("depthwise"));
}

// Large enough that its 32-bit form isn't folded: still a product of bytes.
TEST(DescribeTest, ProductsOfBytesUseTheDotProduct) {
  ModelBuilder model(17);
  model.Input("x", {8, 256}, aot::onnx::TensorProto::UINT8);
  model.Constant(
      aot::import::onnx::Int32Tensor("w", aot::onnx::TensorProto::INT8, {256, 128}, std::vector<int32_t>(32768, -3)));
  model.Node("MatMulInteger", {"x", "w"}, {"y"}).Output("y");
  auto step = ProductOf(model, On("x86-64-v4-vnni"));
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(step->byte_products, 8 * 256 * 128);
  EXPECT_EQ(step->multiply_adds, 0);
  EXPECT_THAT(step->algorithm, HasSubstr("dot product of four unsigned by signed bytes"));
}

TEST(DescribeTest, ArenaIsToldBesideItsBoundsAndWithoutFusion) {
  ModelBuilder model(17);
  model.Input("x", {1, 1024}).Node("Exp", {"x"}, {"a"}).Node("Neg", {"a"}, {"b"}).Node("Exp", {"b"}, {"y"});
  auto report = compiler::ReportSchedule(model.Output("y").Model(), On("cortex-a75"));
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->steps.size(), 1u);
  EXPECT_EQ(report->steps[0].value, "y");
  EXPECT_EQ(report->arena_bytes, 0);
  EXPECT_EQ(report->arena_unfused, 2 * 1024 * 4);
}

TEST(DescribeTest, TheKeyIsTheArtifacts) {
  const ModelBuilder model = Convolution(32, 32, 1, 1);
  auto report = compiler::ReportSchedule(model.Model(), On("x86-64-v3"));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->artifact, *compiler::ArtifactKey(compiler::ModelDigest(model.Model()), On("x86-64-v3")));
  EXPECT_EQ(compiler::ReportSchedule(model.Model(), On("no-such")).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace aot::schedule
