// The functions on doubles against the C library's long doubles (the x87 format, 11 bits more), with fused and with
// unfused multiply-add, and the reduction of large arguments for both precisions.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>

#include "compiler/math/functions.h"
#include "compiler/math/scalar_backend.h"
#include "gtest/gtest.h"

namespace aot::math {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct UnfusedBackend : DoubleScalarBackend {
  F MulAdd(F a, F b, F c) {
    volatile double product = a * b;
    return product + c;
  }
};

double UlpError(double actual, long double exact) {
  if (std::isnan(exact)) return std::isnan(actual) ? 0 : 1e30;
  const double rounded = static_cast<double>(exact);
  if (std::isinf(rounded) || std::isinf(actual)) return actual == rounded ? 0 : 1e30;
  const int exponent = exact == 0 ? -1022 : std::max(std::ilogb(exact), -1022);
  return static_cast<double>(std::fabs(actual - exact) / std::ldexp(1.0L, exponent - 52));
}

double FromBits(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Random patterns, numbers near 1 and a grid.
template <class Function, class Exact>
void Check(const char* name, Function function, Exact exact, double low, double high, double ulps) {
  double worst = 0, where = 0;
  auto visit = [&](double x) {
    if (!(x >= low && x <= high)) return;
    const double error = UlpError(function(x), exact(static_cast<long double>(x)));
    if (error > worst) worst = error, where = x;
  };
  std::mt19937_64 random(1);
  for (int i = 0; i < 60000; ++i) {
    visit(FromBits(random()));
    visit(std::ldexp(static_cast<double>(random() >> 11) * 0x1p-52 - 1, static_cast<int>(random() % 14) - 3));
  }
  for (int i = -30000; i <= 30000; ++i) visit(i * 1.0009765e-3);
  std::printf("%-10s worst %.2f ulp at %.17g\n", name, worst, where);
  EXPECT_LE(worst, ulps) << name << " at " << where << ": " << function(where);
}

template <class B>
class DoubleFunctions : public ::testing::Test {};
using Backends = ::testing::Types<DoubleScalarBackend, UnfusedBackend>;
TYPED_TEST_SUITE(DoubleFunctions, Backends);

#define CHECK_UNARY(Name, exact, low, high, ulps)                                                                 \
  Check(                                                                                                          \
      #Name, [&](double x) { return Name(b, x); }, [](long double x) -> long double { return exact; }, low, high, \
      ulps)

TYPED_TEST(DoubleFunctions, AreWithinFewUlps) {
  TypeParam b;
  CHECK_UNARY(Exp, std::exp(x), -kInf, kInf, 1);
  CHECK_UNARY(Expm1, std::expm1(x), -kInf, kInf, 2);
  CHECK_UNARY(Log, std::log(x), 0, kInf, 1);
  CHECK_UNARY(Log1p, std::log1p(x), -1, kInf, 2);
  CHECK_UNARY(Sin, std::sin(x), -1e9, 1e9, 2);
  CHECK_UNARY(Cos, std::cos(x), -1e9, 1e9, 2);
  CHECK_UNARY(Tan, std::tan(x), -1e9, 1e9, 4);
  CHECK_UNARY(Asin, std::asin(x), -1, 1, 3);
  CHECK_UNARY(Acos, std::acos(x), -1, 1, 3);
  CHECK_UNARY(Atan, std::atan(x), -kInf, kInf, 2);
  CHECK_UNARY(Sinh, std::sinh(x), -kInf, kInf, 3);
  CHECK_UNARY(Cosh, std::cosh(x), -kInf, kInf, 2);
  CHECK_UNARY(Tanh, std::tanh(x), -kInf, kInf, 3);
  CHECK_UNARY(Asinh, std::asinh(x), -kInf, kInf, 3);
  CHECK_UNARY(Acosh, std::acosh(x), 1, kInf, 3);
  CHECK_UNARY(Atanh, std::atanh(x), -1, 1, 3);
  CHECK_UNARY(Erf, std::erf(x), -kInf, kInf, 3);
  CHECK_UNARY(Sigmoid, 1 / (1 + std::exp(-x)), -kInf, kInf, 3);
  CHECK_UNARY(Softplus, x > 100 ? x : std::log1p(std::exp(x)), -kInf, kInf, 3);
}

// The C library's double functions reduce exactly; its long double ones don't know the doubles' neighbours better.
TYPED_TEST(DoubleFunctions, LargeArgumentsOfSine) {
  TypeParam b;
  CHECK_UNARY(Sin, std::sin(static_cast<double>(x)), -kInf, kInf, 2);
  CHECK_UNARY(Cos, std::cos(static_cast<double>(x)), -kInf, kInf, 2);
  // The double that is nearest to a multiple of pi/2 (Muller, "Elementary Functions", table 11.1).
  const double nearest = std::ldexp(6381956970095103.0, 797);
  EXPECT_NEAR(Cos(b, nearest) / -4.6871659242546277e-19, 1, 1e-15);
}

TYPED_TEST(DoubleFunctions, Pow) {
  TypeParam b;
  double worst = 0;
  std::mt19937_64 random(2);
  for (int i = 0; i < 200000; ++i) {
    double x = FromBits(random() & INT64_MAX);
    if (i % 2) x = std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 3) - 1);
    const double log = std::log(x);
    if (!std::isfinite(log) || log == 0) continue;
    const double y = (static_cast<double>(random() >> 11) * 0x1p-52 - 1) * 709 / log;
    const long double exact = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    if (exact < 2.3e-308L || exact > 1.7e308L) continue;
    worst = std::max(worst, UlpError(Pow(b, x, y), exact));
  }
  std::printf("pow worst %.2f ulp\n", worst);
  EXPECT_LE(worst, 1.5);
  for (int x = 2; x < 1000; ++x) {
    double exact = x;
    for (int y = 1; exact < 9e15; ++y, exact *= x)
      EXPECT_EQ(Pow(b, static_cast<double>(x), static_cast<double>(y)), exact) << x << " ^ " << y;
  }
  const double specials[] = {0.0,
                             -0.0,
                             1.0,
                             -1.0,
                             2.0,
                             -2.0,
                             3.0,
                             -3.0,
                             0.5,
                             -1.5,
                             5e-324,
                             1e308,
                             -1e308,
                             9007199254740993.0,
                             9007199254740991.0,
                             kInf,
                             -kInf,
                             std::nan("")};
  for (double x : specials) {
    for (double y : specials) {
      const double actual = Pow(b, x, y), exact = std::pow(x, y);
      EXPECT_LE(UlpError(actual, exact), 1) << x << " ^ " << y << ": " << actual;
      if (!std::isnan(exact)) EXPECT_EQ(std::signbit(actual), std::signbit(exact)) << x << " ^ " << y;
    }
  }
}

