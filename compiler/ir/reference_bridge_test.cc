#include "compiler/ir/reference_bridge.h"

#include "compiler/ir/NnDialect.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/Parser/Parser.h"

namespace aot::nn {
namespace {

using reference::ElementType;
using reference::Tensor;
using reference::TensorType;
using ::testing::HasSubstr;

class Bridge : public ::testing::Test {
 protected:
  Bridge() { context_.loadDialect<NnDialect, mlir::func::FuncDialect>(); }
  mlir::MLIRContext context_;
};

// Types of at least one byte, of less, booleans, floats of all widths.
constexpr ElementType kTypes[] = {
    ElementType::kFloat32,      ElementType::kFloat64,    ElementType::kFloat16,    ElementType::kBfloat16,
    ElementType::kFloat8E4M3FN, ElementType::kFloat8E5M2, ElementType::kFloat4E2M1, ElementType::kBool,
    ElementType::kInt4,         ElementType::kUint4,      ElementType::kInt2,       ElementType::kInt8,
    ElementType::kUint8,        ElementType::kInt16,      ElementType::kUint16,     ElementType::kInt32,
    ElementType::kUint32,       ElementType::kInt64,      ElementType::kUint64};

TEST_F(Bridge, TypesComeBack) {
  for (ElementType element : kTypes) {
    const TensorType type{element, {2, 0, 3}};
    auto back = ToTensorType(ToMlirType(type, &context_));
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_TRUE(*back == type) << reference::Name(element);
  }
  EXPECT_FALSE(ToMlirType({ElementType::kString, {1}}, &context_));
  EXPECT_FALSE(ToTensorType(mlir::IndexType::get(&context_)).ok());
}

TEST_F(Bridge, ConstantsComeBack) {
  // One element, few, a splat, and more than a dense attribute takes.
  for (ElementType element : kTypes) {
    for (int64_t count : {int64_t{0}, int64_t{1}, int64_t{5}, int64_t{3000}}) {
      for (bool splat : {false, true}) {
        Tensor tensor(TensorType{element, {count}});
        for (int64_t i = 0; i < count; ++i) {
          const int64_t value = splat ? 1 : i % 2;
          if (reference::IsFloat(element)) {
            tensor.SetFloat(i, static_cast<double>(value));
          } else {
            tensor.SetInt(i, value);
          }
        }
        auto back = ToTensor(FromTensor(tensor, &context_));
        ASSERT_TRUE(back.ok()) << back.status();
        EXPECT_TRUE(back->type() == tensor.type());
        EXPECT_EQ(back->bytes(), tensor.bytes()) << reference::Name(element) << " " << count;
      }
    }
  }
}

TEST_F(Bridge, BlobsOwnTheirBytes) {
  mlir::ElementsAttr elements;
  {
    Tensor tensor(TensorType{ElementType::kFloat32, {1000}});
    for (int64_t i = 0; i < 1000; ++i) tensor.SetFloat(i, static_cast<double>(i));
    elements = FromTensor(tensor, &context_);
  }
  ASSERT_TRUE(mlir::isa<mlir::DenseResourceElementsAttr>(elements));
  auto back = ToTensor(elements);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->GetFloat(999), 999.0);
}

TEST_F(Bridge, InterpretsFunctionsAndGroups) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"mlir(
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %c = nn.constant dense<2.0> : tensor<2xf32>
      %g = nn.group(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
      ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
        %m = nn.mul %a, %b : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
        %n = nn.neg %m : tensor<2xf32>
        nn.yield %n : tensor<2xf32>
      }
      return %g, %x : tensor<2xf32>, tensor<2xf32>
    })mlir",
                                                        &context_);
  ASSERT_TRUE(module);
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  Tensor x(TensorType{ElementType::kFloat32, {2}});
  x.SetFloat(1, 3);
  auto results = Interpret(function, {x});
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 2u);
  EXPECT_EQ((*results)[0].GetFloat(1), -6.0);
  EXPECT_EQ((*results)[1].GetFloat(1), 3.0);
  EXPECT_THAT(std::string(Interpret(function, {}).status().message()), HasSubstr("takes 1 inputs, 0 were given"));
  EXPECT_THAT(std::string(Interpret(function, {Tensor(TensorType{ElementType::kFloat32, {3}})}).status().message()),
              HasSubstr("input 0 is float32 3, the function takes float32 2"));
}

TEST_F(Bridge, OptionalOperandsKeepTheirPlaces) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"mlir(
    func.func @main(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
      %y = nn.layer_norm %x bias %b {axis = 1 : i64, epsilon = 0.0 : f32} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      return %y : tensor<2x3xf32>
    })mlir",
                                                        &context_);
  ASSERT_TRUE(module);
  mlir::Operation& operation = (*module->getOps<mlir::func::FuncOp>().begin()).getBody().front().front();
  const std::vector<mlir::Value> operands = ReferenceOperands(&operation);
  ASSERT_EQ(operands.size(), 3u);
  EXPECT_TRUE(operands[0]);
  EXPECT_FALSE(operands[1]);
  EXPECT_TRUE(operands[2]);
  const reference::Operation description = ToReference(&operation);
  EXPECT_EQ(description.name, "layer_norm");
  EXPECT_EQ(std::get<int64_t>(description.attributes.at("axis")), 1);
  EXPECT_EQ(description.attributes.count("operandSegmentSizes"), 0u);
}

}  // namespace
}  // namespace aot::nn
