// Data movement, gathers, scatters, one_hot and topk; values of the examples in ONNX's operator documents where it has
// them.
#include <limits>

#include "compiler/reference/testing.h"

namespace aot::reference {
namespace {

using List = std::vector<int64_t>;
constexpr ElementType kF32 = ElementType::kFloat32;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Movement, ReshapeTransposeBroadcast) {
  Tensor x = Iota(kF32, {2, 3});
  ExpectValues(RunOne("reshape", {}, {&x}, {kF32, {3, 2}}), {0, 1, 2, 3, 4, 5});
  ExpectValues(RunOne("transpose", {{"perm", List{1, 0}}}, {&x}, {kF32, {3, 2}}), {0, 3, 1, 4, 2, 5});
  Tensor cube = Iota(ElementType::kInt8, {2, 3, 2});
  ExpectValues(RunOne("transpose", {{"perm", List{2, 0, 1}}}, {&cube}, {ElementType::kInt8, {2, 2, 3}}),
               {0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11});
  Tensor column = I64({2, 1}, {7, 8});
  ExpectValues(RunOne("broadcast", {}, {&column}, {ElementType::kInt64, {2, 2, 2}}), {7, 7, 8, 8, 7, 7, 8, 8});
  EXPECT_EQ(RunFailing("transpose", {{"perm", List{0, 0}}}, {&x}, {kF32, {2, 2}}),
            "transpose: perm is no permutation of the 2 dimensions");
  EXPECT_EQ(RunFailing("reshape", {}, {&x}, {kF32, {4}}),
            "reshape: the result of shape 4 does not have the 6 elements of shape 2x3");
}

TEST(Movement, Strings) {
  Tensor x(TensorType{ElementType::kString, {2}});
  *x.strings = {"a", "b"};
  Tensor y = RunOne("slice", {{"starts", List{1}}, {"steps", List{-1}}}, {&x}, x.type());
  EXPECT_EQ(*y.strings, (std::vector<std::string>{"b", "a"}));
}

TEST(Movement, SliceForwardsBackwardsAndRefused) {
  Tensor x = Iota(kF32, {3, 4});
  ExpectValues(RunOne("slice", {{"starts", List{1, 0}}, {"steps", List{1, 2}}}, {&x}, {kF32, {2, 2}}), {4, 6, 8, 10});
  ExpectValues(RunOne("slice", {{"starts", List{2, 3}}, {"steps", List{-2, -1}}}, {&x}, {kF32, {2, 3}}),
               {11, 10, 9, 3, 2, 1});
  EXPECT_EQ(RunOne("slice", {{"starts", List{9, 9}}, {"steps", List{1, 1}}}, {&x}, {kF32, {0, 4}}).size(), 0);
  EXPECT_EQ(RunFailing("slice", {{"starts", List{2, 0}}, {"steps", List{1, 1}}}, {&x}, {kF32, {2, 4}}),
            "slice: dimension 0 of size 3: start 2, step 1 and count 2 leave the input");
  EXPECT_NE(RunFailing("slice", {{"starts", List{0, 0}}, {"steps", List{INT64_MAX, 1}}}, {&x}, {kF32, {3, 4}}), "");
}

TEST(Movement, ConcatAlongAnyAxis) {
  Tensor a = F32({2, 1}, {1, 2}), b = F32({2, 2}, {3, 4, 5, 6}), none = F32({2, 0}, {});
  ExpectValues(RunOne("concat", {{"axis", int64_t{1}}}, {&a, &none, &b}, {kF32, {2, 3}}), {1, 3, 4, 2, 5, 6});
  ExpectValues(RunOne("concat", {{"axis", int64_t{0}}}, {&a, &a}, {kF32, {4, 1}}), {1, 2, 1, 2});
  EXPECT_EQ(RunFailing("concat", {{"axis", int64_t{0}}}, {&a, &b}, {kF32, {4, 1}}),
            "concat: operand 1 has shape 2x2, needs 2x1");
}

Tensor Pad(const Tensor& x, const char* mode, List begins, Shape shape, const Tensor* value = nullptr) {
  return RunOne("pad", {{"begins", begins}, {"mode", std::string(mode)}}, {&x, value}, {x.element(), shape});
}

TEST(Movement, PadInEveryMode) {
  Tensor x = F32({3}, {1, 2, 3}), nine = F32({}, {9});
  ExpectValues(Pad(x, "constant", {2}, {6}, &nine), {9, 9, 1, 2, 3, 9});
  ExpectValues(Pad(x, "constant", {1}, {5}), {0, 1, 2, 3, 0});
  ExpectValues(Pad(x, "constant", {-1}, {4}, &nine), {2, 3, 9, 9});
  ExpectValues(Pad(x, "constant", {1}, {2}, &nine), {9, 1});
  ExpectValues(Pad(x, "edge", {2}, {7}), {1, 1, 1, 2, 3, 3, 3});
  ExpectValues(Pad(x, "reflect", {2}, {8}), {3, 2, 1, 2, 3, 2, 1, 2});
  ExpectValues(Pad(x, "wrap", {2}, {8}), {2, 3, 1, 2, 3, 1, 2, 3});
  Tensor square = F32({2, 2}, {1, 2, 3, 4});
  ExpectValues(Pad(square, "reflect", {0, 1}, {3, 3}), {2, 1, 2, 4, 3, 4, 2, 1, 2});
  Tensor empty = F32({0, 2}, {});
  ExpectValues(Pad(empty, "constant", {1, 0}, {1, 2}, &nine), {9, 9});
  EXPECT_EQ(RunFailing("pad", {{"begins", List{1}}, {"mode", std::string("mirror")}}, {&x}, {kF32, {5}}),
            "pad: mode mirror is not constant, reflect, edge or wrap");
}

TEST(Gather, NegativeAndClampedIndices) {
  Tensor x = F32({3, 2}, {1, 1.2, 2.3, 3.4, 4.5, 5.7}), indices = I64({2, 2}, {0, 1, -1, 9});
  ExpectValues(RunOne("gather", {{"axis", int64_t{0}}}, {&x, &indices}, {kF32, {2, 2, 2}}),
               {1, 1.2, 2.3, 3.4, 4.5, 5.7, 4.5, 5.7}, 1e-6);
  Tensor scalar = I64({}, {-2});
  ExpectValues(RunOne("gather", {{"axis", int64_t{1}}}, {&x, &scalar}, {kF32, {3}}), {1, 2.3, 4.5}, 1e-6);
  Tensor empty = F32({0}, {}), zero = I64({1}, {0});
  EXPECT_EQ(RunFailing("gather", {{"axis", int64_t{0}}}, {&empty, &zero}, {kF32, {1}}),
            "gather: operand 0 (input) of shape 0 has no element to take");
}

TEST(Gather, ElementsExamples) {
  Tensor x = F32({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), indices = I64({2, 3}, {1, 2, 0, 2, 0, -3});
  ExpectValues(RunOne("gather_elements", {{"axis", int64_t{0}}}, {&x, &indices}, {kF32, {2, 3}}), {4, 8, 3, 7, 2, 3});
  Tensor y = F32({2, 2}, {1, 2, 3, 4}), along = I64({2, 2}, {0, 0, 1, 0});
  ExpectValues(RunOne("gather_elements", {{"axis", int64_t{1}}}, {&y, &along}, {kF32, {2, 2}}), {1, 1, 4, 3});
}

TEST(Gather, NdExamples) {
  Tensor x = Iota(ElementType::kInt64, {2, 2}), pairs = I64({2, 2}, {0, 0, 1, 1}), rows = I64({2, 1}, {1, 0});
  ExpectValues(RunOne("gather_nd", {{"batch_dims", int64_t{0}}}, {&x, &pairs}, {ElementType::kInt64, {2}}), {0, 3});
  ExpectValues(RunOne("gather_nd", {{"batch_dims", int64_t{0}}}, {&x, &rows}, {ElementType::kInt64, {2, 2}}),
               {2, 3, 0, 1});
  Tensor cube = Iota(ElementType::kInt64, {2, 2, 2});
  Tensor nested = I64({2, 1, 2}, {0, 1, 1, 0});
  ExpectValues(RunOne("gather_nd", {{"batch_dims", int64_t{0}}}, {&cube, &nested}, {ElementType::kInt64, {2, 1, 2}}),
               {2, 3, 4, 5});
  ExpectValues(RunOne("gather_nd", {{"batch_dims", int64_t{1}}}, {&cube, &rows}, {ElementType::kInt64, {2, 2}}),
               {2, 3, 4, 5});
}

TEST(Scatter, ElementsExamples) {
  Tensor zeros = F32({3, 3}, std::vector<double>(9)), indices = I64({2, 3}, {1, 0, 2, 0, 2, 1});
  Tensor updates = F32({2, 3}, {1.0, 1.1, 1.2, 2.0, 2.1, 2.2});
  auto run = [](const Tensor& x, const Tensor& i, const Tensor& u, int64_t axis, const char* reduction) {
    return RunOne("scatter_elements", {{"axis", axis}, {"reduction", std::string(reduction)}}, {&x, &i, &u}, x.type());
  };
  ExpectValues(run(zeros, indices, updates, 0, "none"), {2, 1.1, 0, 1, 0, 2.2, 0, 2.1, 1.2}, 1e-6);
  Tensor x = F32({1, 5}, {1, 2, 3, 4, 5}), twice = I64({1, 2}, {1, 1}), u = F32({1, 2}, {1.1, 2.1});
  ExpectValues(run(x, twice, u, 1, "add"), {1, 5.2, 3, 4, 5}, 1e-6);
  ExpectValues(run(x, twice, u, 1, "mul"), {1, 4.62, 3, 4, 5}, 1e-6);
  ExpectValues(run(x, twice, u, 1, "max"), {1, 2.1, 3, 4, 5}, 1e-6);
  ExpectValues(run(x, twice, u, 1, "min"), {1, 1.1, 3, 4, 5}, 1e-6);
  ExpectValues(run(x, twice, u, 1, "none"), {1, 2.1, 3, 4, 5}, 1e-6);
  Tensor outside = I64({1, 2}, {-1, 5});
  ExpectValues(run(x, outside, u, 1, "none"), {1, 2, 3, 4, 1.1}, 1e-6);
}

TEST(Scatter, NdExamples) {
  Tensor x = F32({8}, {1, 2, 3, 4, 5, 6, 7, 8}), indices = I64({4, 1}, {4, 3, 1, 7}),
         updates = F32({4}, {9, 10, 11, 12});
  Attributes none = {{"reduction", std::string("none")}}, add = {{"reduction", std::string("add")}};
  ExpectValues(RunOne("scatter_nd", none, {&x, &indices, &updates}, x.type()), {1, 11, 3, 10, 9, 6, 7, 12});
  Tensor plane = F32({2, 2}, {1, 2, 3, 4}), rows = I64({3, 1}, {1, 1, 2}), u = F32({3, 2}, {1, 1, 2, 2, 50, 50});
  ExpectValues(RunOne("scatter_nd", add, {&plane, &rows, &u}, plane.type()), {1, 2, 6, 7});
  EXPECT_EQ(RunFailing("scatter_nd", none, {&x, &rows, &u}, x.type()),
            "scatter_nd: operand 2 (updates) has shape 3x2, needs 3");
}

TEST(OneHot, AnyAxisAndNegativeIndices) {
  Tensor indices = I64({3}, {0, -1, 7}), on_off = F32({2}, {1, 3});
  ExpectValues(RunOne("one_hot", {{"axis", int64_t{1}}}, {&indices, &on_off}, {kF32, {3, 4}}),
               {3, 1, 1, 1, 1, 1, 1, 3, 1, 1, 1, 1});
  ExpectValues(RunOne("one_hot", {{"axis", int64_t{0}}}, {&indices, &on_off}, {kF32, {2, 3}}), {3, 1, 1, 1, 3, 1});
}

TEST(TopK, SortedWithTiesToTheLowerIndex) {
  Tensor x = F32({2, 4}, {0, 3, 1, 3, kNaN, 5, 5, 4});
  auto run = [&](bool largest, int64_t k) {
    return RunAll("topk", {{"axis", int64_t{1}}, {"largest", largest}}, {&x},
                  {{kF32, {2, k}}, {ElementType::kInt64, {2, k}}});
  };
  std::vector<Tensor> top = run(true, 3), bottom = run(false, 2);
  ExpectValues(top[0], {3, 3, 1, kNaN, 5, 5});
  ExpectValues(top[1], {1, 3, 2, 0, 1, 2});
  ExpectValues(bottom[0], {0, 1, 4, 5});
  ExpectValues(bottom[1], {0, 2, 3, 1});
}

}  // namespace
}  // namespace aot::reference
