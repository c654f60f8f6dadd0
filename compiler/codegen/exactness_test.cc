// Values at which a kernel is easily wrong: ends of ranges, ties, infinities, NaN. Element by element against the
// reference, without optimisation (which would fold what is constant here through the reference itself).
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "compiler/testing/compiled_function.h"

namespace aot::codegen {
namespace {

using reference::Tensor;

// Floats are written as MLIR reads them: infinities and NaN by their pattern.
std::string Literal(double value, const std::string& element) {
  if (element[0] != 'f' && element[0] != 'b') return absl::StrCat(static_cast<int64_t>(value));
  const char* infinity = element == "f64" ? "7FF0000000000000" : element == "f32" ? "7F800000" : "7C00";
  const char* nan = element == "f64" ? "7FF8000000000000" : element == "f32" ? "7FC00000" : "7E00";
  if (std::isnan(value)) return absl::StrCat("0x", nan);
  if (std::isinf(value)) return value > 0 ? absl::StrCat("0x", infinity) : absl::StrCat("0xF", infinity + 1);
  char text[64];
  std::snprintf(text, sizeof text, "%.20e", value);
  return text;
}

struct Operand {
  std::string element;
  std::vector<std::string> values;

  std::string type() const { return absl::StrCat("tensor<", values.size(), "x", element, ">"); }
};

Operand Values(const std::string& element, const std::vector<double>& values) {
  Operand operand{element, {}};
  for (double value : values) operand.values.push_back(Literal(value, element));
  return operand;
}

// `body` makes %r of the constants %a, %b, ...; A, B, ... in it are their types, R the result's.
std::string Module(const std::vector<Operand>& operands, std::string body, const std::string& result) {
  std::string text = absl::StrCat("func.func @main() -> ", result, " {\n");
  std::vector<std::pair<std::string, std::string>> types = {{"R", result}};
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i)), type = operands[i].type();
    absl::StrAppend(&text, "%", name, " = nn.constant dense<[", absl::StrJoin(operands[i].values, ", "), "]> : ", type,
                    "\n");
    types.emplace_back(std::string(1, static_cast<char>('A' + i)), type);
  }
  return absl::StrCat(text, absl::StrReplaceAll(body, types), "\nreturn %r : ", result, "\n}\n");
}

// Units in the last place between two floats of a type; a zero's sign counts.
double UlpsBetween(double got, double want, reference::ElementType element) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got) ? 0 : 1e30;
  if (got == want) return std::signbit(got) == std::signbit(want) ? 0 : 1e30;
  if (std::isinf(got) || std::isinf(want)) return 1e30;
  const bool is_double = element == reference::ElementType::kFloat64;
  const int digits = is_double ? 52 : element == reference::ElementType::kFloat32 ? 23 : 10;
  const int least = is_double ? -1022 : element == reference::ElementType::kFloat32 ? -126 : -14;
  return std::fabs(got - want) / std::ldexp(1.0, std::max(want == 0 ? least : std::ilogb(want), least) - digits);
}

class ExactnessTest : public ::testing::TestWithParam<std::string> {
 protected:
  void Check(const std::string& module, double ulps = 0) {
    SCOPED_TRACE(module);
    auto result = testing::CompileAndCompare(module, GetParam(), 0, 1);
    ASSERT_TRUE(result.ok()) << result.status();
    const Tensor &got = result->got[0], &want = result->want[0];
    for (int64_t i = 0; i < want.size(); ++i) {
      if (reference::IsFloat(want.element())) {
        EXPECT_LE(UlpsBetween(got.GetFloat(i), want.GetFloat(i), want.element()), ulps)
            << "element " << i << ": " << got.GetFloat(i) << " instead of " << want.GetFloat(i);
      } else {
        EXPECT_EQ(got.GetInt(i), want.GetInt(i)) << "element " << i;
      }
    }
  }
};

constexpr double kInf = HUGE_VAL, kNaN = NAN;

TEST_P(ExactnessTest, RemaindersOfFloats) {
  const std::vector<double> of = {1,   5,    -5, 5.5, -1,    1e30,   3e38,    kInf,     1, kNaN,
                                  0.0, -0.0, 7,  -7,  1e-45, 3.4e38, -3.4e38, 16777217, 9, -9};
  const std::vector<double> by = {0.1f, kInf, kInf, -2.25, 1,     3,       1e-44, 2, 0,     1,
                                  -3,   3,    -3,   3,     1e-40, 1.5e-45, 7.0,   3, -kInf, 0.7f};
  for (const char* fmod : {"true", "false"}) {
    const std::string body = absl::StrCat("%r = nn.mod %a, %b {fmod = ", fmod, "} : A, B -> R");
    for (const char* element : {"f32", "f64"}) {
      Operand a = Values(element, of), b = Values(element, by);
      Check(Module({a, b}, body, a.type()));
    }
    // Doubles beyond float32's range, and the longest division there is.
    Operand a = Values("f64", {1e300, 1.7e308, 1.7976931348623157e308, 5e-324, 1e15, -1e300, 3e-308});
    Operand b = Values("f64", {7e-300, 5e-324, 0.1, 1e308, 0.1, 3e-320, 1.1e-308});
    Check(Module({a, b}, body, a.type()));
  }
}

