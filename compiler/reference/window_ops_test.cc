// Convolutions, pools and matrix products: hand-computed cases, and random ones against the definition written out
// index by index.
#include <limits>

#include "compiler/reference/testing.h"

namespace aot::reference {
namespace {

using List = std::vector<int64_t>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(MatMul, SmallByHand) {
  Tensor a = F32({2, 3}, {1, 2, 3, 4, 5, 6}), b = F32({3, 2}, {1, 0, 0, 1, 1, 1});
  ExpectValues(RunOne("matmul", {}, {&a, &b}, {ElementType::kFloat32, {2, 2}}), {4, 5, 10, 11});
  ExpectValues(RunOne("matmul", {{"trans_a", true}, {"trans_b", true}}, {&b, &a}, {ElementType::kFloat32, {2, 2}}),
               {4, 10, 5, 11});
}

TEST(MatMul, TransposedBroadcastBatches) {
  for (bool trans_a : {false, true}) {
    for (bool trans_b : {false, true}) {
      int64_t m = 7, n = 5, k = 3;
      Tensor a = RandomTensor(ElementType::kFloat32, trans_a ? Shape{2, 1, k, m} : Shape{2, 1, m, k}, 1);
      Tensor b = RandomTensor(ElementType::kFloat32, trans_b ? Shape{3, n, k} : Shape{3, k, n}, 2);
      std::vector<double> expected;
      for (int64_t i = 0; i < 2; ++i) {
        for (int64_t j = 0; j < 3; ++j) {
          for (int64_t r = 0; r < m; ++r) {
            for (int64_t c = 0; c < n; ++c) {
              double sum = 0;
              for (int64_t x = 0; x < k; ++x) {
                sum += a.GetFloat(i * m * k + (trans_a ? x * m + r : r * k + x)) *
                       b.GetFloat(j * k * n + (trans_b ? c * k + x : x * n + c));
              }
              expected.push_back(sum);
            }
          }
        }
      }
      ExpectValues(RunOne("matmul", {{"trans_a", trans_a}, {"trans_b", trans_b}}, {&a, &b},
                          {ElementType::kFloat32, {2, 3, m, n}}),
                   expected);
    }
  }
}

TEST(MatMul, IntegersAndEmptyDepth) {
  Tensor a = MakeTensor(ElementType::kUint8, {1, 2}, {255, 255}),
         b = MakeTensor(ElementType::kInt8, {2, 1}, {-128, -128});
  ExpectValues(RunOne("matmul", {}, {&a, &b}, {ElementType::kInt32, {1, 1}}), {-65280});
  Tensor c = F32({2, 0}, {}), d = F32({0, 2}, {});
  ExpectValues(RunOne("matmul", {}, {&c, &d}, {ElementType::kFloat32, {2, 2}}), {0, 0, 0, 0});
  Tensor e = F32({2, 3}, std::vector<double>(6));
  EXPECT_EQ(RunFailing("matmul", {}, {&e, &e}, {ElementType::kFloat32, {2, 3}}),
            "matmul: operand 0 (lhs) of shape 2x3 has depth 3, operand 1 (rhs) of shape 2x3 has 2");
}

struct Case {
  Shape input, filter;  // channels first, two spatial dimensions
  List strides, pads, dilations;
  int64_t group;
  bool bias;
};
const Case kCases[] = {
    {{1, 1, 5, 5}, {1, 1, 3, 3}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1, false},
    {{2, 4, 7, 5}, {6, 4, 3, 2}, {2, 1}, {1, 0, 2, 1}, {1, 2}, 1, true},
    {{1, 6, 8, 9}, {6, 1, 3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 6, true},
    {{1, 4, 11, 13}, {6, 2, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 2, false},
    {{1, 3, 30, 40}, {5, 3, 5, 3}, {3, 2}, {4, 0, 1, 5}, {2, 3}, 1, true},
};

Attributes AttributesOf(const Case& c) {
  return {{"strides", c.strides}, {"pads", c.pads}, {"dilations", c.dilations}, {"group", c.group}};
}
int64_t ConvSize(const Case& c, size_t d) {
  return (c.input[2 + d] + c.pads[d] + c.pads[2 + d] - (c.filter[2 + d] - 1) * c.dilations[d] - 1) / c.strides[d] + 1;
}
int64_t At(const Shape& s, int64_t a, int64_t b, int64_t c, int64_t d) {
  return ((a * s[1] + b) * s[2] + c) * s[3] + d;
}

// Moves the channels of a rank-4 tensor: perm as in nn.transpose.
Tensor Permuted(const Tensor& tensor, List perm) {
  Shape shape;
  for (int64_t p : perm) shape.push_back(tensor.shape()[static_cast<size_t>(p)]);
  return RunOne("transpose", {{"perm", perm}}, {&tensor}, {tensor.element(), shape});
}

TEST(Conv, AgainstTheDefinitionInBothLayouts) {
  for (const Case& c : kCases) {
    Tensor input = RandomTensor(ElementType::kFloat32, c.input, 3),
           filter = RandomTensor(ElementType::kFloat32, c.filter, 4);
    Tensor bias = RandomTensor(ElementType::kFloat32, {c.filter[0]}, 5);
    Shape shape = {c.input[0], c.filter[0], ConvSize(c, 0), ConvSize(c, 1)};
    int64_t inputs = c.filter[1], outputs = c.filter[0] / c.group;
    std::vector<double> expected;
    for (int64_t n = 0; n < shape[0]; ++n) {
      for (int64_t m = 0; m < shape[1]; ++m) {
        for (int64_t y = 0; y < shape[2]; ++y) {
          for (int64_t x = 0; x < shape[3]; ++x) {
            double sum = c.bias ? bias.GetFloat(m) : 0;
            for (int64_t i = 0; i < inputs; ++i) {
              for (int64_t ky = 0; ky < c.filter[2]; ++ky) {
                for (int64_t kx = 0; kx < c.filter[3]; ++kx) {
                  int64_t iy = y * c.strides[0] + ky * c.dilations[0] - c.pads[0];
                  int64_t ix = x * c.strides[1] + kx * c.dilations[1] - c.pads[1];
                  if (iy < 0 || ix < 0 || iy >= c.input[2] || ix >= c.input[3]) continue;
                  sum += input.GetFloat(At(c.input, n, m / outputs * inputs + i, iy, ix)) *
                         filter.GetFloat(At(c.filter, m, i, ky, kx));
                }
              }
            }
            expected.push_back(sum);
          }
        }
      }
    }
    Tensor first =
        RunOne("conv", AttributesOf(c), {&input, &filter, c.bias ? &bias : nullptr}, {ElementType::kFloat32, shape});
    ExpectValues(first, expected);
    Attributes last = AttributesOf(c);
    last["channels_last"] = true;
    Tensor input_last = Permuted(input, {0, 2, 3, 1}), filter_last = Permuted(filter, {2, 3, 1, 0});
    Tensor result = RunOne("conv", last, {&input_last, &filter_last, c.bias ? &bias : nullptr},
                           {ElementType::kFloat32, {shape[0], shape[2], shape[3], shape[1]}});
    ExpectValues(Permuted(result, {0, 3, 1, 2}), expected);
  }
}

TEST(Conv, OneAndThreeDimensionsAndIntegers) {
  Tensor x = F32({1, 1, 4}, {1, 2, 3, 4}), w = F32({1, 1, 2}, {1, -1});
  Attributes line = {{"strides", List{1}}, {"pads", List{1, 0}}, {"dilations", List{1}}, {"group", int64_t{1}}};
  ExpectValues(RunOne("conv", line, {&x, &w, nullptr}, {ElementType::kFloat32, {1, 1, 4}}), {-1, -1, -1, -1});
  Tensor cube = Iota(ElementType::kFloat32, {1, 1, 2, 2, 2}), ones = F32({1, 1, 2, 2, 2}, std::vector<double>(8, 1));
  Attributes solid = {
      {"strides", List{1, 1, 1}}, {"pads", List(6, 0)}, {"dilations", List{1, 1, 1}}, {"group", int64_t{1}}};
  ExpectValues(RunOne("conv", solid, {&cube, &ones, nullptr}, {ElementType::kFloat32, {1, 1, 1, 1, 1}}), {28});
  Tensor a = MakeTensor(ElementType::kUint8, {1, 1, 2}, {255, 255}),
         b = MakeTensor(ElementType::kInt8, {1, 1, 2}, {-128, 1});
  line["pads"] = List{0, 0};
  ExpectValues(RunOne("conv", line, {&a, &b, nullptr}, {ElementType::kInt32, {1, 1, 1}}), {-32385});
}

TEST(Conv, MistakesAreNamed) {
  Tensor x = F32({1, 4, 4}, std::vector<double>(16)), w = F32({2, 3, 2}, std::vector<double>(12));
  Attributes a = {{"strides", List{1}}, {"pads", List{0, 0}}, {"dilations", List{1}}, {"group", int64_t{1}}};
  EXPECT_EQ(RunFailing("conv", a, {&x, &w}, {ElementType::kFloat32, {1, 2, 3}}),
            "conv: operand 1 (filter) of shape 2x3x2 has 2 and 3 channels, needs 2 and 4");
  a["strides"] = List{0};
  EXPECT_EQ(RunFailing("conv", a, {&x, &w}, {ElementType::kFloat32, {1, 2, 3}}),
            "conv: kernel 2, stride 0 and dilation 1 must lie between 1 and 1073741824");
  a["strides"] = List{1, 1};
  EXPECT_EQ(RunFailing("conv", a, {&x, &w}, {ElementType::kFloat32, {1, 2, 3}}),
            "conv: attribute strides has 2 entries, needs 1");
}

TEST(ConvTranspose, AgainstTheDefinitionInBothLayouts) {
  for (const Case& c : kCases) {
    // Read the filter as [C, M/group, kernel].
    Shape input_shape = {c.input[0], c.filter[0], c.input[2], c.input[3]};
    int64_t outputs = c.filter[1], inputs = c.filter[0] / c.group;
    Shape shape = {c.input[0], outputs * c.group, 0, 0};
    for (size_t d = 0; d < 2; ++d) {
      shape[2 + d] =
          (c.input[2 + d] - 1) * c.strides[d] + (c.filter[2 + d] - 1) * c.dilations[d] + 1 - c.pads[d] - c.pads[2 + d];
    }
    if (shape[2] < 1 || shape[3] < 1) continue;
    Tensor input = RandomTensor(ElementType::kFloat32, input_shape, 6),
           filter = RandomTensor(ElementType::kFloat32, c.filter, 7);
    Tensor bias = RandomTensor(ElementType::kFloat32, {shape[1]}, 8);
    std::vector<double> expected(static_cast<size_t>(*ElementCount(shape)), 0);
    for (int64_t n = 0; n < shape[0]; ++n) {
      for (int64_t m = 0; m < shape[1]; ++m) {
        for (int64_t i = 0; i < shape[2] * shape[3]; ++i) {
          expected[static_cast<size_t>(At(shape, n, m, 0, i))] = c.bias ? bias.GetFloat(m) : 0;
        }
        for (int64_t k = 0; k < inputs; ++k) {
          int64_t channel = m / outputs * inputs + k;
          for (int64_t iy = 0; iy < c.input[2]; ++iy) {
            for (int64_t ix = 0; ix < c.input[3]; ++ix) {
              for (int64_t ky = 0; ky < c.filter[2]; ++ky) {
                for (int64_t kx = 0; kx < c.filter[3]; ++kx) {
                  int64_t y = iy * c.strides[0] + ky * c.dilations[0] - c.pads[0];
                  int64_t x = ix * c.strides[1] + kx * c.dilations[1] - c.pads[1];
                  if (y < 0 || x < 0 || y >= shape[2] || x >= shape[3]) continue;
                  expected[static_cast<size_t>(At(shape, n, m, y, x))] +=
                      input.GetFloat(At(input_shape, n, channel, iy, ix)) *
                      filter.GetFloat(At(c.filter, channel, m % outputs, ky, kx));
                }
              }
            }
          }
        }
      }
    }
    const Tensor* b = c.bias ? &bias : nullptr;
    ExpectValues(RunOne("conv_transpose", AttributesOf(c), {&input, &filter, b}, {ElementType::kFloat32, shape}),
                 expected);
    Attributes last = AttributesOf(c);
    last["channels_last"] = true;
    Tensor input_last = Permuted(input, {0, 2, 3, 1}), filter_last = Permuted(filter, {2, 3, 0, 1});
    Tensor result = RunOne("conv_transpose", last, {&input_last, &filter_last, b},
                           {ElementType::kFloat32, {shape[0], shape[2], shape[3], shape[1]}});
    ExpectValues(Permuted(result, {0, 3, 1, 2}), expected);
  }
}

Attributes PoolAttributes(List kernel, List strides, List pads, List dilations) {
  return {{"kernel", kernel}, {"strides", strides}, {"pads", pads}, {"dilations", dilations}};
}

// averagepool_2d_ceil and maxpool_2d_ceil of ONNX's node tests.
TEST(Pool, CeilModeWindowsReachOutside) {
  Tensor x = Iota(ElementType::kFloat32, {1, 1, 4, 4});
  for (int64_t i = 0; i < 16; ++i) x.SetFloat(i, static_cast<double>(i + 1));
  TensorType type{ElementType::kFloat32, {1, 1, 2, 2}};
  Attributes a = PoolAttributes({3, 3}, {2, 2}, {0, 0, 0, 0}, {1, 1});
  ExpectValues(RunOne("max_pool", a, {&x}, type), {11, 12, 15, 16});
  a["count_include_pad"] = false;
  ExpectValues(RunOne("avg_pool", a, {&x}, type), {6, 7.5, 12, 13.5});
  a["count_include_pad"] = true;  // cells beyond the padded input count in neither case
  ExpectValues(RunOne("avg_pool", a, {&x}, type), {6, 7.5, 12, 13.5});
}

TEST(Pool, PadsDilationsAndLayouts) {
  Tensor x = F32({1, 2, 1, 4}, {1, 2, 3, 4, -1, -2, -3, -4});
  Attributes a = PoolAttributes({1, 2}, {1, 2}, {0, 1, 0, 1}, {1, 2});
  ExpectValues(RunOne("max_pool", a, {&x}, {ElementType::kFloat32, {1, 2, 1, 2}}), {2, 4, -2, -2});
  a["count_include_pad"] = false;
  ExpectValues(RunOne("avg_pool", a, {&x}, {ElementType::kFloat32, {1, 2, 1, 2}}), {2, 3, -2, -3});
  a["count_include_pad"] = true;
  ExpectValues(RunOne("avg_pool", a, {&x}, {ElementType::kFloat32, {1, 2, 1, 2}}), {1, 3, -1, -3});
  Tensor last = Permuted(x, {0, 2, 3, 1});
  a["channels_last"] = true;
  ExpectValues(RunOne("avg_pool", a, {&last}, {ElementType::kFloat32, {1, 1, 2, 2}}), {1, -1, 3, -3});
  a["p"] = int64_t{2};
  ExpectValues(RunOne("lp_pool", a, {&last}, {ElementType::kFloat32, {1, 1, 2, 2}}),
               {2, 2, std::sqrt(20), std::sqrt(20)}, 1e-6);
}

TEST(Pool, NanIntegersAndEmptyWindows) {
  Tensor x = F32({1, 1, 3}, {1, kNaN, 3});
  ExpectValues(RunOne("max_pool", PoolAttributes({2}, {1}, {0, 0}, {1}), {&x}, {ElementType::kFloat32, {1, 1, 2}}),
               {kNaN, kNaN});
  Tensor bytes = MakeTensor(ElementType::kInt8, {1, 1, 3}, {-5, -7, -6});
  ExpectValues(RunOne("max_pool", PoolAttributes({2}, {1}, {1, 0}, {1}), {&bytes}, {ElementType::kInt8, {1, 1, 3}}),
               {-5, -5, -6});
  Tensor y = F32({1, 1, 1}, {7});
  Attributes beyond = PoolAttributes({1}, {2}, {0, 2}, {1});
  beyond["count_include_pad"] = false;
  ExpectValues(RunOne("avg_pool", beyond, {&y}, {ElementType::kFloat32, {1, 1, 2}}), {7, 0});
}

}  // namespace
}  // namespace aot::reference
