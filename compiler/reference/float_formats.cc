#include "compiler/reference/float_formats.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace aot::reference {
namespace {

// How the topmost bit patterns are used.
enum class Specials : uint8_t {
  kIeee,       // infinities and NaNs as in IEEE 754
  kOneNan,     // all ones is NaN, no infinity (the "fn" formats)
  kMinusZero,  // minus zero is the NaN, no infinity ("fnuz")
  kNone,       // every pattern is a number
};

struct Format {
  int exponent_bits, mantissa_bits, bias;
  Specials specials;
};

Format FormatOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat16:
      return {5, 10, 15, Specials::kIeee};
    case ElementType::kBfloat16:
      return {8, 7, 127, Specials::kIeee};
    case ElementType::kFloat8E4M3FN:
      return {4, 3, 7, Specials::kOneNan};
    case ElementType::kFloat8E4M3FNUZ:
      return {4, 3, 8, Specials::kMinusZero};
    case ElementType::kFloat8E5M2:
      return {5, 2, 15, Specials::kIeee};
    case ElementType::kFloat8E5M2FNUZ:
      return {5, 2, 16, Specials::kMinusZero};
    default:
      return {2, 1, 1, Specials::kNone};  // float4e2m1
  }
}

uint32_t SignMask(const Format& f) { return 1u << (f.exponent_bits + f.mantissa_bits); }

uint32_t NanBits(const Format& f) {
  switch (f.specials) {
    case Specials::kIeee:
      return SignMask(f) - 1 - ((1u << f.mantissa_bits) - 1) + (1u << (f.mantissa_bits - 1));
    case Specials::kOneNan:
      return SignMask(f) - 1;
    case Specials::kMinusZero:
      return SignMask(f);
    case Specials::kNone:
      break;
  }
  return SignMask(f);  // minus zero, as in ONNX's conformance data
}

// The pattern of the largest finite value.
uint32_t MaxBits(const Format& f) {
  switch (f.specials) {
    case Specials::kIeee:
      return SignMask(f) - 1 - (1u << f.mantissa_bits);
    case Specials::kOneNan:
      return SignMask(f) - 2;
    default:
      return SignMask(f) - 1;
  }
}

double PowerOfTwo(int exponent) {
  uint64_t bits = static_cast<uint64_t>(exponent + 1023) << 52;
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

double DecodeMagnitude(const Format& f, uint32_t bits) {
  uint32_t mantissa = bits & ((1u << f.mantissa_bits) - 1);
  int exponent = static_cast<int>(bits >> f.mantissa_bits);
  if (exponent == 0) return mantissa * PowerOfTwo(1 - f.bias - f.mantissa_bits);
  return (mantissa + (1u << f.mantissa_bits)) * PowerOfTwo(exponent - f.bias - f.mantissa_bits);
}

// float8e8m0: 2^(bits - 127), 255 is NaN.
double DecodeE8M0(uint32_t bits) {
  return bits == 255 ? std::numeric_limits<double>::quiet_NaN() : PowerOfTwo(static_cast<int>(bits) - 127);
}

uint32_t EncodeE8M0(double value, Overflow overflow) {
  if (std::isnan(value) || value < 0) return 255;
  if (value <= PowerOfTwo(-127)) return 0;
  if (value > PowerOfTwo(127)) return overflow == Overflow::kSaturate ? 254 : 255;
  int exponent = std::ilogb(value);
  return static_cast<uint32_t>(exponent + 127 + (PowerOfTwo(exponent) < value ? 1 : 0));
}

}  // namespace

double DecodeFloat(ElementType type, uint32_t bits) {
  if (type == ElementType::kFloat8E8M0) return DecodeE8M0(bits & 255);
  Format f = FormatOf(type);
  uint32_t magnitude = bits & (SignMask(f) - 1);
  bool negative = (bits & SignMask(f)) != 0;
  double value;
  if (f.specials == Specials::kMinusZero && negative && magnitude == 0) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude <= MaxBits(f)) {
    value = DecodeMagnitude(f, magnitude);
  } else if (f.specials == Specials::kIeee && magnitude == MaxBits(f) + 1) {
    value = std::numeric_limits<double>::infinity();
  } else {
    value = std::numeric_limits<double>::quiet_NaN();
  }
  return negative ? -value : value;
}

uint32_t EncodeFloat(ElementType type, double value, Overflow overflow) {
  if (type == ElementType::kFloat8E8M0) return EncodeE8M0(value, overflow);
  Format f = FormatOf(type);
  if (std::isnan(value)) return NanBits(f);
  uint32_t sign = std::signbit(value) ? SignMask(f) : 0;
  double magnitude = std::fabs(value);

  uint32_t bits;
  int least = 1 - f.bias;  // exponent of the smallest normal value
  if (magnitude >= PowerOfTwo(least + (1 << f.exponent_bits))) {
    bits = SignMask(f);  // beyond the format, infinity included
  } else {
    int exponent = least;
    if (magnitude >= PowerOfTwo(least)) {
      uint64_t pattern;
      std::memcpy(&pattern, &magnitude, sizeof pattern);
      exponent = static_cast<int>(pattern >> 52) - 1023;
    }
    // In units of the last place; scaling by a power of two is exact. A carry out of the mantissa runs into the
    // exponent as it must.
    double units = std::nearbyint(magnitude * PowerOfTwo(f.mantissa_bits - exponent));
    bits = static_cast<uint32_t>(units) + (static_cast<uint32_t>(exponent - least) << f.mantissa_bits);
  }
  if (bits > MaxBits(f)) {
    if (overflow == Overflow::kSaturate || f.specials == Specials::kNone) {
      bits = MaxBits(f);
    } else if (f.specials == Specials::kIeee) {
      bits = MaxBits(f) + 1;
    } else {
      return NanBits(f) | (f.specials == Specials::kOneNan ? sign : 0);
    }
  }
  if (f.specials == Specials::kMinusZero && bits == 0) return 0;  // there is no minus zero
  return bits | sign;
}

}  // namespace aot::reference
