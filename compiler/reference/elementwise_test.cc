#include <limits>

#include "compiler/reference/testing.h"

namespace aot::reference {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor Unary(const std::string& name, const Tensor& input, Attributes attributes = {}) {
  return RunOne(name, attributes, {&input}, input.type());
}
Tensor Binary(const std::string& name, const Tensor& a, const Tensor& b, Shape shape, Attributes attributes = {}) {
  return RunOne(name, attributes, {&a, &b}, {a.element(), std::move(shape)});
}
Tensor Compare(const std::string& name, const Tensor& a, const Tensor& b, Shape shape) {
  return RunOne(name, {}, {&a, &b}, {ElementType::kBool, std::move(shape)});
}

TEST(Unary, FloatsAgainstTheLibrary) {
  Tensor x = F32({7}, {-2.5, -0.75, -0.25, 0, 0.5, 0.9, 1.5});
  struct {
    const char* name;
    double (*exact)(double);
  } functions[] = {
      {"abs", [](double v) { return std::fabs(v); }},
      {"neg", [](double v) { return -v; }},
      {"exp", [](double v) { return std::exp(v); }},
      {"floor", [](double v) { return std::floor(v); }},
      {"ceil", [](double v) { return std::ceil(v); }},
      {"sin", [](double v) { return std::sin(v); }},
      {"cos", [](double v) { return std::cos(v); }},
      {"tan", [](double v) { return std::tan(v); }},
      {"atan", [](double v) { return std::atan(v); }},
      {"sinh", [](double v) { return std::sinh(v); }},
      {"cosh", [](double v) { return std::cosh(v); }},
      {"tanh", [](double v) { return std::tanh(v); }},
      {"asinh", [](double v) { return std::asinh(v); }},
      {"erf", [](double v) { return std::erf(v); }},
      {"sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }},
      {"softplus", [](double v) { return std::log1p(std::exp(v)); }},
      {"softsign", [](double v) { return v / (1 + std::fabs(v)); }},
      {"mish", [](double v) { return v * std::tanh(std::log1p(std::exp(v))); }},
      {"hard_swish", [](double v) { return v * std::fmin(1, std::fmax(0, v / 6 + 0.5)); }},
  };
  for (const auto& function : functions) {
    SCOPED_TRACE(function.name);
    std::vector<double> expected;
    for (double v : ToVector(x)) expected.push_back(function.exact(v));
    ExpectValues(Unary(function.name, x), expected, 1e-6);
    Tensor wide = MakeTensor(ElementType::kFloat64, {7}, ToVector(x));
    ExpectValues(Unary(function.name, wide), expected, 1e-14);
    Tensor half = MakeTensor(ElementType::kFloat16, {7}, ToVector(x));
    ExpectValues(Unary(function.name, half), expected, 2e-3);
  }
}

TEST(Unary, RoundsTiesToEven) {
  ExpectValues(Unary("round", F32({6}, {0.5, 1.5, 2.5, -0.5, -1.5, 2.6})), {0, 2, 2, -0.0, -2, 3});
}

TEST(Unary, SpecialValues) {
  ExpectValues(Unary("relu", F32({3}, {kNaN, -1, kInf})), {kNaN, 0, kInf});
  ExpectValues(Unary("sign", F32({3}, {kNaN, -3, 0})), {kNaN, -1, 0});
  ExpectValues(Unary("sqrt", F32({2}, {-1, 4})), {kNaN, 2});
  ExpectValues(Unary("reciprocal", F32({2}, {0, -kInf})), {kInf, 0});
  ExpectValues(Unary("log", F32({3}, {0, -1, kInf})), {-kInf, kNaN, kInf});
}

TEST(Unary, IntegersWrap) {
  Tensor bytes = MakeTensor(ElementType::kInt8, {3}, {-128, 5, -5});
  ExpectValues(Unary("abs", bytes), {-128, 5, 5});
  ExpectValues(Unary("neg", bytes), {-128, -5, 5});
  ExpectValues(Unary("sign", bytes), {-1, 1, -1});
  ExpectValues(Unary("bitwise_not", bytes), {127, -6, 4});
  ExpectValues(Unary("neg", MakeTensor(ElementType::kUint8, {2}, {1, 0})), {255, 0});
  ExpectValues(Unary("logical_not", MakeTensor(ElementType::kBool, {2}, {1, 0})), {0, 1});
}

TEST(Unary, Predicates) {
  Tensor x = F32({4}, {kNaN, kInf, -kInf, 1});
  TensorType type{ElementType::kBool, {4}};
  ExpectValues(RunOne("is_nan", {}, {&x}, type), {1, 0, 0, 0});
  ExpectValues(RunOne("is_inf", {{"detect_negative", true}, {"detect_positive", true}}, {&x}, type), {0, 1, 1, 0});
  ExpectValues(RunOne("is_inf", {{"detect_negative", true}, {"detect_positive", false}}, {&x}, type), {0, 0, 1, 0});
}

TEST(Activations, Formulas) {
  Tensor x = F32({3}, {-1, 0, 2});
  ExpectValues(Unary("leaky_relu", x, {{"alpha", 0.1}}), {-0.1, 0, 2}, 1e-7);
  ExpectValues(Unary("elu", x, {{"alpha", 2.0}}), {2 * std::expm1(-1), 0, 2}, 1e-7);
  ExpectValues(Unary("selu", x, {{"alpha", 2.0}, {"gamma", 3.0}}), {6 * std::expm1(-1), 0, 6}, 1e-7);
  ExpectValues(Unary("celu", x, {{"alpha", 2.0}}), {2 * std::expm1(-0.5), 0, 2}, 1e-7);
  ExpectValues(Unary("hard_sigmoid", x, {{"alpha", 0.5}, {"beta", 0.6}}), {0.1, 0.6, 1}, 1e-7);
  ExpectValues(Unary("thresholded_relu", x, {{"alpha", 1.0}}), {0, 0, 2});
  ExpectValues(Unary("shrink", x, {{"bias", 0.5}, {"lambd", 0.5}}), {-0.5, 0, 1.5});
  double phi = 0.5 * (1 + std::erf(2 / std::sqrt(2.0)));
  ExpectValues(Unary("gelu", x, {{"approximate", false}}), {-0.15865525393, 0, 2 * phi}, 1e-6);
  ExpectValues(Unary("gelu", x, {{"approximate", true}}), {-0.15880800939, 0, 1.95459769409}, 1e-6);
}

TEST(Binary, BroadcastsInEveryDirection) {
  Tensor column = F32({2, 1}, {10, 20}), row = F32({3}, {1, 2, 3}), scalar = F32({}, {5});
  ExpectValues(Binary("add", column, row, {2, 3}), {11, 12, 13, 21, 22, 23});
  ExpectValues(Binary("sub", row, column, {2, 3}), {-9, -8, -7, -19, -18, -17});
  ExpectValues(Binary("mul", scalar, row, {3}), {5, 10, 15});
  ExpectValues(Binary("div", column, scalar, {2, 1}), {2, 4});
  ExpectValues(Binary("add", scalar, scalar, {}), {10});
  Tensor empty = F32({0, 3}, {});
  EXPECT_EQ(Binary("add", empty, row, {0, 3}).size(), 0);
  Tensor cube = Iota(ElementType::kFloat32, {2, 1, 2}), plane = Iota(ElementType::kFloat32, {2, 1});
  ExpectValues(Binary("add", cube, plane, {2, 2, 2}), {0, 1, 1, 2, 2, 3, 3, 4});
}

TEST(Binary, IntegerRules) {
  Tensor a = MakeTensor(ElementType::kInt8, {6}, {-128, 7, -7, 100, 7, -7}),
         b = MakeTensor(ElementType::kInt8, {6}, {-1, 2, 2, 0, -2, -2});
  ExpectValues(Binary("div", a, b, {6}), {-128, 3, -3, 0, -3, 3});
  ExpectValues(Binary("mod", a, b, {6}, {{"fmod", false}}), {0, 1, 1, 0, -1, -1});
  ExpectValues(Binary("mod", a, b, {6}, {{"fmod", true}}), {0, 1, -1, 0, 1, -1});
  ExpectValues(Binary("mul", a, a, {6}), {0, 49, 49, 16, 49, 49});
  Tensor least(TensorType{ElementType::kInt64, {1}}), minus = I64({1}, {-1});
  least.SetInt(0, INT64_MIN);
  EXPECT_EQ(Binary("div", least, minus, {1}).GetInt(0), INT64_MIN);
  EXPECT_EQ(Binary("mod", least, minus, {1}, {{"fmod", true}}).GetInt(0), 0);
  Tensor large(TensorType{ElementType::kUint64, {1}}), two(TensorType{ElementType::kUint64, {1}});
  large.SetInt(0, -2);
  two.SetInt(0, 2);
  EXPECT_EQ(Binary("div", large, two, {1}).GetInt(0), INT64_MAX);
  EXPECT_EQ(Binary("max", large, two, {1}).GetInt(0), -2);
}

TEST(Binary, FloatModMinMax) {
  Tensor a = F32({4}, {5.5, -5.5, kNaN, 1}), b = F32({4}, {2, 2, 1, kNaN});
  ExpectValues(Binary("mod", a, b, {4}, {{"fmod", true}}), {1.5, -1.5, kNaN, kNaN});
  ExpectValues(Binary("mod", a, b, {4}, {{"fmod", false}}), {1.5, 0.5, kNaN, kNaN});
  ExpectValues(Binary("min", a, b, {4}), {2, -5.5, kNaN, kNaN});
  ExpectValues(Binary("max", a, b, {4}), {5.5, 2, kNaN, kNaN});
  ExpectValues(Binary("prelu", F32({3}, {-2, 0, 2}), F32({1}, {0.5}), {3}), {-1, 0, 2});
}

TEST(Binary, PowMixesTypes) {
  ExpectValues(Binary("pow", F32({3}, {2, -2, 9}), F32({3}, {3, 2, 0.5}), {3}), {8, 4, 3}, 1e-6);
  ExpectValues(Binary("pow", F32({2}, {2, -2}), I64({2}, {-1, 3}), {2}), {0.5, -8}, 1e-6);
  ExpectValues(Binary("pow", I64({5}, {2, -1, 3, -1, 0}), I64({5}, {62, -3, -1, 4, 0}), {5}),
               {4611686018427387904.0, -1, 0, 1, 1});
  ExpectValues(Binary("pow", I64({2}, {2, 9}), F32({2}, {3, 0.5}), {2}), {8, 3});
}

TEST(Binary, ComparisonsAndLogic) {
  Tensor a = F32({4}, {1, 2, 3, kNaN}), b = F32({4}, {2, 2, 2, kNaN});
  ExpectValues(Compare("equal", a, b, {4}), {0, 1, 0, 0});
  ExpectValues(Compare("less", a, b, {4}), {1, 0, 0, 0});
  ExpectValues(Compare("less_equal", a, b, {4}), {1, 1, 0, 0});
  ExpectValues(Compare("greater", a, b, {4}), {0, 0, 1, 0});
  ExpectValues(Compare("greater_equal", a, b, {4}), {0, 1, 1, 0});
  Tensor p = MakeTensor(ElementType::kBool, {4}, {0, 0, 1, 1}), q = MakeTensor(ElementType::kBool, {4}, {0, 1, 0, 1});
  ExpectValues(Compare("logical_and", p, q, {4}), {0, 0, 0, 1});
  ExpectValues(Compare("logical_or", p, q, {4}), {0, 1, 1, 1});
  ExpectValues(Compare("logical_xor", p, q, {4}), {0, 1, 1, 0});
  Tensor u = MakeTensor(ElementType::kUint8, {3}, {12, 200, 1}), v = MakeTensor(ElementType::kUint8, {3}, {10, 1, 9});
  ExpectValues(Binary("bitwise_and", u, v, {3}), {8, 0, 1});
  ExpectValues(Binary("bitwise_or", u, v, {3}), {14, 201, 9});
  ExpectValues(Binary("bitwise_xor", u, v, {3}), {6, 201, 8});
  ExpectValues(Binary("shift_left", u, v, {3}), {0, 144, 0});
  ExpectValues(Binary("shift_right", u, v, {3}), {0, 100, 0});
}

TEST(Binary, EqualOfStrings) {
  Tensor a(TensorType{ElementType::kString, {2}}), b(TensorType{ElementType::kString, {1}});
  (*a.strings)[0] = "x";
  (*b.strings)[0] = "x";
  ExpectValues(Compare("equal", a, b, {2}), {1, 0});
}

TEST(Where, BroadcastsThreeOperands) {
  Tensor condition = MakeTensor(ElementType::kBool, {2, 1}, {1, 0});
  Tensor a = I64({3}, {1, 2, 3}), b = I64({}, {9});
  ExpectValues(RunOne("where", {}, {&condition, &a, &b}, {ElementType::kInt64, {2, 3}}), {1, 2, 3, 9, 9, 9});
}

TEST(Cast, FloatToIntegerTruncatesAndSaturates) {
  Tensor x = F32({7}, {1.9, -1.9, 300, -300, kNaN, kInf, -kInf});
  auto cast = [&](ElementType to) { return RunOne("cast", {}, {&x}, {to, {7}}); };
  ExpectValues(cast(ElementType::kInt8), {1, -1, 127, -128, 0, 127, -128});
  ExpectValues(cast(ElementType::kUint8), {1, 0, 255, 0, 0, 255, 0});
  ExpectValues(cast(ElementType::kInt4), {1, -1, 7, -8, 0, 7, -8});
  ExpectValues(cast(ElementType::kUint2), {1, 0, 3, 0, 0, 3, 0});
  ExpectValues(cast(ElementType::kInt32), {1, -1, 300, -300, 0, 2147483647.0, -2147483648.0});
  ExpectValues(cast(ElementType::kBool), {1, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(cast(ElementType::kInt64).GetInt(5), INT64_MAX);
  EXPECT_EQ(cast(ElementType::kUint64).GetInt(5), -1);
}

TEST(Cast, IntegersWrapAndRoundOnce) {
  Tensor x = I64({3}, {-1, 300, 128});
  ExpectValues(RunOne("cast", {}, {&x}, {ElementType::kUint8, {3}}), {255, 44, 128});
  ExpectValues(RunOne("cast", {}, {&x}, {ElementType::kInt8, {3}}), {-1, 44, -128});
  Tensor large(TensorType{ElementType::kInt64, {2}});
  large.SetInt(0, (int64_t{1} << 60) + (int64_t{1} << 36) + 1);  // just above a tie of float32
  large.SetInt(1, (int64_t{1} << 60) + (int64_t{1} << 36));
  Tensor floats = RunOne("cast", {}, {&large}, {ElementType::kFloat32, {2}});
  EXPECT_EQ(floats.GetFloat(0), std::ldexp(1.0, 60) + std::ldexp(1.0, 37));
  EXPECT_EQ(floats.GetFloat(1), std::ldexp(1.0, 60));
}

TEST(Cast, Float8SaturatesOnRequest) {
  Tensor x = F32({2}, {1e6, 0.3});
  Tensor saturated = RunOne("cast", {{"saturate", true}}, {&x}, {ElementType::kFloat8E4M3FN, {2}});
  ExpectValues(saturated, {448, 0.3125});
  Tensor plain = RunOne("cast", {{"saturate", false}}, {&x}, {ElementType::kFloat8E4M3FN, {2}});
  ExpectValues(plain, {kNaN, 0.3125});
}

TEST(Elementwise, MistakesAreNamed) {
  Tensor a = F32({2, 3}, std::vector<double>(6)), b = F32({4}, std::vector<double>(4)),
         i = I64({4}, std::vector<double>(4));
  EXPECT_EQ(RunFailing("add", {}, {&a, &b}, {ElementType::kFloat32, {2, 3}}),
            "add: operand shapes 2x3 and 4 do not broadcast");
  EXPECT_EQ(RunFailing("add", {}, {&a}, {ElementType::kFloat32, {2, 3}}), "add: operand 1 (rhs) is missing");
  EXPECT_EQ(RunFailing("add", {}, {&b, &i}, {ElementType::kFloat32, {4}}),
            "add: operand 1 (rhs) has element type int64, needs float32");
  EXPECT_EQ(RunFailing("leaky_relu", {}, {&a}, a.type()), "leaky_relu: attribute alpha is missing");
  EXPECT_EQ(RunFailing("exp", {}, {&i}, i.type()), "exp: no reference for element type int64");
  EXPECT_EQ(RunFailing("group", {}, {}, i.type()), "group: the reference does not know this operation");
  EXPECT_EQ(RunFailing("exp", {}, {&a}, {ElementType::kFloat32, {int64_t{1} << 40}}).substr(0, 14), "exp: a result ");
}

}  // namespace
}  // namespace aot::reference
