// Products and convolutions of constant weights against the reference, with shapes that choose each form of the tile:
// wide rows of a power of two, panels whose vectors differ in width, weights and results beyond the second cache.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/testing/compiled_function.h"

namespace aot::codegen {
namespace {

using Dims = std::vector<int64_t>;

std::string Type(const Dims& shape) { return absl::StrCat("tensor<", absl::StrJoin(shape, "x"), "xf32>"); }

std::string Floats(const Dims& shape) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-0.1f, 0.1f);
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  std::string hex;
  for (int64_t i = 0; i < count; ++i) {
    float value = uniform(random);
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (unsigned char byte : bytes) absl::StrAppendFormat(&hex, "%02X", byte);
  }
  return absl::StrCat("nn.constant dense<\"0x", hex, "\"> : ", Type(shape), "\n");
}

// relu(x * w + y): y is added by the epilogue.
std::string MatMul(int64_t m, int64_t k, int64_t n) {
  const std::string x = Type({m, k}), w = Type({k, n}), r = Type({m, n});
  return absl::StrCat("func.func @main(%x: ", x, ", %y: ", r, ") -> ", r, " {\n%w = ", Floats({k, n}),
                      "%m = nn.matmul %x, %w : ", x, ", ", w, " -> ", r, "\n%s = nn.add %m, %y : ", r, ", ", r, " -> ",
                      r, "\n%r = nn.relu %s : ", r, "\nreturn %r : ", r, "\n}\n");
}

std::string Conv(const Dims& input, const Dims& filter, const Dims& result, int64_t stride) {
  const std::string x = Type(input), w = Type(filter), r = Type(result);
  return absl::StrCat("func.func @main(%x: ", x, ", %y: ", r, ") -> ", r, " {\n%w = ", Floats(filter),
                      "%m = nn.conv %x, %w {strides = array<i64: ", stride, ", ", stride,
                      ">, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, "
                      "channels_last} : (",
                      x, ", ", w, ") -> ", r, "\n%s = nn.add %m, %y : ", r, ", ", r, " -> ", r,
                      "\n%r = nn.relu %s : ", r, "\nreturn %r : ", r, "\n}\n");
}

// An epilogue whose values are each used twice: 2^30 paths lead to the product.
std::string Squares() {
  std::string body =
      "%m = nn.matmul %x, %w : tensor<300x8xf32>, tensor<8x256xf32> -> tensor<300x256xf32>\n"
      "%v0 = nn.tanh %m : tensor<300x256xf32>\n";
  for (int i = 0; i < 30; ++i)
    absl::StrAppend(&body, "%v", i + 1, " = nn.mul %v", i, ", %v", i,
                    " : tensor<300x256xf32>, tensor<300x256xf32> -> tensor<300x256xf32>\n");
  return absl::StrCat("func.func @main(%x: tensor<300x8xf32>) -> tensor<300x256xf32> {\n%w = ", Floats({8, 256}), body,
                      "return %v30 : tensor<300x256xf32>\n}\n");
}

class Contraction : public ::testing::TestWithParam<std::pair<const char*, std::string>> {};

TEST_P(Contraction, MatchesTheReference) {
  for (const std::string& target : testing::RunnableTargets()) {
    for (int opt_level : {0, 3}) {
      auto comparison = testing::CompileAndCompare(GetParam().second, target, opt_level, /*seed=*/1);
      ASSERT_TRUE(comparison.ok()) << comparison.status();
      EXPECT_LE(comparison->error, 4e-6) << target << " -O" << opt_level;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Contraction,
    ::testing::Values(std::pair("PanelOf24", MatMul(29, 40, 24)), std::pair("PanelOf27", MatMul(31, 33, 27)),
                      std::pair("PanelOf58", MatMul(28, 18, 58)), std::pair("RowsOf4096Bytes", MatMul(30, 1024, 136)),
                      std::pair("RowsOf8192Bytes", MatMul(7, 2048, 64)),
                      std::pair("FewRowsOf4096Bytes", MatMul(5, 1024, 80)),
                      std::pair("WeightsBeyondTheCache", MatMul(19, 1030, 270)),
                      std::pair("ResultsBeyondTheCache", MatMul(531, 9, 130)),
                      std::pair("OneStepOfResultsBeyondTheCache", MatMul(600, 1, 120)),
                      std::pair("Strided", Conv({1, 9, 9, 512}, {1, 1, 512, 130}, {1, 5, 5, 130}, 2)),
                      std::pair("Taps", Conv({1, 12, 12, 64}, {3, 3, 64, 260}, {1, 10, 10, 260}, 1)),
                      std::pair("Squares", Squares()),
                      std::pair("Images", Conv({3, 40, 41, 20}, {1, 1, 20, 40}, {3, 40, 41, 40}, 1))),
    [](const auto& info) { return info.param.first; });

}  // namespace
}  // namespace aot::codegen
