// Every function against the double-precision C library: a sweep over all magnitudes with both signs, then special
// values. Runs with fused and with unfused multiply-add, since targets differ in that.
#include "compiler/math/functions.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "compiler/math/scalar_backend.h"
#include "gtest/gtest.h"

namespace aot::math {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// A target without fused multiply-add (x86-64-v2, WebAssembly).
struct UnfusedBackend : ScalarBackend {
  F MulAdd(F a, F b, F c) {
    volatile float product = a * b;
    return product + c;
  }
};

float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Distance of two floats in units in the last place of the exact value, which may be subnormal.
double UlpError(float actual, double exact) {
  if (std::isnan(exact)) return std::isnan(actual) ? 0 : 1e30;
  float rounded = static_cast<float>(exact);
  if (std::isinf(rounded) || std::isinf(actual)) {
    if (actual == rounded) return 0;
    // Overflow decided one rounding apart is an error of one ulp.
    return std::fabs(exact) > 3.4028e38 && std::fabs(actual) > 3.4028e38f && (actual > 0) == (exact > 0) ? 1 : 1e30;
  }
  int exponent = rounded == 0 ? -126 : std::max(std::ilogb(rounded), -126);
  return std::fabs(actual - exact) / std::ldexp(1.0, exponent - 23);
}

struct Sweep {
  float low, high;      // arguments swept
  double ulp;           // accepted error in ulp ...
  double absolute = 0;  // ... or absolute
};

template <class Function, class Exact>
void Check(const char* name, Function function, Exact exact, Sweep sweep) {
  double worst = 0;
  float where = 0;
  auto visit = [&](float x) {
    if (!(x >= sweep.low && x <= sweep.high)) return;
    double expected = exact(static_cast<double>(x));
    float actual = function(x);
    double error = UlpError(actual, expected);
    if (error > sweep.ulp && std::fabs(actual - expected) <= sweep.absolute) return;
    if (error > worst) worst = error, where = x;
  };
  // Every exponent, with a stride coprime to powers of two.
  for (uint32_t bits = 0; bits < 0x7F800000u; bits += 30011) {
    visit(FromBits(bits));
    visit(-FromBits(bits));
  }
  for (int i = -100000; i <= 100000; ++i) visit(static_cast<float>(i) * 1.0009765e-3f);
  std::printf("%-10s worst %.2f ulp at %.9g\n", name, worst, where);
  EXPECT_LE(worst, sweep.ulp) << name << " at " << where << ": " << function(where) << " instead of " << exact(where);
}

#define CHECK_UNARY(Name, exact, ...)                                                      \
  {                                                                                        \
    ScalarBackend fused;                                                                   \
    UnfusedBackend unfused;                                                                \
    Check(                                                                                 \
        #Name, [&](float x) { return Name(fused, x); }, exact, Sweep{__VA_ARGS__});        \
    Check(                                                                                 \
        #Name " -", [&](float x) { return Name(unfused, x); }, exact, Sweep{__VA_ARGS__}); \
  }

TEST(Functions, ExponentialsAndLogarithms) {
  CHECK_UNARY(
      Exp, [](double x) { return std::exp(x); }, -kInf, kInf, 1.1);
  CHECK_UNARY(
      ExpOfNegative, [](double x) { return std::exp(x); }, -kInf, 0, 1.5, 0x1p-125);
  CHECK_UNARY(
      Expm1, [](double x) { return std::expm1(x); }, -kInf, kInf, 2.5);
  CHECK_UNARY(
      Log, [](double x) { return std::log(x); }, 0, kInf, 1.1);
  CHECK_UNARY(
      Log1p, [](double x) { return std::log1p(x); }, -1, kInf, 2.5);
  CHECK_UNARY(
      Sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -kInf, kInf, 2.5, 0x1p-126);
  CHECK_UNARY(
      Softplus, [](double x) { return x > 50 ? x : std::log1p(std::exp(x)); }, -kInf, kInf, 3);
}

TEST(Functions, Hyperbolics) {
  CHECK_UNARY(
      Tanh, [](double x) { return std::tanh(x); }, -kInf, kInf, 5);
  CHECK_UNARY(
      Erf, [](double x) { return std::erf(x); }, -kInf, kInf, 5);
  CHECK_UNARY(
      Sinh, [](double x) { return std::sinh(x); }, -kInf, kInf, 3);
  CHECK_UNARY(
      Cosh, [](double x) { return std::cosh(x); }, -kInf, kInf, 3);
  CHECK_UNARY(
      Asinh, [](double x) { return std::asinh(x); }, -kInf, kInf, 4);
  CHECK_UNARY(
      Acosh, [](double x) { return std::acosh(x); }, 1, kInf, 4);
  CHECK_UNARY(
      Atanh, [](double x) { return std::atanh(x); }, -1, 1, 4);
}

TEST(Functions, Trigonometry) {
  CHECK_UNARY(
      Sin, [](double x) { return std::sin(x); }, -kInf, kInf, 2, 1e-7);
  CHECK_UNARY(
      Cos, [](double x) { return std::cos(x); }, -kInf, kInf, 2, 1e-7);
  CHECK_UNARY(
      Tan, [](double x) { return std::tan(x); }, -kInf, kInf, 4, 1e-7);
  CHECK_UNARY(
      Asin, [](double x) { return std::asin(x); }, -1, 1, 3);
  CHECK_UNARY(
      Acos, [](double x) { return std::acos(x); }, -1, 1, 3);
  CHECK_UNARY(
      Atan, [](double x) { return std::atan(x); }, -kInf, kInf, 3);
}

TEST(Functions, Activations) {
  CHECK_UNARY(
      Gelu, [](double x) { return x * std::erfc(-x * 0.70710678118654752) / 2; }, -1e30f, 1e30f, 4, 1.1e-6);
  CHECK_UNARY(
      Mish, [](double x) { return x * std::tanh(std::log1p(std::exp(std::min(x, 80.0)))); }, -80, 1e30f, 6, 1e-6);
  CHECK_UNARY(
      Softsign, [](double x) { return x / (1 + std::fabs(x)); }, -1e30f, 1e30f, 2);
  CHECK_UNARY(
      HardSwish, [](double x) { return x * std::min(1.0, std::max(0.0, x / 6 + 0.5)); }, -1e30f, 1e30f, 4, 4e-7);
}

// The values of `function` at +-0, +-infinity and NaN; compares signs of zeros too.
template <class Function, class Exact>
void CheckSpecials(const char* name, Function function, Exact exact) {
  for (float x : {0.0f, -0.0f, kInf, -kInf, kNaN, 1.0f, -1.0f, 2.0f, -2.0f}) {
    float actual = function(x), expected = static_cast<float>(exact(static_cast<double>(x)));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(actual)) << name << " of " << x << " is " << actual;
    } else if (std::isinf(expected) || expected == 0) {
      EXPECT_EQ(actual, expected) << name << " of " << x;
      EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << name << " of " << x;
    }
  }
}
#define CHECK_SPECIALS(Name, function)                                                          \
  {                                                                                             \
    ScalarBackend b;                                                                            \
    CheckSpecials(                                                                              \
        #Name, [&](float x) { return Name(b, x); }, [](double x) { return std::function(x); }); \
  }

TEST(Functions, SpecialValues) {
  CHECK_SPECIALS(Exp, exp);
  CHECK_SPECIALS(Expm1, expm1);
  CHECK_SPECIALS(Log, log);
  CHECK_SPECIALS(Log1p, log1p);
  CHECK_SPECIALS(Tanh, tanh);
  CHECK_SPECIALS(Erf, erf);
  CHECK_SPECIALS(Sinh, sinh);
  CHECK_SPECIALS(Cosh, cosh);
  CHECK_SPECIALS(Asinh, asinh);
  CHECK_SPECIALS(Acosh, acosh);
  CHECK_SPECIALS(Atanh, atanh);
  CHECK_SPECIALS(Sin, sin);
  CHECK_SPECIALS(Cos, cos);
  CHECK_SPECIALS(Tan, tan);
  CHECK_SPECIALS(Asin, asin);
  CHECK_SPECIALS(Acos, acos);
  CHECK_SPECIALS(Atan, atan);
  ScalarBackend b;
  EXPECT_EQ(Sigmoid(b, kInf), 1.0f);
  EXPECT_EQ(Sigmoid(b, -kInf), 0.0f);
  EXPECT_TRUE(std::isnan(Sigmoid(b, kNaN)));
  EXPECT_EQ(Softplus(b, -kInf), 0.0f);
  EXPECT_EQ(Softplus(b, kInf), kInf);
  EXPECT_TRUE(std::isnan(Relu(b, kNaN)));
  EXPECT_TRUE(std::isnan(HardSigmoid(b, kNaN, 0.2f, 0.5f)));
}

TEST(Functions, Pow) {
  ScalarBackend fused;
  UnfusedBackend unfused;
  const float specials[] = {0.0f,   -0.0f,       1.0f,        -1.0f,        2.0f,   -2.0f,   3.0f,   -3.0f,
                            0.5f,   -0.5f,       1.5f,        -1.5f,        1e-45f, -1e-45f, 1e-40f, 3e38f,
                            -3e38f, 16777215.0f, 16777217.0f, -16777215.0f, kInf,   -kInf,   kNaN};
  for (float x : specials) {
    for (float y : specials) {
      double exact = std::pow(static_cast<double>(x), static_cast<double>(y));
      for (float actual : {Pow(fused, x, y), Pow(unfused, x, y)}) {
        EXPECT_LE(UlpError(actual, exact), 16) << x << " ^ " << y << ": " << actual << " instead of " << exact;
        if (!std::isnan(exact)) EXPECT_EQ(std::signbit(actual), std::signbit(exact)) << x << " ^ " << y;
      }
    }
  }
  double worst = 0;
  uint32_t random = 1;
  auto next = [&random] { return random = random * 1664525u + 1013904223u; };
  for (int i = 0; i < 1000000; ++i) {
    float x = FromBits(next() & 0x7FFFFFFF);
    if (i % 2) x = FromBits(0x3F000000u + (next() >> 8));  // near 1, where the exponent may be large
    float log = std::log(x);
    if (!std::isfinite(log) || log == 0) continue;
    float y = (static_cast<float>(next() >> 8) / 8388608.0f - 1.0f) * 88.0f / log;
    double exact = std::pow(static_cast<double>(x), static_cast<double>(y));
    if (exact < 1.2e-38 || exact > 3.4e38) continue;
    worst = std::max({worst, std::fabs(Pow(fused, x, y) / exact - 1), std::fabs(Pow(unfused, x, y) / exact - 1)});
  }
  std::printf("pow worst relative error %.3g\n", worst);
  EXPECT_LE(worst, 2e-6);
}

TEST(Functions, ElusOfSmallArgumentsDoNotCancel) {
  ScalarBackend b;
  EXPECT_NEAR(Elu(b, -1e-6f, 1.0f) / std::expm1(-1e-6), 1.0, 2e-7);
  EXPECT_FLOAT_EQ(Selu(b, -1.0f, 1.67326f, 1.0507f), 1.0507f * 1.67326f * std::expm1(-1.0f));
  EXPECT_FLOAT_EQ(Celu(b, -1.0f, 2.0f), 2.0f * std::expm1(-0.5f));
  EXPECT_EQ(LeakyRelu(b, -2.0f, 0.25f), -0.5f);
  EXPECT_EQ(ThresholdedRelu(b, 1.0f, 1.0f), 0.0f);
  EXPECT_EQ(Shrink(b, -2.0f, 0.5f, 1.5f), -1.5f);
  EXPECT_EQ(Shrink(b, 2.0f, 0.5f, 1.5f), 1.5f);
  EXPECT_EQ(Shrink(b, 1.0f, 0.5f, 1.5f), 0.0f);
}

}  // namespace
}  // namespace aot::math