TYPED_TEST(DoubleFunctions, SpecialValues) {
  TypeParam b;
  for (double x : {0.0, -0.0, kInf, -kInf, std::nan(""), 1.0, -1.0}) {
    auto same = [&](const char* name, double actual, double exact) {
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(actual)) << name << " of " << x << " is " << actual;
      } else if (exact == 0 || std::isinf(exact)) {
        EXPECT_EQ(actual, exact) << name << " of " << x;
        EXPECT_EQ(std::signbit(actual), std::signbit(exact)) << name << " of " << x;
      }
    };
    same("exp", Exp(b, x), std::exp(x));
    same("expm1", Expm1(b, x), std::expm1(x));
    same("log", Log(b, x), std::log(x));
    same("log1p", Log1p(b, x), std::log1p(x));
    same("sin", Sin(b, x), std::sin(x));
    same("cos", Cos(b, x), std::cos(x));
    same("tan", Tan(b, x), std::tan(x));
    same("asin", Asin(b, x), std::asin(x));
    same("acos", Acos(b, x), std::acos(x));
    same("atan", Atan(b, x), std::atan(x));
    same("sinh", Sinh(b, x), std::sinh(x));
    same("cosh", Cosh(b, x), std::cosh(x));
    same("tanh", Tanh(b, x), std::tanh(x));
    same("asinh", Asinh(b, x), std::asinh(x));
    same("acosh", Acosh(b, x), std::acosh(x));
    same("atanh", Atanh(b, x), std::atanh(x));
    same("erf", Erf(b, x), std::erf(x));
  }
}

TEST(SingleFunctions, LargeArgumentsOfSine) {
  ScalarBackend b;
  std::mt19937 random(3);
  for (int i = 0; i < 200000; ++i) {
    float x;
    const uint32_t bits = random() % 0x7F800000u;
    std::memcpy(&x, &bits, sizeof x);
    ASSERT_NEAR(Sin(b, x), std::sin(static_cast<double>(x)), 1e-7) << x;
    ASSERT_NEAR(Cos(b, x), std::cos(static_cast<double>(x)), 1e-7) << x;
  }
}

}  // namespace
}  // namespace aot::math
