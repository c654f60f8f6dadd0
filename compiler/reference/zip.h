// What elementwise operations of two operands share: checked operands, and a walk over both under NumPy's broadcasting.
#pragma once

#include <optional>
#include <vector>

#include "compiler/reference/broadcast.h"
#include "compiler/reference/call.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {

// Applies function to the operands broadcast to `shape`, as values of A and B, giving values of R.
template <class R, class A, class B, class Function>
std::vector<R> Zip(const Tensor& lhs, const Tensor& rhs, const Shape& shape, Function function) {
  Values<A> a(lhs);
  Values<B> b(rhs);
  Strides a_strides = *BroadcastStrides(lhs.shape(), shape), b_strides = *BroadcastStrides(rhs.shape(), shape);
  std::vector<R> results(static_cast<size_t>(*ElementCount(shape)));
  if (results.empty()) return results;
  int64_t a_step = InnerStride(a_strides), b_step = InnerStride(b_strides);
  ForEachRow<2>(shape, {a_strides, b_strides}, [&](int64_t position, const auto& offsets, int64_t length) {
    R* out = results.data() + position;
    const A* x = a.data() + offsets[0];
    const B* y = b.data() + offsets[1];
    for (int64_t i = 0; i < length; ++i) out[i] = static_cast<R>(function(x[i * a_step], y[i * b_step]));
  });
  return results;
}

// That both operands broadcast to the result's shape, all of it.
inline void RequireBroadcast(Call& call, const Tensor& lhs, const Tensor& rhs, const TensorType& type) {
  std::optional<Shape> shape = BroadcastShape(lhs.shape(), rhs.shape());
  if (!call.Require(shape.has_value(), "operand shapes ", ToString(lhs.shape()), " and ", ToString(rhs.shape()),
                    " do not broadcast")) {
    return;
  }
  call.RequireShape("the result", type.shape, *shape);
}

struct BinaryOperands {
  const Tensor& lhs;
  const Tensor& rhs;
  const TensorType& type;
};
// Two numeric operands of one element type.
inline BinaryOperands SameTypeOperands(Call& call) {
  BinaryOperands operands{call.Operand(0, "lhs"), call.Operand(1, "rhs"), call.Result()};
  call.RequireNumeric(operands.lhs);
  call.RequireElement("operand 1 (rhs)", operands.rhs.element(), operands.lhs.element());
  RequireBroadcast(call, operands.lhs, operands.rhs, operands.type);
  return operands;
}

}  // namespace aot::reference
