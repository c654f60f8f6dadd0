// Minimal filtering against the reference: sizes that are and aren't whole tiles, with and without halo, both tiles.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/schedule/winograd.h"
#include "compiler/testing/compiled_function.h"

namespace aot::codegen {
namespace {

TEST(WinogradMatrices, FiltersOneDimension) {
  // y = A^T [(G g) * (B^T d)] must be the correlation of d and g, exactly up to rounding.
  for (int results : {2, 4}) {
    size_t size = static_cast<size_t>(results) + 2;
    auto b = schedule::WinogradInputMatrix(results), g = schedule::WinogradFilterMatrix(results);
    ASSERT_EQ(b.size(), size);
    std::vector<double> points = {0};
    for (double p : schedule::WinogradPoints(results)) points.insert(points.end(), {p, -p});
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> real(-1, 1);
    std::vector<double> d(size), filter(3);
    for (double& x : d) x = real(random);
    for (double& x : filter) x = real(random);
    for (int i = 0; i < results; ++i) {
      double want = 0, got = 0;
      for (size_t k = 0; k < 3; ++k) want += d[static_cast<size_t>(i) + k] * filter[k];
      for (size_t j = 0; j < size; ++j) {
        double left = 0, right = 0;
        for (size_t k = 0; k < 3; ++k) left += g[j][k] * filter[k];
        for (size_t k = 0; k < size; ++k) right += b[j][k] * d[k];
        double at = j + 1 == size ? (i + 1 == results ? 1 : 0) : std::pow(points[j], i);
        got += at * left * right;
      }
      EXPECT_NEAR(got, want, 1e-12) << results << " results, result " << i;
    }
  }
}

struct Layer {
  int64_t batch, height, width, channels, features;
  std::vector<int64_t> pads;
  bool bias, residual;
  std::string filter = "f32";
};

std::string Floats(const std::string& type, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> real(-0.3F, 0.3F);
  std::string hex;
  for (int64_t i = 0; i < count; ++i) {
    float value = real(random);
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    for (int byte = 0; byte < 4; ++byte) absl::StrAppendFormat(&hex, "%02X", bits >> (8 * byte) & 0xff);
  }
  return absl::StrCat("nn.constant dense<\"0x", hex, "\"> : ", type, "\n");
}

// Half-precision numbers of magnitudes around 0.1.
std::string Halves(const std::string& type, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string hex;
  for (int64_t i = 0; i < count; ++i) {
    unsigned bits = 0x2c00 + static_cast<unsigned>(random() % 0x800) + (random() % 2 == 0 ? 0x8000 : 0);
    absl::StrAppendFormat(&hex, "%02X%02X", bits & 0xff, bits >> 8);
  }
  return absl::StrCat("nn.constant dense<\"0x", hex, "\"> : ", type, "\n");
}

std::string Module(const Layer& l) {
  int64_t rows = l.height + l.pads[0] + l.pads[2] - 2, columns = l.width + l.pads[1] + l.pads[3] - 2;
  std::string x = absl::StrCat("tensor<", l.batch, "x", l.height, "x", l.width, "x", l.channels, "xf32>");
  std::string w = absl::StrCat("tensor<3x3x", l.channels, "x", l.features, "x", l.filter, ">");
  std::string r = absl::StrCat("tensor<", l.batch, "x", rows, "x", columns, "x", l.features, "xf32>");
  std::string b = absl::StrCat("tensor<", l.features, "xf32>");
  std::string text =
      absl::StrCat("func.func @main(%x: ", x, ", %y: ", r, ") -> ", r,
                   " {\n%w = ", (l.filter == "f16" ? Halves : Floats)(w, 9 * l.channels * l.features, 3));
  if (l.bias) absl::StrAppend(&text, "%b = ", Floats(b, l.features, 4));
  absl::StrAppend(&text, "%c = nn.conv %x, %w ", l.bias ? "bias %b " : "",
                  "{strides = array<i64: 1, 1>, pads = array<i64: ", absl::StrJoin(l.pads, ", "),
                  ">, dilations = array<i64: 1, 1>, group = 1 : i64, channels_last} : (", x, ", ", w,
                  l.bias ? ", " + b : "", ") -> ", r, "\n%s = nn.relu %c : ", r, "\n%r = nn.add ",
                  l.residual ? "%s, %y" : "%s, %s", " : ", r, ", ", r, " -> ", r, "\nreturn %r : ", r, "\n}\n");
  return text;
}

class WinogradTest : public ::testing::TestWithParam<std::string> {};

TEST_P(WinogradTest, AgreesWithReference) {
  const std::vector<Layer> layers = {
      {1, 12, 12, 32, 48, {1, 1, 1, 1}, true, false},        {2, 14, 14, 64, 64, {1, 1, 1, 1}, false, true},
      {1, 7, 7, 96, 80, {1, 1, 1, 1}, true, true},           {1, 13, 18, 40, 37, {1, 1, 1, 1}, true, false},
      {1, 10, 10, 64, 64, {0, 0, 0, 0}, true, false},        {1, 9, 31, 48, 33, {0, 2, 1, 0}, false, false},
      {1, 40, 5, 64, 64, {1, 1, 1, 1}, true, true},          {1, 3, 3, 128, 130, {1, 1, 1, 1}, true, false},
      {1, 30, 30, 24, 100, {2, 2, 2, 2}, true, false},       {1, 56, 56, 16, 16, {1, 1, 1, 1}, false, false},
      {1, 12, 12, 48, 64, {1, 1, 1, 1}, true, false, "f16"}, {1, 12, 12, 1024, 66, {1, 1, 1, 1}, true, false},
  };
  uint64_t seed = 1;
  for (const Layer& layer : layers) {
    const std::string module = Module(layer);
    SCOPED_TRACE(module.substr(0, module.find("%w")));
    auto result = testing::CompileAndCompare(module, GetParam(), 3, seed++);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_LT(result->error, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, WinogradTest, ::testing::ValuesIn(testing::RunnableTargets()));

}  // namespace
}  // namespace aot::codegen
