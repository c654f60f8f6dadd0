#include "compiler/ir/temporary_constant.h"

#include "compiler/ir/NnDialect.h"
#include "compiler/ir/reference_bridge.h"
#include "gtest/gtest.h"

namespace aot::nn {
namespace {

using reference::ElementType;
using reference::Tensor;
using reference::TensorType;

// Too large for a dense attribute, and no splat. `owner` tells when the bytes are given back.
Tensor Numbered(std::shared_ptr<std::vector<float>>& owner) {
  owner = std::make_shared<std::vector<float>>(4096);
  for (size_t i = 0; i < owner->size(); ++i) (*owner)[i] = static_cast<float>(i);
  return Tensor(TensorType{ElementType::kFloat32, {4096}}, owner,
                {reinterpret_cast<const uint8_t*>(owner->data()), owner->size() * sizeof(float)});
}

class TemporaryConstantTest : public ::testing::Test {
 protected:
  TemporaryConstantTest() { context_.loadDialect<NnDialect>(); }
  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(TemporaryConstantTest, OwnsItsBytesUntilTheLastUseIsGone) {
  std::shared_ptr<std::vector<float>> owner;
  const mlir::ElementsAttr constant = FromTemporaryTensor(Numbered(owner), &context_);
  std::weak_ptr<std::vector<float>> bytes = owner;
  owner.reset();
  ASSERT_FALSE(bytes.expired());
  auto read = ToTensor(constant);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->GetFloat(4095), 4095);

  TemporaryUses uses;
  uses.Add(constant);
  uses.Add(constant);
  uses.Remove(constant);
  EXPECT_FALSE(bytes.expired());
  uses.Remove(constant);
  EXPECT_TRUE(bytes.expired());
}

TEST_F(TemporaryConstantTest, OthersAreLeftAlone) {
  std::shared_ptr<std::vector<float>> owner;
  const mlir::ElementsAttr constant = FromTensor(Numbered(owner), &context_);
  TemporaryUses uses;
  uses.Add(constant);
  uses.Remove(constant);
  auto read = ToTensor(constant);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->GetFloat(1), 1);
}

}  // namespace
}  // namespace aot::nn
