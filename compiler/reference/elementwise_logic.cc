// Elementwise comparisons, boolean and bitwise operations with NumPy's broadcasting, and where.
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"
#include "compiler/reference/zip.h"

namespace aot::reference {
namespace {

template <class Function>
Results Compare(Call& call, Function function) {
  BinaryOperands o = SameTypeOperands(call);
  call.RequireElement("the result", o.type.element, ElementType::kBool);
  if (!call.ok()) return call.status();
  return WithComputeType(o.lhs.element(), [&](auto tag) -> Results {
    using T = decltype(tag);
    return OneResult(FromValues<int64_t>(o.type, Zip<int64_t, T, T>(o.lhs, o.rhs, o.type.shape, function)));
  });
}

// Bits as 64-bit patterns; `accepts` says which element types the operation takes.
template <class Function>
Results OnBits(Call& call, bool (*accepts)(ElementType), Function function) {
  BinaryOperands o = SameTypeOperands(call);
  call.RequireSupported(accepts(o.lhs.element()), o.lhs.element());
  call.RequireElement("the result", o.type.element, o.lhs.element());
  if (!call.ok()) return call.status();
  return OneResult(
      FromValues<uint64_t>(o.type, Zip<uint64_t, uint64_t, uint64_t>(o.lhs, o.rhs, o.type.shape, function)));
}
bool IsBool(ElementType type) { return type == ElementType::kBool; }
bool IsInteger(ElementType type) { return IsSignedInteger(type) || IsUnsignedInteger(type); }

Results Equal(Call& call) {
  const Tensor &lhs = call.Operand(0, "lhs"), &rhs = call.Operand(1, "rhs");
  if (lhs.element() != ElementType::kString || rhs.element() != ElementType::kString) {
    return Compare(call, [](auto a, auto b) { return a == b; });
  }
  const TensorType& type = call.Result();
  call.RequireElement("the result", type.element, ElementType::kBool);
  RequireBroadcast(call, lhs, rhs, type);
  if (!call.ok()) return call.status();
  Tensor result(type);
  Strides a = *BroadcastStrides(lhs.shape(), type.shape), b = *BroadcastStrides(rhs.shape(), type.shape);
  ForEachRow<2>(type.shape, {a, b}, [&](int64_t position, const auto& offsets, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      const std::string& x = (*lhs.strings)[static_cast<size_t>(offsets[0] + i * InnerStride(a))];
      const std::string& y = (*rhs.strings)[static_cast<size_t>(offsets[1] + i * InnerStride(b))];
      result.SetInt(position + i, x == y);
    }
  });
  return OneResult(std::move(result));
}
Results Less(Call& call) {
  return Compare(call, [](auto a, auto b) { return a < b; });
}
Results LessEqual(Call& call) {
  return Compare(call, [](auto a, auto b) { return a <= b; });
}
Results Greater(Call& call) {
  return Compare(call, [](auto a, auto b) { return a > b; });
}
Results GreaterEqual(Call& call) {
  return Compare(call, [](auto a, auto b) { return a >= b; });
}

Results LogicalAnd(Call& call) {
  return OnBits(call, IsBool, [](uint64_t a, uint64_t b) { return a & b; });
}
Results LogicalOr(Call& call) {
  return OnBits(call, IsBool, [](uint64_t a, uint64_t b) { return a | b; });
}
Results LogicalXor(Call& call) {
  return OnBits(call, IsBool, [](uint64_t a, uint64_t b) { return a ^ b; });
}
Results BitwiseAnd(Call& call) {
  return OnBits(call, IsInteger, [](uint64_t a, uint64_t b) { return a & b; });
}
Results BitwiseOr(Call& call) {
  return OnBits(call, IsInteger, [](uint64_t a, uint64_t b) { return a | b; });
}
Results BitwiseXor(Call& call) {
  return OnBits(call, IsInteger, [](uint64_t a, uint64_t b) { return a ^ b; });
}
Results ShiftLeft(Call& call) {
  return OnBits(call, IsUnsignedInteger, [](uint64_t a, uint64_t b) { return b < 64 ? a << b : 0; });
}
Results ShiftRight(Call& call) {
  return OnBits(call, IsUnsignedInteger, [](uint64_t a, uint64_t b) { return b < 64 ? a >> b : 0; });
}

// Copies elements, so it takes every element type.
Results Where(Call& call) {
  const Tensor& condition = call.Operand(0, "condition");
  const Tensor &lhs = call.Operand(1, "lhs"), &rhs = call.Operand(2, "rhs");
  const TensorType& type = call.Result();
  call.RequireElement("operand 0 (condition)", condition.element(), ElementType::kBool);
  call.RequireElement("operand 2 (rhs)", rhs.element(), lhs.element());
  call.RequireElement("the result", type.element, lhs.element());
  std::optional<Shape> shape = BroadcastShape(lhs.shape(), rhs.shape());
  if (shape.has_value()) shape = BroadcastShape(condition.shape(), *shape);
  call.Require(shape.has_value(), "operand shapes ", ToString(condition.shape()), ", ", ToString(lhs.shape()), " and ",
               ToString(rhs.shape()), " do not broadcast");
  if (!call.ok()) return call.status();
  call.RequireShape("the result", type.shape, *shape);
  if (!call.ok()) return call.status();
  Tensor result(type);
  std::array<Strides, 3> strides = {*BroadcastStrides(condition.shape(), type.shape),
                                    *BroadcastStrides(lhs.shape(), type.shape),
                                    *BroadcastStrides(rhs.shape(), type.shape)};
  ForEachRow<3>(type.shape, strides, [&](int64_t position, const auto& offsets, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      size_t chosen = condition.bytes()[static_cast<size_t>(offsets[0] + i * InnerStride(strides[0]))] != 0 ? 1 : 2;
      CopyElements(chosen == 1 ? lhs : rhs, offsets[chosen] + i * InnerStride(strides[chosen]), result, position + i,
                   1);
    }
  });
  return OneResult(std::move(result));
}

constexpr Kernel kKernels[] = {
    {"logical_and", LogicalAnd},
    {"logical_or", LogicalOr},
    {"logical_xor", LogicalXor},
    {"bitwise_and", BitwiseAnd},
    {"bitwise_or", BitwiseOr},
    {"bitwise_xor", BitwiseXor},
    {"shift_left", ShiftLeft},
    {"shift_right", ShiftRight},
    {"equal", Equal},
    {"less", Less},
    {"less_equal", LessEqual},
    {"greater", Greater},
    {"greater_equal", GreaterEqual},
    {"where", Where},
};

}  // namespace

absl::Span<const Kernel> LogicKernels() { return kKernels; }

}  // namespace aot::reference
