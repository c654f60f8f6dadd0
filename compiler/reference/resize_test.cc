// Resize against the expected values of ONNX's node tests, and quantisation.
#include <limits>

#include "compiler/reference/resize_taps.h"
#include "compiler/reference/testing.h"

namespace aot::reference {
namespace {

using Doubles = std::vector<double>;
constexpr ElementType kF32 = ElementType::kFloat32;

struct Options {
  std::string mode = "nearest", coordinates = "half_pixel", nearest = "round_prefer_floor";
  Doubles scales, roi;
  double cubic_coeff_a = -0.75, extrapolation = 0;
  bool exclude_outside = false, antialias = false;
};
Tensor Resize(const Tensor& x, Shape shape, const Options& o) {
  return RunOne("resize",
                {{"mode", o.mode},
                 {"coordinates", o.coordinates},
                 {"nearest", o.nearest},
                 {"scales", o.scales},
                 {"roi", o.roi},
                 {"cubic_coeff_a", o.cubic_coeff_a},
                 {"extrapolation_value", o.extrapolation},
                 {"exclude_outside", o.exclude_outside},
                 {"antialias", o.antialias}},
                {&x}, {x.element(), std::move(shape)});
}
Tensor Square(int64_t size) {
  Tensor x = Iota(kF32, {1, 1, size, size});
  for (int64_t i = 0; i < x.size(); ++i) x.SetFloat(i, static_cast<double>(i + 1));
  return x;
}

TEST(Resize, NearestUpsample) {
  Options o;
  o.scales = {1, 1, 2, 3};
  ExpectValues(Resize(Square(2), {1, 1, 4, 6}, o),
               {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4});
}

TEST(Resize, NearestRoundingModes) {
  Tensor x = F32({4}, {1, 2, 3, 4});
  Options o;
  o.coordinates = "asymmetric";
  o.scales = {2};
  o.nearest = "floor";
  ExpectValues(Resize(x, {8}, o), {1, 1, 2, 2, 3, 3, 4, 4});
  o.nearest = "ceil";
  ExpectValues(Resize(x, {8}, o), {1, 2, 2, 3, 3, 4, 4, 4});
  o.nearest = "round_prefer_floor";
  ExpectValues(Resize(x, {8}, o), {1, 1, 2, 2, 3, 3, 4, 4});
  o.nearest = "round_prefer_ceil";
  ExpectValues(Resize(x, {8}, o), {1, 2, 2, 3, 3, 4, 4, 4});
}

// A float scale must not move positions that are integers.
TEST(Resize, FloorOfExactPositions) {
  ResizeAxis axis;
  axis.coordinates = ResizeCoordinates::kAsymmetric;
  axis.nearest = ResizeNearest::kFloor;
  for (int64_t input = 1; input < 40; ++input) {
    for (int64_t output = 1; output < 80; ++output) {
      axis.input = input;
      axis.output = output;
      axis.scale = static_cast<float>(output) / static_cast<float>(input);
      auto taps = ResizeTaps(axis);
      for (int64_t o = 0; o < output; ++o) ASSERT_EQ(taps[static_cast<size_t>(o)][0].index, o * input / output);
    }
  }
}

TEST(Resize, LinearUpsample) {
  Options o;
  o.mode = "linear";
  o.scales = {1, 1, 2, 2};
  ExpectValues(Resize(Square(2), {1, 1, 4, 4}, o),
               {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4}, 1e-6);
  o.coordinates = "align_corners";
  ExpectValues(
      Resize(Square(2), {1, 1, 4, 4}, o),
      {1, 4 / 3.0, 5 / 3.0, 2, 5 / 3.0, 2, 7 / 3.0, 8 / 3.0, 7 / 3.0, 8 / 3.0, 3, 10 / 3.0, 3, 10 / 3.0, 11 / 3.0, 4},
      1e-6);
}

TEST(Resize, LinearDownsample) {
  Tensor x = F32({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  Options o;
  o.mode = "linear";
  o.scales = {1, 1, 0.6, 0.6};
  ExpectValues(Resize(x, {1, 1, 1, 2}, o), {2.6666665, 4.3333331}, 1e-6);
  o.coordinates = "align_corners";
  ExpectValues(Resize(x, {1, 1, 1, 2}, o), {1, 3.142857}, 1e-6);
  o.coordinates = "half_pixel_symmetric";
  Tensor y = F32({1, 1, 1, 4}, {1, 2, 3, 4});
  o.scales = {1, 1, 1, 0.6};
  ExpectValues(Resize(y, {1, 1, 1, 2}, o), {1.6666667, 3.3333333}, 1e-6);
}

TEST(Resize, CubicUpsample) {
  Options o;
  o.mode = "cubic";
  o.scales = {1, 1, 2, 2};
  Tensor y = Resize(Square(4), {1, 1, 8, 8}, o);
  const double kFirstRow[] = {0.47265625, 0.76953125, 1.24609375, 1.875, 2.28125, 2.91015625, 3.38671875, 3.68359375};
  for (int i = 0; i < 8; ++i) EXPECT_NEAR(y.GetFloat(i), kFirstRow[i], 1e-6);
  o.exclude_outside = true;
  o.cubic_coeff_a = -0.5;
  y = Resize(Square(4), {1, 1, 8, 8}, o);
  const double kExcluded[] = {0.55882353, 0.81494204, 1.35698249, 1.89705882,
                              2.39705882, 2.93713516, 3.47917561, 3.73529412};
  for (int i = 0; i < 8; ++i) EXPECT_NEAR(y.GetFloat(i), kExcluded[i], 1e-6);
}

TEST(Resize, TfCropAndResizeExtrapolates) {
  Options o;
  o.mode = "linear";
  o.coordinates = "tf_crop_and_resize";
  o.scales = {1, 1, 0.75, 0.75};
  o.roi = {0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7};
  o.extrapolation = 10;
  ExpectValues(Resize(Square(4), {1, 1, 3, 3}, o), {7.6000004, 10, 10, 12.400001, 10, 10, 10, 10, 10}, 1e-6);
}

TEST(Resize, Antialias) {
  Options o;
  o.scales = {1, 1, 0.6, 0.6};
  o.antialias = true;
  o.mode = "linear";
  ExpectValues(Resize(Square(4), {1, 1, 2, 2}, o), {2.875, 4.5, 9.375, 11.0}, 1e-6);
  o.mode = "cubic";
  ExpectValues(Resize(Square(4), {1, 1, 2, 2}, o), {2.5180721, 4.2858863, 9.589329, 11.357142}, 1e-6);
}

TEST(Resize, IntegersAndMistakes) {
  Tensor x = MakeTensor(ElementType::kUint8, {2}, {10, 21});
  Options o;
  o.mode = "linear";
  o.scales = {2};
  ExpectValues(Resize(x, {4}, o), {10, 12, 18, 21});
  EXPECT_EQ(RunFailing("resize",
                       {{"mode", std::string("linear")},
                        {"coordinates", std::string("pixel")},
                        {"nearest", std::string("floor")},
                        {"scales", Doubles{2}},
                        {"roi", Doubles{}},
                        {"cubic_coeff_a", -0.75},
                        {"extrapolation_value", 0.0}},
                       {&x}, {ElementType::kUint8, {4}}),
            "resize: unknown coordinates pixel");
}

// quantizelinear and dequantizelinear of ONNX's node tests.
TEST(Quantise, PerTensorAndPerAxis) {
  Tensor x = F32({6}, {0, 2, 3, 1000, -254, -1000}), scale = F32({}, {2}),
         zero = MakeTensor(ElementType::kUint8, {}, {128});
  Tensor q = RunOne("quantize", {}, {&x, &scale, &zero}, {ElementType::kUint8, {6}});
  ExpectValues(q, {128, 129, 130, 255, 1, 0});
  ExpectValues(RunOne("dequantize", {}, {&q, &scale, &zero}, {kF32, {6}}), {0, 2, 4, 254, -254, -256});
  Tensor y = F32({2, 2}, {-162, 10, -100, 232}), scales = F32({2, 1}, {2, 4}),
         zeros = MakeTensor(ElementType::kInt8, {2, 1}, {4, -3});
  ExpectValues(RunOne("quantize", {}, {&y, &scales, &zeros}, {ElementType::kInt8, {2, 2}}), {-77, 9, -28, 55});
}

TEST(Quantise, TiesNanAndOtherTypes) {
  double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  Tensor x = F32({6}, {0.5, 1.5, 2.5, nan, infinity, -infinity}), one = F32({}, {1});
  ExpectValues(RunOne("quantize", {}, {&x, &one, nullptr}, {ElementType::kInt8, {6}}), {0, 2, 2, -128, 127, -128});
  ExpectValues(RunOne("quantize", {}, {&x, &one, nullptr}, {ElementType::kInt4, {6}}), {0, 2, 2, -8, 7, -8});
  ExpectValues(RunOne("quantize", {}, {&x, &one, nullptr}, {ElementType::kFloat8E4M3FN, {6}}),
               {0.5, 1.5, 2.5, nan, 448, -448});
  Tensor sums = MakeTensor(ElementType::kInt32, {2}, {-2147483648.0, 7}),
         zero = MakeTensor(ElementType::kInt32, {}, {0});
  ExpectValues(RunOne("dequantize", {}, {&sums, &one, &zero}, {kF32, {2}}), {-2147483648.0, 7});
  EXPECT_EQ(RunFailing("quantize", {}, {&x, &one, &zero}, {ElementType::kInt8, {6}}),
            "quantize: operand 2 (zero_point) has element type int32, needs int8");
}

}  // namespace
}  // namespace aot::reference
