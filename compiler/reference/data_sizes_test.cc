// nonzero, unique, non_max_suppression and pack; values of the examples in ONNX's operator documents where it has them.
#include <limits>

#include "compiler/reference/testing.h"

namespace aot::reference {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const TensorType kCount = {ElementType::kInt64, {1}};

TensorType Numbers(Shape shape) { return {ElementType::kInt64, std::move(shape)}; }

TEST(NonZero, PositionsThenZeros) {
  const Tensor x = MakeTensor(ElementType::kBool, {2, 3}, {0, 1, 0, 0, 1, 1});
  const std::vector<Tensor> results = RunAll("nonzero", {}, {&x}, {Numbers({6}), kCount});
  ExpectValues(results[0], {1, 4, 5, 0, 0, 0});
  ExpectValues(results[1], {3});
  EXPECT_EQ(RunFailing("nonzero", {}, {&x}, Numbers({5})), "nonzero: result 0 has shape 5, needs 1");
}

TEST(Unique, ValuesOfEveryOrder) {
  const Tensor x = F32({7, 1}, {2, kNaN, 1, -0.0, kNaN, 2, 0});
  const std::vector<TensorType> types = {Numbers({7}), Numbers({7}), Numbers({7}), kCount};
  std::vector<Tensor> results = RunAll("unique", {{"sorted", true}}, {&x}, types);
  ExpectValues(results[0], {3, 2, 0, 1, 0, 0, 0});  // -0, 1, 2, NaN
  ExpectValues(results[1], {2, 3, 1, 0, 3, 2, 0});
  ExpectValues(results[2], {2, 1, 2, 2, 0, 0, 0});
  ExpectValues(results[3], {4});
  results = RunAll("unique", {{"sorted", false}}, {&x}, types);
  ExpectValues(results[0], {0, 1, 2, 3, 0, 0, 0});
  ExpectValues(results[1], {0, 1, 2, 3, 1, 0, 3});
  ExpectValues(results[2], {2, 2, 1, 2, 0, 0, 0});
}

TEST(Unique, RowsAndEdges) {
  const Tensor rows = I64({4, 3}, {1, 0, 0, 1, 0, 0, 2, 3, 4, -1, 9, 9});
  const auto types = [](int64_t n) { return std::vector{Numbers({n}), Numbers({n}), Numbers({n}), kCount}; };
  std::vector<Tensor> results = RunAll("unique", {{"sorted", true}}, {&rows}, types(4));
  ExpectValues(results[0], {3, 0, 2, 0});
  ExpectValues(results[1], {1, 1, 2, 0});
  ExpectValues(results[2], {1, 2, 1, 0});
  const Tensor empty = F32({3, 0}, {}), none = F32({0, 2}, {});
  ExpectValues(RunAll("unique", {{"sorted", true}}, {&empty}, types(3))[3], {1});
  ExpectValues(RunAll("unique", {{"sorted", true}}, {&none}, types(0))[3], {0});
  const Tensor large = MakeTensor(ElementType::kUint64, {2, 1}, {-1, 1});
  ExpectValues(RunAll("unique", {{"sorted", true}}, {&large}, types(2))[0], {1, 0});
}

class NonMaxSuppression : public ::testing::Test {
 protected:
  std::vector<double> Selected(const Tensor& boxes, const Tensor& scores, int64_t limit, const Tensor* iou,
                               const Tensor* least, bool center, int64_t room) {
    const Tensor at_most = I64({1}, {static_cast<double>(limit)});
    const std::vector<Tensor> results = RunAll("non_max_suppression", {{"center", center}},
                                               {&boxes, &scores, &at_most, iou, least}, {Numbers({room, 3}), kCount});
    std::vector<double> rows = ToVector(results[0]);
    const auto count = static_cast<size_t>(results[1].GetInt(0));
    for (size_t i = count * 3; i < rows.size(); ++i) EXPECT_EQ(rows[i], 0) << "beyond the count";
    rows.resize(count * 3);
    return rows;
  }
  const Tensor boxes_ =
      F32({1, 6, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, -0.1, 1, 0.9, 0, 10, 1, 11, 0, 10.1, 1, 11.1, 0, 100, 1, 101});
  const Tensor scores_ = F32({1, 1, 6}, {0.9, 0.75, 0.6, 0.95, 0.5, 0.3});
  const Tensor half_ = F32({1}, {0.5}), least_ = F32({1}, {0.4});
};

using Rows = std::vector<double>;

TEST_F(NonMaxSuppression, OfOnnxsDocuments) {
  EXPECT_EQ(Selected(boxes_, scores_, 3, &half_, nullptr, false, 3), (Rows{0, 0, 3, 0, 0, 0, 0, 0, 5}));
  EXPECT_EQ(Selected(boxes_, scores_, 3, &half_, &least_, false, 3), (Rows{0, 0, 3, 0, 0, 0}));
  EXPECT_EQ(Selected(boxes_, scores_, 1, &half_, nullptr, false, 6), (Rows{0, 0, 3}));
  EXPECT_EQ(Selected(boxes_, scores_, 0, &half_, nullptr, false, 6), Rows());
}

TEST_F(NonMaxSuppression, CentersTiesAndClasses) {
  // Two equal boxes and one far away; of equal scores the first wins. The second class likes the other of the two.
  const Tensor boxes = F32({1, 3, 4}, {5, 5, 2, 2, 5, 5, 2, 2, 50, 50, 2, 2});
  const Tensor scores = F32({1, 2, 3}, {0.5, 0.5, 0.5, 0.1, 0.2, kNaN});
  EXPECT_EQ(Selected(boxes, scores, 9, &half_, nullptr, true, 6), (Rows{0, 0, 0, 0, 0, 2, 0, 1, 1}));
  // Without a threshold any overlap hides; boxes that touch don't overlap.
  const Tensor touching = F32({1, 3, 4}, {0, 0, 1, 1, 1, 0, 2, 1, 0.5, 0.5, 1.5, 1.5});
  const Tensor one_class = F32({1, 1, 3}, {3, 2, 1});
  EXPECT_EQ(Selected(touching, one_class, 9, nullptr, nullptr, false, 3), (Rows{0, 0, 0, 0, 0, 1}));
}

TEST(Pack, TakesTheCornerAndClearsTheRest) {
  const Tensor x = Iota(ElementType::kInt32, {3, 4}), dims = I64({2}, {2, 3});
  ExpectValues(RunOne("pack", {}, {&x, &dims}, x.type()), {0, 1, 2, 4, 5, 6, 0, 0, 0, 0, 0, 0});
  const Tensor scalar = F32({}, {7}), none = I64({0}, {});
  ExpectValues(RunOne("pack", {}, {&scalar, &none}, scalar.type()), {7});
}

}  // namespace
}  // namespace aot::reference
