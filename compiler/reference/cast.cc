// Conversion between element types: every pair of floats, integers and booleans.
#include "compiler/reference/conversion.h"
#include "compiler/reference/float_formats.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

bool IsFloat8(ElementType type) { return IsFloat(type) && StorageBits(type) == 8 && type != ElementType::kFloat4E2M1; }

// Stores a double that has not been rounded to the result's type yet.
void StoreFloat(Tensor& result, int64_t index, double value, Overflow overflow) {
  if (IsFloat8(result.element())) {
    result.mutable_bytes()[static_cast<size_t>(index)] =
        static_cast<uint8_t>(EncodeFloat(result.element(), value, overflow));
  } else {
    result.SetFloat(index, value);
  }
}

Results Cast(Call& call) {
  const Tensor& input = call.Operand(0, "input");
  const TensorType& type = call.Result();
  Overflow overflow = call.Flag("saturate") ? Overflow::kSaturate : Overflow::kPropagate;
  call.RequireShape("the result", type.shape, input.shape());
  call.RequireNumeric(input);
  call.RequireSupported(ComputeTypeOf(type.element) != Compute::kNone, type.element);
  if (!call.ok()) return call.status();

  Tensor result(type);
  bool from_float = IsFloat(input.element()), to_float = IsFloat(type.element);
  for (int64_t i = 0; i < input.size(); ++i) {
    if (from_float && to_float) {
      StoreFloat(result, i, input.GetFloat(i), overflow);
    } else if (from_float && type.element == ElementType::kBool) {
      result.SetInt(i, input.GetFloat(i) != 0);  // NaN is true
    } else if (from_float) {
      result.SetInt(i, FloatToInteger(input.GetFloat(i), type.element));
    } else if (!to_float) {
      result.SetInt(i, input.GetInt(i));
    } else {
      int64_t value = input.GetInt(i);
      bool negative = input.element() != ElementType::kUint64 && value < 0;
      uint64_t magnitude = negative ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
      if (type.element == ElementType::kFloat64) {
        result.SetFloat(i, negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude));
      } else {
        StoreFloat(result, i, IntegerToRoundableDouble(magnitude, negative), overflow);
      }
    }
  }
  return OneResult(std::move(result));
}

constexpr Kernel kKernels[] = {{"cast", Cast}};

}  // namespace

absl::Span<const Kernel> CastKernels() { return kKernels; }

}  // namespace aot::reference
