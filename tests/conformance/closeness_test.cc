#include "tests/conformance/closeness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace aot::tests {
namespace {

using reference::ElementType;
using reference::Tensor;

Tensor Of(ElementType element, const std::vector<double>& values) {
  Tensor tensor({element, {static_cast<int64_t>(values.size())}});
  for (size_t i = 0; i < values.size(); ++i) {
    if (reference::IsFloat(element)) {
      tensor.SetFloat(static_cast<int64_t>(i), values[i]);
    } else {
      tensor.SetInt(static_cast<int64_t>(i), static_cast<int64_t>(values[i]));
    }
  }
  return tensor;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ClosenessTest, FloatsAreJudgedOneByOne) {
  const Tensor want = Of(ElementType::kFloat32, {1000, 0.001, 0});
  EXPECT_EQ(Difference(Of(ElementType::kFloat32, {1000.9, 0.0010009, 9e-8}), want), "");
  EXPECT_NE(Difference(Of(ElementType::kFloat32, {1001.5, 0.001, 0}), want), "");
  // Small against the largest element, but not against its own.
  EXPECT_NE(Difference(Of(ElementType::kFloat32, {1000, 0.0011, 0}), want), "");
  EXPECT_NE(Difference(Of(ElementType::kFloat32, {1000, 0.001, 2e-7}), want), "");
}

TEST(ClosenessTest, NanAndInfinityEqualThemselvesAlone) {
  const Tensor want = Of(ElementType::kFloat32, {kNan, kInfinity});
  EXPECT_EQ(Difference(want, want), "");
  EXPECT_NE(Difference(Of(ElementType::kFloat32, {0, kInfinity}), want), "");
  EXPECT_NE(Difference(Of(ElementType::kFloat32, {kNan, -kInfinity}), want), "");
  EXPECT_NE(Difference(Of(ElementType::kFloat32, {kNan, 3e38}), want), "");
}

TEST(ClosenessTest, IntegersAndBooleansAreExact) {
  EXPECT_EQ(Difference(Of(ElementType::kInt8, {1, -2}), Of(ElementType::kInt8, {1, -2})), "");
  EXPECT_EQ(Difference(Of(ElementType::kInt8, {1, -2}), Of(ElementType::kInt8, {1, -3})),
            "1 of 2 elements differ, the first at 1: -2, expected -3");
}

TEST(ClosenessTest, TypesComeFirst) {
  EXPECT_EQ(Difference(Of(ElementType::kInt8, {1}), Of(ElementType::kUint8, {1})), "type int8 1, expected uint8 1");
  EXPECT_EQ(Difference(Of(ElementType::kInt8, {1}), Of(ElementType::kInt8, {1, 1})), "type int8 1, expected int8 2");
}

}  // namespace
}  // namespace aot::tests
