// quantize and dequantize. The arithmetic is float32, as on the devices: x / scale is one division, rounded half to
// even, then shifted by the zero point and saturated. NaN becomes the least value, as where the limits are taken by the
// instructions of common processors.
#include <algorithm>
#include <cmath>

#include "compiler/reference/broadcast.h"
#include "compiler/reference/conversion.h"
#include "compiler/reference/float_formats.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

struct Operands {
  const Tensor& input;
  const Tensor& scale;
  const Tensor* zero_point;
  const TensorType& type;
};

// quantised: the element type of the quantised side, which the zero point has.
Operands Read(Call& call, bool quantised_is_result) {
  Operands o{call.Operand(0, "input"), call.Operand(1, "scale"), call.OptionalOperand(2), call.Result()};
  ElementType quantised = quantised_is_result ? o.type.element : o.input.element();
  call.RequireShape("the result", o.type.shape, o.input.shape());
  call.RequireFloat(o.scale);
  call.RequireSupported(ComputeTypeOf(quantised) != Compute::kNone && StorageBits(quantised) <= 32, quantised);
  call.Require(BroadcastStrides(o.scale.shape(), o.input.shape()).has_value(), "operand 1 (scale) of shape ",
               ToString(o.scale.shape()), " does not broadcast to ", ToString(o.input.shape()));
  if (o.zero_point != nullptr) {
    call.RequireElement("operand 2 (zero_point)", o.zero_point->element(), quantised);
    call.Require(BroadcastStrides(o.zero_point->shape(), o.input.shape()).has_value(),
                 "operand 2 (zero_point) of shape ", ToString(o.zero_point->shape()), " does not broadcast to ",
                 ToString(o.input.shape()));
  }
  return o;
}

// Calls element(position, scale index, zero point index) for each element.
template <class Element>
void ForEachElement(const Operands& o, Element element) {
  if (o.input.size() == 0) return;
  Strides scale = *BroadcastStrides(o.scale.shape(), o.input.shape());
  Strides zero(scale.size(), 0);
  if (o.zero_point != nullptr) zero = *BroadcastStrides(o.zero_point->shape(), o.input.shape());
  ForEachRow<2>(o.input.shape(), {scale, zero}, [&](int64_t position, const auto& offsets, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      element(position + i, offsets[0] + i * InnerStride(scale), offsets[1] + i * InnerStride(zero));
    }
  });
}

Results Quantize(Call& call) {
  Operands o = Read(call, /*quantised_is_result=*/true);
  call.RequireNumeric(o.input);
  if (!call.ok()) return call.status();
  Tensor result(o.type);
  bool to_float = IsFloat(o.type.element);
  IntegerRange range = RangeOf(o.type.element);
  ForEachElement(o, [&](int64_t i, int64_t scale_index, int64_t zero_index) {
    float x = static_cast<float>(o.input.GetFloat(i)), scale = static_cast<float>(o.scale.GetFloat(scale_index));
    float quotient = x / scale;
    if (to_float) {
      float zero = o.zero_point == nullptr ? 0 : static_cast<float>(o.zero_point->GetFloat(zero_index));
      uint32_t bits = EncodeFloat(o.type.element, quotient + zero, Overflow::kSaturate);
      if (StorageBits(o.type.element) == 8) {
        result.mutable_bytes()[static_cast<size_t>(i)] = static_cast<uint8_t>(bits);
      } else {
        result.SetFloat(i, quotient + zero);
      }
      return;
    }
    if (std::isnan(quotient) && StorageBits(o.type.element) <= 16) {
      result.SetInt(i, range.low);
      return;
    }
    int64_t zero = o.zero_point == nullptr ? 0 : o.zero_point->GetInt(zero_index);
    // Far beyond every quantised type, yet the sum below can't overflow.
    int64_t rounded = std::clamp<int64_t>(FloatToInteger(std::nearbyint(quotient), ElementType::kInt64),
                                          -(int64_t{1} << 40), int64_t{1} << 40);
    result.SetInt(i, std::clamp(rounded + zero, range.low, range.high));
  });
  return OneResult(std::move(result));
}

Results Dequantize(Call& call) {
  Operands o = Read(call, /*quantised_is_result=*/false);
  call.RequireSupported(IsFloat(o.type.element), o.type.element);
  if (!call.ok()) return call.status();
  Tensor result(o.type);
  bool from_float = IsFloat(o.input.element());
  ForEachElement(o, [&](int64_t i, int64_t scale_index, int64_t zero_index) {
    float scale = static_cast<float>(o.scale.GetFloat(scale_index)), shifted;
    if (from_float) {
      float zero = o.zero_point == nullptr ? 0 : static_cast<float>(o.zero_point->GetFloat(zero_index));
      shifted = static_cast<float>(o.input.GetFloat(i)) - zero;
    } else {
      shifted =
          static_cast<float>(o.input.GetInt(i) - (o.zero_point == nullptr ? 0 : o.zero_point->GetInt(zero_index)));
    }
    result.SetFloat(i, shifted * scale);
  });
  return OneResult(std::move(result));
}

constexpr Kernel kKernels[] = {{"quantize", Quantize}, {"dequantize", Dequantize}};

}  // namespace

absl::Span<const Kernel> QuantiseKernels() { return kKernels; }

}  // namespace aot::reference
