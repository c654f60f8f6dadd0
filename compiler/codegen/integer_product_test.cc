// Products of bytes on the dot product instructions of every target that this machine runs, against the reference.
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/testing/compiled_function.h"

namespace aot::codegen {
namespace {

int64_t Count(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

std::string Type(const std::vector<int64_t>& shape, absl::string_view element) {
  return absl::StrCat("tensor<", absl::StrJoin(shape, "x"), shape.empty() ? "" : "x", element, ">");
}

// A constant of signed bytes over the whole range, its extremes among them.
std::string Bytes(const std::vector<int64_t>& shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string hex;
  for (int64_t i = 0; i < Count(shape); ++i) {
    unsigned value = i % 7 == 0 ? 0x80 : i % 7 == 1 ? 0x7f : static_cast<unsigned>(random() & 0xff);
    absl::StrAppendFormat(&hex, "%02X", value);
  }
  return absl::StrCat("nn.constant dense<\"0x", hex, "\"> : ", Type(shape, "i8"), "\n");
}

struct Case {
  std::string name, module;
};

std::string Main(absl::string_view input, absl::string_view result, absl::string_view body) {
  return absl::StrCat("func.func @main(%x: ", input, ") -> ", result, " {\n", body, "return %r : ", result, "\n}\n");
}

Case MatMul(int64_t m, int64_t k, int64_t n, absl::string_view element, int64_t zero_point, bool trans_b) {
  std::vector<int64_t> filter = trans_b ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n};
  std::string x = Type({m, k}, element), w = Type(filter, "i8"), r = Type({m, n}, "i32");
  std::string body =
      absl::StrCat("%w = ", Bytes(filter, 3), "%r = nn.matmul %x, %w {lhs_zero_point = ", zero_point,
                   " : i64, trans_b = ", trans_b ? "true" : "false", "} : ", x, ", ", w, " -> ", r, "\n");
  return {absl::StrCat("matmul ", x, " ", w, " zero point ", zero_point), Main(x, r, body)};
}

struct Convolution {
  std::vector<int64_t> input, filter, result;  // channels last
  std::vector<int64_t> strides = {1, 1}, pads = {0, 0, 0, 0}, dilations = {1, 1};
  int64_t group = 1, zero_point = 0;
  std::string element = "ui8";
};

Case Conv(const Convolution& c) {
  auto array = [](const std::vector<int64_t>& v) { return absl::StrCat("array<i64: ", absl::StrJoin(v, ", "), ">"); };
  std::string x = Type(c.input, c.element), w = Type(c.filter, "i8"), r = Type(c.result, "i32");
  std::string body = absl::StrCat("%w = ", Bytes(c.filter, 5), "%r = nn.conv %x, %w {strides = ", array(c.strides),
                                  ", pads = ", array(c.pads), ", dilations = ", array(c.dilations),
                                  ", group = ", c.group, " : i64, channels_last, input_zero_point = ", c.zero_point,
                                  " : i64} : (", x, ", ", w, ") -> ", r, "\n");
  return {absl::StrCat("conv ", x, " ", w, " group ", c.group, " zero point ", c.zero_point), Main(x, r, body)};
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const char* element : {"ui8", "i8"}) {
    for (int64_t zero_point : {0, 7, -100}) {
      if (zero_point < 0 && element[0] == 'u') continue;
      // Every width of the last panel, K whole words or not, one row and many.
      for (int64_t n : {1, 2, 3, 7, 16, 37}) cases.push_back(MatMul(5, 12, n, element, zero_point, false));
      for (int64_t k : {1, 2, 3, 5, 64}) cases.push_back(MatMul(3, k, 20, element, zero_point, true));
      cases.push_back(MatMul(1, 40, 33, element, zero_point, true));
      cases.push_back(MatMul(29, 16, 40, element, zero_point, false));
      Convolution c;
      c.element = element;
      c.zero_point = zero_point;
      c.input = {2, 7, 9, 3}, c.filter = {3, 3, 3, 10}, c.result = {2, 7, 9, 10}, c.pads = {1, 1, 1, 1};
      cases.push_back(Conv(c));
      c.input = {1, 8, 6, 16}, c.filter = {1, 1, 16, 24}, c.result = {1, 8, 6, 24}, c.pads = {0, 0, 0, 0};
      cases.push_back(Conv(c));
      c.input = {1, 9, 8, 8}, c.filter = {3, 2, 8, 5}, c.result = {1, 4, 4, 5}, c.strides = {2, 2};
      c.pads = {0, 0, 0, 0};
      cases.push_back(Conv(c));
      c.input = {1, 9, 9, 8}, c.filter = {3, 3, 4, 6}, c.result = {1, 5, 9, 6}, c.strides = {1, 1}, c.group = 2;
      c.dilations = {2, 1}, c.pads = {0, 1, 0, 1};
      cases.push_back(Conv(c));
      c.input = {1, 6, 7, 6}, c.filter = {3, 3, 3, 4}, c.result = {1, 6, 7, 4}, c.dilations = {1, 1};
      c.pads = {1, 1, 1, 1};
      cases.push_back(Conv(c));  // groups whose channels aren't whole words
      c.input = {1, 6, 7, 18}, c.filter = {3, 3, 1, 18}, c.result = {1, 3, 4, 18}, c.group = 18, c.strides = {2, 2};
      cases.push_back(Conv(c));  // depthwise
      c.input = {2, 5, 6, 3}, c.filter = {3, 3, 1, 3}, c.result = {2, 5, 6, 3}, c.group = 3, c.strides = {1, 1};
      cases.push_back(Conv(c));
      // More kernel rows than a word has bytes, and a row and a column of results that see only halo on one side.
      c.input = {1, 4, 11, 44}, c.filter = {5, 3, 1, 44}, c.result = {1, 6, 12, 44}, c.group = 44;
      c.pads = {4, 2, 2, 1};
      cases.push_back(Conv(c));
      c.input = {1, 9, 14, 16}, c.filter = {2, 4, 1, 16}, c.result = {1, 4, 3, 16}, c.group = 16, c.strides = {2, 3};
      c.dilations = {2, 2}, c.pads = {0, 0, 0, 0};
      cases.push_back(Conv(c));
      c.input = {1, 40, 3, 5}, c.filter = {33, 1, 1, 5}, c.result = {1, 8, 3, 5}, c.group = 5, c.strides = {1, 1};
      c.dilations = {1, 1};
      cases.push_back(Conv(c));
      c.input = {1, 0, 5, 16}, c.filter = {3, 3, 1, 16}, c.result = {1, 1, 5, 16}, c.group = 16;
      c.pads = {2, 1, 1, 1};
      cases.push_back(Conv(c));
      c.input = {1, 1, 1, 20}, c.filter = {3, 3, 1, 20}, c.result = {1, 1, 1, 20}, c.group = 20, c.strides = {1, 1};
      c.dilations = {1, 1}, c.pads = {1, 1, 1, 1};
      cases.push_back(Conv(c));
    }
  }
  return cases;
}

class IntegerProductTest : public ::testing::TestWithParam<std::string> {};

TEST_P(IntegerProductTest, IsExact) {
  uint64_t seed = 1;
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    auto result = testing::CompileAndCompare(c.module, GetParam(), 3, seed++);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->error, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, IntegerProductTest, ::testing::ValuesIn(testing::RunnableTargets()));

}  // namespace
}  // namespace aot::codegen
