// one_hot and topk.
#include <algorithm>
#include <numeric>

#include "compiler/reference/broadcast.h"
#include "compiler/reference/conversion.h"
#include "compiler/reference/index.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

Results OneHot(Call& call) {
  const Tensor &indices = call.Operand(0, "indices"), &on_off = call.Operand(1, "on_off");
  const TensorType& type = call.Result();
  int64_t axis_value = call.Int("axis");
  call.RequireNumeric(indices);
  call.Require(on_off.size() == 2, "operand 1 (on_off) of shape ", ToString(on_off.shape()),
               " needs the two values [off, on]");
  call.RequireElement("operand 1 (on_off)", on_off.element(), type.element);
  bool fits = type.shape.size() == indices.shape().size() + 1 && axis_value >= 0 &&
              axis_value < static_cast<int64_t>(type.shape.size());
  call.Require(fits, "axis ", axis_value, " of a result of shape ", ToString(type.shape),
               " does not fit indices of shape ", ToString(indices.shape()));
  if (!call.ok()) return call.status();
  size_t axis = static_cast<size_t>(axis_value);
  Shape expected = indices.shape();
  expected.insert(expected.begin() + axis_value, type.shape[axis]);
  call.RequireShape("the result", type.shape, expected);
  if (!call.ok()) return call.status();

  Tensor result(type);
  for (int64_t i = 0; i < result.size(); ++i) CopyElements(on_off, 0, result, i, 1);
  int64_t depth = type.shape[axis], inner = SizeOfDimensions(type.shape, axis + 1, type.shape.size());
  for (int64_t i = 0; i < indices.size() && depth > 0; ++i) {
    int64_t index =
        IsFloat(indices.element()) ? FloatToInteger(indices.GetFloat(i), ElementType::kInt64) : indices.GetInt(i);
    // A uint64 beyond int64 is no negative index.
    if (indices.element() == ElementType::kUint64 && index < 0) continue;
    index = Counted(index, depth);
    if (index < 0 || index >= depth) continue;
    CopyElements(on_off, 1, result, (i / inner * depth + index) * inner + i % inner, 1);
  }
  return OneResult(std::move(result));
}

// NaN counts as larger than every number. Ties go to the lower index.
Results TopK(Call& call) {
  const Tensor& input = call.Operand(0, "input");
  const TensorType &value_type = call.Result(0), &index_type = call.Result(1);
  size_t axis = static_cast<size_t>(call.Axis("axis", input));
  bool largest = call.Flag("largest");
  call.RequireNumeric(input);
  call.RequireElement("result 0 (values)", value_type.element, input.element());
  call.Require(index_type.element == ElementType::kInt64 || index_type.element == ElementType::kInt32,
               "result 1 (indices) has element type ", Name(index_type.element), ", needs int64 or int32");
  call.Require(value_type.shape.size() == input.shape().size(), "result 0 (values) has shape ",
               ToString(value_type.shape), ", needs rank ", input.shape().size());
  if (!call.ok()) return call.status();
  const Shape& shape = input.shape();
  int64_t k = value_type.shape[axis], length = shape[axis];
  Shape expected = shape;
  expected[axis] = k;
  call.Require(k <= length, "k ", k, " exceeds the ", length, " elements along the axis");
  call.RequireShape("result 0 (values)", value_type.shape, expected);
  call.RequireShape("result 1 (indices)", index_type.shape, expected);
  if (!call.ok()) return call.status();

  Tensor values(value_type), indices(index_type);
  int64_t outer = SizeOfDimensions(shape, 0, axis), inner = SizeOfDimensions(shape, axis + 1, shape.size());
  std::vector<int64_t> order(static_cast<size_t>(length));
  WithComputeType(input.element(), [&](auto tag) {
    using T = decltype(tag);
    Values<T> data(input);
    auto greater = [](T a, T b) { return a > b || (a != a && b == b); };
    for (int64_t line = 0; line < outer * inner; ++line) {
      int64_t o = line / inner, i = line % inner;
      const T* x = data.data() + o * length * inner + i;
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t p, int64_t q) {
        T a = x[p * inner], b = x[q * inner];
        if (largest ? greater(a, b) : greater(b, a)) return true;
        if (largest ? greater(b, a) : greater(a, b)) return false;
        return p < q;
      });
      for (int64_t n = 0; n < k; ++n) {
        int64_t to = (o * k + n) * inner + i, from = order[static_cast<size_t>(n)];
        CopyElements(input, (o * length + from) * inner + i, values, to, 1);
        indices.SetInt(to, from);
      }
    }
  });
  std::vector<Tensor> results;
  results.push_back(std::move(values));
  results.push_back(std::move(indices));
  return results;
}

constexpr Kernel kKernels[] = {{"one_hot", OneHot}, {"topk", TopK}};

}  // namespace

absl::Span<const Kernel> SelectionKernels() { return kKernels; }

}  // namespace aot::reference
