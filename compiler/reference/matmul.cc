// Matrix products over the last two dimensions with broadcast leading ones.
#include "compiler/reference/broadcast.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/product.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

struct MatMulShape {
  int64_t m, n, k;
  Shape batch;                       // leading dimensions of the result
  Strides lhs_strides, rhs_strides;  // in matrices, over batch
  bool trans_a, trans_b;
};

MatMulShape Check(Call& call, const Tensor& lhs, const Tensor& rhs, const TensorType& type) {
  MatMulShape s{};
  s.trans_a = call.Flag("trans_a");
  s.trans_b = call.Flag("trans_b");
  const Shape &a = lhs.shape(), &b = rhs.shape();
  if (!call.Require(a.size() >= 2 && b.size() >= 2, "operands of shape ", ToString(a), " and ", ToString(b),
                    " need rank 2 or more")) {
    return s;
  }
  s.m = a[a.size() - (s.trans_a ? 1 : 2)];
  s.k = a[a.size() - (s.trans_a ? 2 : 1)];
  s.n = b[b.size() - (s.trans_b ? 2 : 1)];
  int64_t rhs_k = b[b.size() - (s.trans_b ? 1 : 2)];
  call.Require(s.k == rhs_k, "operand 0 (lhs) of shape ", ToString(a), " has depth ", s.k,
               ", operand 1 (rhs) of shape ", ToString(b), " has ", rhs_k);
  Shape a_batch(a.begin(), a.end() - 2), b_batch(b.begin(), b.end() - 2);
  std::optional<Shape> batch = BroadcastShape(a_batch, b_batch);
  if (!call.Require(batch.has_value(), "leading dimensions of ", ToString(a), " and ", ToString(b),
                    " do not broadcast")) {
    return s;
  }
  s.batch = *batch;
  s.lhs_strides = *BroadcastStrides(a_batch, s.batch);
  s.rhs_strides = *BroadcastStrides(b_batch, s.batch);
  Shape result = s.batch;
  result.push_back(s.m);
  result.push_back(s.n);
  call.RequireShape("the result", type.shape, result);
  return s;
}

// R is the type that results are stored from: double for floats, so that they are rounded once.
template <class T>
Tensor Product(const MatMulShape& s, const Tensor& lhs, const Tensor& rhs, const TensorType& type) {
  Values<T> a(lhs), b(rhs);
  std::vector<Sum<T>> c(static_cast<size_t>(*ElementCount(type.shape)));
  if (c.empty()) return Tensor(type);
  int64_t lhs_step = InnerStride(s.lhs_strides), rhs_step = InnerStride(s.rhs_strides);
  std::vector<T> a_transposed, b_transposed;
  const T* b_last = nullptr;
  ForEachRow<2>(s.batch, {s.lhs_strides, s.rhs_strides}, [&](int64_t position, const auto& offsets, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      const T* x = a.data() + (offsets[0] + i * lhs_step) * s.m * s.k;
      const T* y = b.data() + (offsets[1] + i * rhs_step) * s.k * s.n;
      if (s.trans_a) {
        a_transposed = Transposed(x, s.k, s.m);
        x = a_transposed.data();
      }
      if (s.trans_b) {
        if (y != b_last) b_transposed = Transposed(y, s.n, s.k);  // a weight shared by the batch: once
        b_last = y;
        y = b_transposed.data();
      }
      Multiply(s.m, s.n, s.k, x, y, c.data() + (position + i) * s.m * s.n);
    }
  });
  return FromValues<Sum<T>>(type, c);
}

Results MatMul(Call& call) {
  const Tensor &lhs = call.Operand(0, "lhs"), &rhs = call.Operand(1, "rhs");
  const TensorType& type = call.Result();
  call.RequireNumeric(lhs);
  call.RequireNumeric(rhs);
  call.Require(IsFloat(lhs.element()) == IsFloat(rhs.element()) && IsFloat(lhs.element()) == IsFloat(type.element),
               "operands ", Name(lhs.element()), " and ", Name(rhs.element()), " and the result ", Name(type.element),
               " must be all floats or all integers");
  MatMulShape shape = Check(call, lhs, rhs, type);
  const Tensor centred = Centred(call, lhs, call.Int("lhs_zero_point", 0));
  if (!call.ok()) return call.status();
  if (lhs.element() == ElementType::kFloat64 || rhs.element() == ElementType::kFloat64) {
    return OneResult(Product<double>(shape, lhs, rhs, type));
  }
  if (IsFloat(lhs.element())) return OneResult(Product<float>(shape, lhs, rhs, type));
  return OneResult(Product<uint64_t>(shape, centred, rhs, type));
}

constexpr Kernel kKernels[] = {{"matmul", MatMul}};

}  // namespace

absl::Span<const Kernel> MatMulKernels() { return kKernels; }

}  // namespace aot::reference
