// scatter_elements and scatter_nd. Negative indices count from the end; those out of range write nothing. Updates apply
// in row-major order, so the last of several to one place wins, and sums of floats round after each.
#include "compiler/reference/broadcast.h"
#include "compiler/reference/index.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

enum class Combine : uint8_t { kReplace, kAdd, kMul, kMin, kMax };

struct Operands {
  const Tensor& input;
  const Tensor& indices;
  const Tensor& updates;
  const TensorType& type;
  Combine combine;
};

Operands Read(Call& call) {
  Operands o{call.Operand(0, "input"), call.Operand(1, "indices"), call.Operand(2, "updates"), call.Result(),
             Combine::kReplace};
  RequireIndices(call, "operand 1 (indices)", o.indices);
  call.RequireElement("operand 2 (updates)", o.updates.element(), o.input.element());
  call.RequireElement("the result", o.type.element, o.input.element());
  call.RequireShape("the result", o.type.shape, o.input.shape());
  std::string reduction = call.String("reduction");
  constexpr const char* kNames[] = {"none", "add", "mul", "min", "max"};
  bool known = false;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (reduction != kNames[i]) continue;
    o.combine = static_cast<Combine>(i);
    known = true;
  }
  call.Require(known, "reduction ", reduction, " is not none, add, mul, min or max");
  if (o.combine != Combine::kReplace) call.RequireNumeric(o.input);
  return o;
}

// Combining in the compute type of the element; NaN wins min and max.
template <class T>
T Combined(Combine combine, T a, T b) {
  using Modular = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
  switch (combine) {
    case Combine::kAdd:
      return static_cast<T>(Modular(a) + Modular(b));
    case Combine::kMul:
      return static_cast<T>(Modular(a) * Modular(b));
    case Combine::kMin:
      return a != a ? a : b < a || b != b ? b : a;
    case Combine::kMax:
      return a != a ? a : b > a || b != b ? b : a;
    case Combine::kReplace:
      break;
  }
  return b;
}

void Update(const Operands& o, Tensor& result, int64_t to, int64_t from, int64_t count) {
  if (o.combine == Combine::kReplace) return CopyElements(o.updates, from, result, to, count);
  for (int64_t i = 0; i < count; ++i) {
    switch (ComputeTypeOf(o.input.element())) {
      case Compute::kFloat:
        result.SetFloat(to + i, Combined<float>(o.combine, static_cast<float>(result.GetFloat(to + i)),
                                                static_cast<float>(o.updates.GetFloat(from + i))));
        break;
      case Compute::kDouble:
        result.SetFloat(to + i, Combined<double>(o.combine, result.GetFloat(to + i), o.updates.GetFloat(from + i)));
        break;
      case Compute::kUnsigned:
        result.SetInt(to + i,
                      static_cast<int64_t>(Combined<uint64_t>(o.combine, static_cast<uint64_t>(result.GetInt(to + i)),
                                                              static_cast<uint64_t>(o.updates.GetInt(from + i)))));
        break;
      default:
        result.SetInt(to + i, Combined<int64_t>(o.combine, result.GetInt(to + i), o.updates.GetInt(from + i)));
        break;
    }
  }
}

// A copy that may be written to.
Tensor CopyOf(const Tensor& tensor) {
  Tensor copy(tensor.type());
  CopyElements(tensor, 0, copy, 0, tensor.size());
  return copy;
}

Results ScatterElements(Call& call) {
  Operands o = Read(call);
  const Shape &shape = o.input.shape(), &index_shape = o.indices.shape();
  size_t axis = static_cast<size_t>(call.Axis("axis", o.input));
  RequireElementIndices(call, shape, index_shape, axis);
  call.RequireShape("operand 2 (updates)", o.updates.shape(), index_shape);
  if (!call.ok()) return call.status();
  Tensor result = CopyOf(o.input);
  if (o.indices.size() == 0) return OneResult(std::move(result));
  Strides strides = ContiguousStrides(shape);
  int64_t along = strides[axis];
  strides[axis] = 0;
  ForEachRow<1>(index_shape, {strides}, [&](int64_t position, const auto& offsets, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      int64_t index = Counted(o.indices.GetInt(position + i), shape[axis]);
      if (index < 0 || index >= shape[axis]) continue;
      Update(o, result, offsets[0] + i * strides.back() + index * along, position + i, 1);
    }
  });
  return OneResult(std::move(result));
}

Results ScatterNd(Call& call) {
  Operands o = Read(call);
  const Shape &shape = o.input.shape(), &index_shape = o.indices.shape();
  size_t rank = shape.size(), index_rank = index_shape.size();
  if (!call.Require(index_rank >= 1, "operand 1 (indices) is a scalar, needs rank 1 or more")) return call.status();
  int64_t tuple_size = index_shape.back();
  if (!call.Require(tuple_size <= static_cast<int64_t>(rank), "tuples of ", tuple_size, " indices need rank ",
                    tuple_size, ", the input has ", rank)) {
    return call.status();
  }
  size_t tuple = static_cast<size_t>(tuple_size);
  Shape expected(index_shape.begin(), index_shape.end() - 1);
  expected.insert(expected.end(), shape.begin() + tuple_size, shape.end());
  call.RequireShape("operand 2 (updates)", o.updates.shape(), expected);
  if (!call.ok()) return call.status();
  Tensor result = CopyOf(o.input);
  Strides strides = ContiguousStrides(shape);
  int64_t inner = SizeOfDimensions(shape, tuple, rank), tuples = SizeOfDimensions(index_shape, 0, index_rank - 1);
  if (inner == 0) return OneResult(std::move(result));
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t to = 0;
    bool inside = true;
    for (size_t d = 0; d < tuple; ++d) {
      int64_t index = Counted(o.indices.GetInt(t * tuple_size + static_cast<int64_t>(d)), shape[d]);
      inside = inside && index >= 0 && index < shape[d];
      if (inside) to += index * strides[d];
    }
    if (inside) Update(o, result, to, t * inner, inner);
  }
  return OneResult(std::move(result));
}

constexpr Kernel kKernels[] = {{"scatter_elements", ScatterElements}, {"scatter_nd", ScatterNd}};

}  // namespace

absl::Span<const Kernel> ScatterKernels() { return kKernels; }

}  // namespace aot::reference