// A double conversion would round a value beside a tie twice.
TEST_P(ExactnessTest, ConversionsRoundOnce) {
  const double above = std::ldexp(1, -40);
  const std::vector<double> reals = {1 + std::ldexp(1, -8) + above,
                                     1 + std::ldexp(1, -8) - above,
                                     1 + std::ldexp(1, -11) + above,
                                     -1 - std::ldexp(1, -11) + above,
                                     1.0625 + above,
                                     65519.9999999,
                                     65520,
                                     1e300,
                                     -1e-300,
                                     std::ldexp(1, -25) + std::ldexp(1, -60),
                                     std::ldexp(1, -134) + std::ldexp(1, -180),
                                     kInf,
                                     kNaN,
                                     0.1};
  std::vector<double> integers = {16777217, 65537 * 257.0, 33685505, -33685503, 2147483647,
                                  257,      -129,          2049,     4097,      65520};
  for (const char* to : {"f16", "bf16", "f8E4M3FN", "f8E5M2", "f32"}) {
    const std::string result = absl::StrCat("tensor<", reals.size(), "x", to, ">");
    Check(Module({Values("f64", reals)}, "%r = nn.cast %a : A -> R", result));
    for (const char* from : {"i32", "ui32", "i64", "ui64"}) {
      std::vector<double> values = integers;
      if (from[0] == 'u')
        for (double& value : values) value = std::fabs(value);
      Operand a = Values(from, values);
      // 2^62 + 2^54 lies between two bfloat16 numbers; one more decides.
      if (std::string(from) == "i64" || std::string(from) == "ui64")
        a.values.insert(a.values.end(), {"4629700416936869889", "4629700416936869888", "9223372036854775807"});
      Check(Module({a}, "%r = nn.cast %a : A -> R", absl::StrCat("tensor<", a.values.size(), "x", to, ">")));
    }
  }
}

TEST_P(ExactnessTest, QuantisedNanIsTheLeastValue) {
  Operand a = Values("f32", {kNaN, kInf, -kInf, 0.5, 1.5, -2.5});
  Operand scale = Values("f32", {1}), zero = Values("i8", {5});
  Check(Module({a, scale, zero}, "%r = nn.quantize %a, %b zero_point %c : (A, B, C) -> R", "tensor<6xi8>"));
}

// 25 * 0.1f is 2.5 in float32 and a little more without rounding: only a pass that may change rounding leaves that out.
TEST_P(ExactnessTest, ProductsAreRoundedBeforeTheyAreQuantised) {
  Operand a = Values("f32", {25, -25, 5, 15}), b = Values("f32", {0.1f, 0.1f, 0.1f, 0.1f}), one = Values("f32", {1});
  Check(Module({a, b, one}, "%p = nn.mul %a, %b : A, B -> A\n%r = nn.quantize %p, %c : (A, C) -> R", "tensor<4xi8>"));
}

// What float32 has no range or no digits for. Targets with fused multiply-add may round apart from those without.
TEST_P(ExactnessTest, DoublesAreComputedAsDoubles) {
  Operand x =
      Values("f64", {100.0, -700.0, 0.1, 1e-50, 1e-300, 1e300, -1e39, 1e9, -3.7, 0.5, 1e17, 3e-310, kInf, kNaN});
  for (const char* op :
       {"exp",  "log",   "sin",   "cos",   "tan", "asin",    "acos",     "atan",     "sinh", "cosh",
        "tanh", "asinh", "acosh", "atanh", "erf", "sigmoid", "softplus", "softsign", "mish", "hard_swish"})
    Check(Module({x}, absl::StrCat("%r = nn.", op, " %a : A"), x.type()), 4);
  for (const char* op :
       {"leaky_relu %a {alpha = 0.3 : f32}", "elu %a {alpha = 1.5 : f32}", "celu %a {alpha = 2.0 : f32}",
        "selu %a {alpha = 1.5 : f32, gamma = 2.0 : f32}", "thresholded_relu %a {alpha = 1.0 : f32}",
        "hard_sigmoid %a {alpha = 0.2 : f32, beta = 0.5 : f32}", "shrink %a {bias = 0.25 : f32, lambd = 1.0 : f32}"})
    Check(Module({x}, absl::StrCat("%r = nn.", op, " : A"), x.type()), 4);
  // In the left tail 1 + erf cancels.
  for (const char* approximate : {"false", "true"})
    Check(Module({x}, absl::StrCat("%r = nn.gelu %a {approximate = ", approximate, "} : A"), x.type()), 1 << 14);
  Operand base = Values("f64", {1e30, 1e-200, 2, 3, -2, -8, 10, 1.5, kInf, 0.0});
  Operand power = Values("f64", {2, 1.5, 0.5, 5, 3, 1.0 / 3, -300, 1000, -1, -3});
  Check(Module({base, power}, "%r = nn.pow %a, %b : A, B -> R", base.type()), 4);
  Operand row = Values("f64", {1.0, 2.0, 1e-9, -800.0, 700.0});
  for (const char* op : {"softmax", "log_softmax"})
    Check(Module({row}, absl::StrCat("%r = nn.", op, " %a {axis = 0 : i64} : A"), row.type()), 8);
}

TEST_P(ExactnessTest, IntegersToFloatPowers) {
  Operand base = Values("i32", {16777217, 3, 2, -2, -8, 7, 0, 1000});
  Operand power = Values("f32", {1, 5, 31, 31, 0.5, -1, -1, 9});
  Check(Module({base, power}, "%r = nn.pow %a, %b : A, B -> R", base.type()));
}

TEST_P(ExactnessTest, SinesOfLargeArguments) {
  Operand x = Values("f32", {1e5, 6.6e6, -1e10, 3e38, 33215.0, 0.1, kInf, -kInf, kNaN});
  for (const char* op : {"sin", "cos", "tan"}) Check(Module({x}, absl::StrCat("%r = nn.", op, " %a : A"), x.type()), 4);
}

INSTANTIATE_TEST_SUITE_P(Targets, ExactnessTest, ::testing::ValuesIn(testing::RunnableTargets()), [](const auto& info) {
  return absl::StrReplaceAll(info.param, {{"-", "_"}});
});

}  // namespace
}  // namespace aot::codegen
