#include "clients/tensor_io/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace aot::clients {
namespace {

using reference::ElementType;
using reference::Tensor;
using reference::TensorType;
using ::testing::HasSubstr;

Tensor Floats(std::initializer_list<double> values, ElementType element = ElementType::kFloat32) {
  Tensor tensor(TensorType{element, {static_cast<int64_t>(values.size())}});
  int64_t i = 0;
  for (double value : values) tensor.SetFloat(i++, value);
  return tensor;
}

Tensor Integers(std::initializer_list<int64_t> values, ElementType element) {
  Tensor tensor(TensorType{element, {static_cast<int64_t>(values.size())}});
  int64_t i = 0;
  for (int64_t value : values) tensor.SetInt(i++, value);
  return tensor;
}

TEST(CompareTest, FloatToleranceIsRelativeToTheLargestReference) {
  Tolerance tolerance;
  EXPECT_TRUE(Compare(Floats({100, 0.009}), Floats({100, 0}), tolerance).equal);
  Comparison result = Compare(Floats({100, 0.011}), Floats({100, 0}), tolerance);
  EXPECT_FALSE(result.equal);
  EXPECT_EQ(result.worst_index, 1);
  EXPECT_THAT(result.difference, HasSubstr("[1]"));
}

TEST(CompareTest, NotANumberAndInfinityEqualThemselvesOnly) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(Compare(Floats({nan, inf, -inf}), Floats({nan, inf, -inf}), {}).equal);
  EXPECT_FALSE(Compare(Floats({nan}), Floats({1}), {}).equal);
  EXPECT_FALSE(Compare(Floats({1}), Floats({nan}), {}).equal);
  EXPECT_FALSE(Compare(Floats({inf}), Floats({-inf}), {}).equal);
  EXPECT_FALSE(Compare(Floats({1e30}), Floats({inf}), {}).equal);
}

TEST(CompareTest, AllZeroReferenceWantsZeros) {
  EXPECT_TRUE(Compare(Floats({0, 0}), Floats({0, 0}), {}).equal);
  EXPECT_FALSE(Compare(Floats({0, 1e-30}), Floats({0, 0}), {}).equal);
}

TEST(CompareTest, HalfPrecisionAllowsItsSpacing) {
  EXPECT_TRUE(Compare(Floats({1 + 1.0 / 1024}, ElementType::kFloat16), Floats({1}, ElementType::kFloat16), {}).equal);
}

TEST(CompareTest, IntegersAreExactUnlessStepsAreStated) {
  Tensor a = Integers({1, -128}, ElementType::kInt8), b = Integers({1, -127}, ElementType::kInt8);
  EXPECT_FALSE(Compare(a, b, {}).equal);
  Tolerance one;
  one.integer_steps = 1;
  EXPECT_TRUE(Compare(a, b, one).equal);
  Tensor least = Integers({INT64_MIN}, ElementType::kInt64), most = Integers({INT64_MAX}, ElementType::kInt64);
  EXPECT_DOUBLE_EQ(Compare(least, most, one).max_difference, std::ldexp(1.0, 64));
}

TEST(CompareTest, ShapesBeforeValues) {
  Comparison result = Compare(Floats({1, 2}), Floats({1}), {});
  EXPECT_FALSE(result.equal);
  EXPECT_THAT(result.difference, HasSubstr("float32 2, reference float32 1"));
}

}  // namespace
}  // namespace aot::clients
