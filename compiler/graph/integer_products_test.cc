// Products of integers whose filter is too large to be folded into 32 bits: on bytes, and exact.
#include <gtest/gtest.h>

#include <random>

#include "compiler/import/onnx/model_builder.h"
#include "compiler/testing/compiled_function.h"
#include "compiler/testing/compiled_model.h"

namespace aot::graph {
namespace {

using aot::onnx::TensorProto;
using import::onnx::Int32Tensor;
using import::onnx::IntsAttribute;
using import::onnx::ModelBuilder;
using reference::ElementType;

std::vector<int32_t> Numbers(int64_t count, int32_t least, int32_t most) {
  std::vector<int32_t> numbers(static_cast<size_t>(count));
  std::minstd_rand random(3);
  for (int32_t& number : numbers)
    number = least + static_cast<int32_t>(random() % static_cast<uint32_t>(most - least + 1));
  return numbers;
}

reference::Tensor Input(ElementType element, const reference::Shape& shape) {
  reference::Tensor input(reference::TensorType{element, shape});
  std::minstd_rand random(9);
  for (int64_t i = 0; i < input.size(); ++i)
    input.SetInt(i, static_cast<int64_t>(random() % 256) - (element == ElementType::kInt8 ? 128 : 0));
  return input;
}

void ExpectExact(const ModelBuilder& builder, const reference::Tensor& input) {
  const compiler::Model model = builder.Model();
  for (const std::string& target : testing::RunnableTargets()) {
    SCOPED_TRACE(target);
    compiler::Options options;
    options.target = target;
    auto want = compiler::RunReference(model, options, {input});
    ASSERT_TRUE(want.ok()) << want.status();
    auto got = testing::CompileAndRun(model, options, {input});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(testing::Distance(*got, *want), 0);
  }
}

TEST(IntegerProducts, SignedFilter) {
  ModelBuilder model(17);
  model.Input("x", {5, 300}, TensorProto::UINT8);
  model.Constant(Int32Tensor("w", TensorProto::INT8, {300, 130}, Numbers(300 * 130, -128, 127)));
  model.Constant(Int32Tensor("x_zero", TensorProto::UINT8, {}, {77}));
  model.Node("MatMulInteger", {"x", "w", "x_zero"}, {"y"}).Output("y");
  ExpectExact(model, Input(ElementType::kUint8, {5, 300}));
}

// Some differences are no signed bytes: the product stays in 32 bits.
TEST(IntegerProducts, UnsignedFilterWithAZeroPointForEachColumn) {
  for (int32_t spread : {0, 40}) {
    ModelBuilder model(17);
    model.Input("x", {5, 300}, TensorProto::INT8);
    model.Constant(Int32Tensor("w", TensorProto::UINT8, {300, 130}, Numbers(300 * 130, 20, 235)));
    model.Constant(Int32Tensor("x_zero", TensorProto::INT8, {}, {-5}));
    model.Constant(Int32Tensor("w_zero", TensorProto::UINT8, {130}, Numbers(130, 110 - spread, 140 + spread)));
    model.Node("MatMulInteger", {"x", "w", "x_zero", "w_zero"}, {"y"}).Output("y");
    ExpectExact(model, Input(ElementType::kInt8, {5, 300}));
  }
}

TEST(IntegerProducts, ConvolutionWithPadding) {
  ModelBuilder model(17);
  model.Input("x", {1, 64, 6, 7}, TensorProto::UINT8);
  model.Constant(Int32Tensor("w", TensorProto::UINT8, {40, 64, 3, 3}, Numbers(40 * 64 * 9, 1, 255)));
  model.Constant(Int32Tensor("x_zero", TensorProto::UINT8, {}, {130}));
  model.Constant(Int32Tensor("w_zero", TensorProto::UINT8, {}, {128}));
  model.Node("ConvInteger", {"x", "w", "x_zero", "w_zero"}, {"y"}, {IntsAttribute("pads", {1, 1, 1, 1})});
  ExpectExact(model.Output("y"), Input(ElementType::kUint8, {1, 64, 6, 7}));
}

}  // namespace
}  // namespace aot::graph
