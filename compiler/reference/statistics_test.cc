// Reductions, running sums, softmax and normalisations.
#include <limits>

#include "compiler/reference/testing.h"

namespace aot::reference {
namespace {

using List = std::vector<int64_t>;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor Reduce(const std::string& name, const Tensor& input, List axes) {
  Shape shape = input.shape();
  for (int64_t axis : axes) shape[static_cast<size_t>(axis)] = 1;
  return RunOne(name, {{"axes", axes}}, {&input}, {input.element(), shape});
}

TEST(Reduce, OverAnyAxes) {
  Tensor x = Iota(ElementType::kFloat32, {2, 3, 2});
  ExpectValues(Reduce("reduce_sum", x, {1}), {6, 9, 24, 27});
  ExpectValues(Reduce("reduce_sum", x, {0, 2}), {14, 22, 30});
  ExpectValues(Reduce("reduce_sum", x, {0, 1, 2}), {66});
  ExpectValues(Reduce("reduce_sum", x, {}), ToVector(x));
  ExpectValues(Reduce("reduce_mean", x, {2}), {0.5, 2.5, 4.5, 6.5, 8.5, 10.5});
  ExpectValues(Reduce("reduce_prod", x, {2}), {0, 6, 20, 42, 72, 110});
  ExpectValues(Reduce("reduce_max", x, {0}), {6, 7, 8, 9, 10, 11});
  ExpectValues(Reduce("reduce_min", x, {1, 2}), {0, 6});
  ExpectValues(Reduce("reduce_sum", F32({}, {3}), {}), {3});
}

TEST(Reduce, SumsAreKeptInDouble) {
  Tensor x(TensorType{ElementType::kFloat32, {3}});
  x.SetFloat(0, 1e8);
  x.SetFloat(1, 1);
  x.SetFloat(2, -1e8);
  ExpectValues(Reduce("reduce_sum", x, {0}), {1});
}

TEST(Reduce, NanIntegersAndEmptyRanges) {
  ExpectValues(Reduce("reduce_max", F32({3}, {1, kNaN, 3}), {0}), {kNaN});
  ExpectValues(Reduce("reduce_min", F32({3}, {kNaN, 1, 3}), {0}), {kNaN});
  Tensor bytes = MakeTensor(ElementType::kInt8, {3}, {100, 100, -1});
  ExpectValues(Reduce("reduce_sum", bytes, {0}), {-57});
  ExpectValues(Reduce("reduce_max", bytes, {0}), {100});
  ExpectValues(Reduce("reduce_mean", I64({3}, {-5, -2, 0}), {0}), {-2});
  Tensor empty = F32({2, 0}, {}), empty_bytes = MakeTensor(ElementType::kUint8, {0}, {});
  ExpectValues(Reduce("reduce_sum", empty, {1}), {0, 0});
  ExpectValues(Reduce("reduce_prod", empty, {1}), {1, 1});
  ExpectValues(Reduce("reduce_max", empty, {1}), {-kInf, -kInf});
  ExpectValues(Reduce("reduce_min", empty, {1}), {kInf, kInf});
  ExpectValues(Reduce("reduce_mean", empty, {1}), {kNaN, kNaN});
  ExpectValues(Reduce("reduce_max", empty_bytes, {0}), {0});
  ExpectValues(Reduce("reduce_min", empty_bytes, {0}), {255});
}

TEST(Reduce, MistakesAreNamed) {
  Tensor x = F32({2}, {1, 2});
  EXPECT_EQ(RunFailing("reduce_sum", {{"axes", List{1}}}, {&x}, x.type()),
            "reduce_sum: axis 1 is outside a tensor of rank 1");
  EXPECT_EQ(RunFailing("reduce_sum", {{"axes", List{0}}}, {&x}, x.type()),
            "reduce_sum: the result has shape 2, needs 1");
}

TEST(ArgReduce, TiesAndNan) {
  Tensor x = F32({2, 3}, {2, 5, 5, kNaN, 1, kNaN});
  auto arg = [&](const char* name, bool last) {
    return RunOne(name, {{"axis", int64_t{1}}, {"select_last", last}}, {&x}, {ElementType::kInt64, {2, 1}});
  };
  ExpectValues(arg("arg_max", false), {1, 0});
  ExpectValues(arg("arg_max", true), {2, 2});
  ExpectValues(arg("arg_min", false), {0, 0});
  Tensor columns =
      RunOne("arg_max", {{"axis", int64_t{0}}, {"select_last", false}}, {&x}, {ElementType::kInt64, {1, 3}});
  ExpectValues(columns, {1, 0, 1});
}

TEST(CumSum, AllFourForms) {
  Tensor x = F32({2, 3}, {1, 2, 3, 4, 5, 6});
  auto sum = [&](int64_t axis, bool exclusive, bool reverse) {
    return RunOne("cumsum", {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}}, {&x}, x.type());
  };
  ExpectValues(sum(1, false, false), {1, 3, 6, 4, 9, 15});
  ExpectValues(sum(1, true, false), {0, 1, 3, 0, 4, 9});
  ExpectValues(sum(1, false, true), {6, 5, 3, 15, 11, 6});
  ExpectValues(sum(1, true, true), {5, 3, 0, 11, 6, 0});
  ExpectValues(sum(0, false, false), {1, 2, 3, 5, 7, 9});
}

TEST(Softmax, AlongAnyAxis) {
  Tensor x = F32({2, 2}, {1000, 1001, -1000, 1000});
  double e = std::exp(-1);
  auto run = [&](const char* name, int64_t axis) { return RunOne(name, {{"axis", axis}}, {&x}, x.type()); };
  ExpectValues(run("softmax", 1), {e / (1 + e), 1 / (1 + e), 0, 1}, 1e-6);
  ExpectValues(run("softmax", 0), {1, 1 / (1 + e), 0, e / (1 + e)}, 1e-6);
  ExpectValues(run("log_softmax", 1), {-1 - std::log1p(e), -std::log1p(e), -2000, 0}, 1e-6);
  ExpectValues(run("hardmax", 1), {0, 1, 0, 1});
  Tensor ties = F32({3}, {2, 2, 1});
  ExpectValues(RunOne("hardmax", {{"axis", int64_t{0}}}, {&ties}, ties.type()), {1, 0, 0});
  Tensor masked = F32({2}, {-kInf, 0});
  ExpectValues(RunOne("softmax", {{"axis", int64_t{0}}}, {&masked}, masked.type()), {0, 1});
}

// Mean and variance written out.
std::vector<double> Standardised(std::vector<double> x, double epsilon) {
  double mean = 0, variance = 0;
  for (double v : x) mean += v / static_cast<double>(x.size());
  for (double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
  for (double& v : x) v = (v - mean) / std::sqrt(variance + epsilon);
  return x;
}

TEST(Normalisation, LayerAndRms) {
  Tensor x = F32({2, 3}, {1, 2, 6, -1, 0, 4}), scale = F32({3}, {1, 2, 3}), bias = F32({3}, {10, 20, 30});
  std::vector<double> a = Standardised({1, 2, 6}, 1e-5), b = Standardised({-1, 0, 4}, 1e-5);
  Attributes attributes = {{"axis", int64_t{1}}, {"epsilon", 1e-5}};
  ExpectValues(RunOne("layer_norm", attributes, {&x, &scale, &bias}, x.type()),
               {a[0] + 10, 2 * a[1] + 20, 3 * a[2] + 30, b[0] + 10, 2 * b[1] + 20, 3 * b[2] + 30}, 1e-6);
  ExpectValues(RunOne("layer_norm", attributes, {&x, nullptr, nullptr}, x.type()), {a[0], a[1], a[2], b[0], b[1], b[2]},
               1e-6);
  double r = std::sqrt(41.0 / 3 + 1e-5), s = std::sqrt(17.0 / 3 + 1e-5);
  ExpectValues(RunOne("rms_norm", attributes, {&x, &scale}, x.type()), {1 / r, 4 / r, 18 / r, -1 / s, 0, 12 / s}, 1e-6);
}

TEST(Normalisation, BatchInBothLayouts) {
  Tensor x = F32({1, 2, 2}, {1, 2, 3, 4});
  Tensor scale = F32({2}, {1, 2}), bias = F32({2}, {0, 1}), mean = F32({2}, {1, 2}), variance = F32({2}, {4, 1});
  Attributes attributes = {{"epsilon", 0.0}};
  ExpectValues(RunOne("batch_norm", attributes, {&x, &scale, &bias, &mean, &variance}, x.type()), {0, 0.5, 3, 5});
  attributes["channels_last"] = true;
  ExpectValues(RunOne("batch_norm", attributes, {&x, &scale, &bias, &mean, &variance}, x.type()), {0, 1, 1, 5});
}

TEST(Normalisation, InstanceAndGroup) {
  Tensor x = F32({1, 2, 3}, {1, 2, 6, -1, 0, 4}), scale = F32({2}, {1, 2}), bias = F32({2}, {0, 5});
  std::vector<double> a = Standardised({1, 2, 6}, 1e-5), b = Standardised({-1, 0, 4}, 1e-5);
  std::vector<double> all = Standardised({1, 2, 6, -1, 0, 4}, 1e-5);
  ExpectValues(RunOne("instance_norm", {{"epsilon", 1e-5}}, {&x, &scale, &bias}, x.type()),
               {a[0], a[1], a[2], 2 * b[0] + 5, 2 * b[1] + 5, 2 * b[2] + 5}, 1e-6);
  ExpectValues(RunOne("group_norm", {{"groups", int64_t{1}}, {"epsilon", 1e-5}}, {&x, &scale, &bias}, x.type()),
               {all[0], all[1], all[2], 2 * all[3] + 5, 2 * all[4] + 5, 2 * all[5] + 5}, 1e-6);
  EXPECT_EQ(RunFailing("group_norm", {{"groups", int64_t{3}}, {"epsilon", 1e-5}}, {&x, &scale, &bias}, x.type()),
            "group_norm: groups 3 does not divide 2 channels");
}

TEST(Normalisation, LrnWindowIsLongerAbove) {
  Tensor x = F32({1, 4, 1, 1}, {1, 2, 3, 4});
  auto lrn = [&](int64_t size) {
    return RunOne("lrn", {{"size", size}, {"alpha", 2.0}, {"beta", 0.5}, {"bias", 1.0}}, {&x}, x.type());
  };
  ExpectValues(lrn(2), {1 / std::sqrt(6), 2 / std::sqrt(14), 3 / std::sqrt(26), 4 / std::sqrt(17)}, 1e-6);
  double third = 2.0 / 3;
  ExpectValues(lrn(3),
               {1 / std::sqrt(1 + third * 5), 2 / std::sqrt(1 + third * 14), 3 / std::sqrt(1 + third * 29),
                4 / std::sqrt(1 + third * 25)},
               1e-6);
}

}  // namespace
}  // namespace aot::reference
