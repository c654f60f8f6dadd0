#include "compiler/reference/tensor.h"

#include <limits>

#include "compiler/reference/float_formats.h"
#include "compiler/reference/testing.h"

namespace aot::reference {
namespace {

TEST(Tensor, CountsElements) {
  EXPECT_EQ(ElementCount({}), 1);
  EXPECT_EQ(ElementCount({2, 3}), 6);
  EXPECT_EQ(ElementCount({2, 0, 3}), 0);
  EXPECT_EQ(ElementCount({2, -1}), std::nullopt);
  EXPECT_EQ(ElementCount({int64_t{1} << 40, int64_t{1} << 40}), std::nullopt);
  EXPECT_EQ(ElementCount({0, int64_t{1} << 40, int64_t{1} << 40}), std::nullopt);
}

TEST(Tensor, ShowsShapesAndNames) {
  EXPECT_EQ(ToString(Shape{}), "scalar");
  EXPECT_EQ(ToString(Shape{1, 3, 48, 320}), "1x3x48x320");
  EXPECT_EQ(Name(ElementType::kFloat32), "float32");
  EXPECT_EQ(Name(ElementType::kInt2), "int2");
  EXPECT_EQ(Name(static_cast<ElementType>(200)), "undefined");
}

TEST(Tensor, IntegersWrapToTheirWidth) {
  EXPECT_EQ(MakeTensor(ElementType::kInt8, {1}, {200}).GetInt(0), -56);
  EXPECT_EQ(MakeTensor(ElementType::kUint8, {1}, {-1}).GetInt(0), 255);
  EXPECT_EQ(MakeTensor(ElementType::kInt4, {1}, {9}).GetInt(0), -7);
  EXPECT_EQ(MakeTensor(ElementType::kUint4, {1}, {-1}).GetInt(0), 15);
  EXPECT_EQ(MakeTensor(ElementType::kInt2, {1}, {2}).GetInt(0), -2);
  EXPECT_EQ(MakeTensor(ElementType::kBool, {1}, {7}).GetInt(0), 1);
  Tensor large(TensorType{ElementType::kUint64, {1}});
  large.SetInt(0, -1);
  EXPECT_EQ(large.GetFloat(0), 18446744073709551616.0);
}

TEST(Tensor, ReadsUnalignedForeignBytes) {
  auto storage = std::make_shared<std::vector<uint8_t>>(9);
  float value = 1.5f;
  std::memcpy(storage->data() + 1, &value, 4);
  Tensor tensor({ElementType::kFloat32, {2}}, storage, absl::MakeConstSpan(storage->data() + 1, 8));
  EXPECT_EQ(tensor.GetFloat(0), 1.5);
  EXPECT_EQ(tensor.GetFloat(1), 0);
}

// The patterns of the largest, smallest and special values, from the tables of the ONNX and OCP specifications.
TEST(FloatFormats, KnownPatterns) {
  EXPECT_EQ(EncodeFloat(ElementType::kFloat16, 1, Overflow::kPropagate), 0x3C00u);
  EXPECT_EQ(EncodeFloat(ElementType::kFloat16, 65504, Overflow::kPropagate), 0x7BFFu);
  EXPECT_EQ(EncodeFloat(ElementType::kFloat16, 65520, Overflow::kPropagate), 0x7C00u);
  EXPECT_EQ(EncodeFloat(ElementType::kFloat16, 65519, Overflow::kPropagate), 0x7BFFu);
  EXPECT_EQ(EncodeFloat(ElementType::kFloat16, 5.960464477539063e-8, Overflow::kPropagate), 1u);
  EXPECT_EQ(EncodeFloat(ElementType::kFloat16, -0.0, Overflow::kPropagate), 0x8000u);
  EXPECT_EQ(EncodeFloat(ElementType::kBfloat16, 3.0e38, Overflow::kPropagate), 0x7F62u);
  EXPECT_EQ(EncodeFloat(ElementType::kBfloat16, 1.00390625, Overflow::kPropagate), 0x3F80u);  // a tie: to even
  EXPECT_EQ(DecodeFloat(ElementType::kFloat8E4M3FN, 0x7E), 448);
  EXPECT_TRUE(std::isnan(DecodeFloat(ElementType::kFloat8E4M3FN, 0x7F)));
  EXPECT_EQ(DecodeFloat(ElementType::kFloat8E4M3FNUZ, 0x7F), 240);
  EXPECT_TRUE(std::isnan(DecodeFloat(ElementType::kFloat8E4M3FNUZ, 0x80)));
  EXPECT_EQ(DecodeFloat(ElementType::kFloat8E5M2, 0x7B), 57344);
  EXPECT_TRUE(std::isinf(DecodeFloat(ElementType::kFloat8E5M2, 0xFC)));
  EXPECT_EQ(DecodeFloat(ElementType::kFloat8E5M2FNUZ, 0x7F), 57344);
  EXPECT_EQ(DecodeFloat(ElementType::kFloat8E8M0, 127), 1);
  const double kFloat4[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(DecodeFloat(ElementType::kFloat4E2M1, i), kFloat4[i]);
}

TEST(FloatFormats, OverflowSaturatesOrPropagates) {
  double infinity = std::numeric_limits<double>::infinity();
  for (double x : {1e6, infinity}) {
    EXPECT_EQ(EncodeFloat(ElementType::kFloat8E4M3FN, x, Overflow::kSaturate), 0x7Eu);
    EXPECT_EQ(EncodeFloat(ElementType::kFloat8E4M3FN, -x, Overflow::kPropagate), 0xFFu);
    EXPECT_EQ(EncodeFloat(ElementType::kFloat8E4M3FNUZ, x, Overflow::kPropagate), 0x80u);
    EXPECT_EQ(EncodeFloat(ElementType::kFloat8E5M2, -x, Overflow::kSaturate), 0xFBu);
    EXPECT_EQ(EncodeFloat(ElementType::kFloat8E5M2, x, Overflow::kPropagate), 0x7Cu);
    EXPECT_EQ(EncodeFloat(ElementType::kFloat4E2M1, x, Overflow::kPropagate), 7u);
  }
  EXPECT_EQ(EncodeFloat(ElementType::kFloat8E8M0, 3, Overflow::kSaturate), 129u);
  EXPECT_EQ(EncodeFloat(ElementType::kFloat8E8M0, -1, Overflow::kSaturate), 255u);
}

TEST(FloatFormats, EveryPatternSurvivesARoundTrip) {
  struct {
    ElementType type;
    uint32_t patterns;
  } formats[] = {{ElementType::kFloat16, 65536},    {ElementType::kBfloat16, 65536},
                 {ElementType::kFloat8E4M3FN, 256}, {ElementType::kFloat8E4M3FNUZ, 256},
                 {ElementType::kFloat8E5M2, 256},   {ElementType::kFloat8E5M2FNUZ, 256},
                 {ElementType::kFloat4E2M1, 16},    {ElementType::kFloat8E8M0, 256}};
  for (const auto& format : formats) {
    for (uint32_t bits = 0; bits < format.patterns; ++bits) {
      double value = DecodeFloat(format.type, bits);
      uint32_t back = EncodeFloat(format.type, value, Overflow::kPropagate);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(DecodeFloat(format.type, back)));
      } else {
        EXPECT_EQ(back, bits) << Name(format.type);
      }
    }
  }
}

}  // namespace
}  // namespace aot::reference
