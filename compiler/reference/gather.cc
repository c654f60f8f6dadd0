// gather, gather_elements and gather_nd, of any element type. Negative indices count from the end; what is still out of
// range is clamped.
#include <algorithm>

#include "compiler/reference/broadcast.h"
#include "compiler/reference/index.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

struct Operands {
  const Tensor& input;
  const Tensor& indices;
  const TensorType& type;
};
Operands Read(Call& call) {
  Operands o{call.Operand(0, "input"), call.Operand(1, "indices"), call.Result()};
  RequireIndices(call, "operand 1 (indices)", o.indices);
  call.RequireElement("the result", o.type.element, o.input.element());
  return o;
}

// An empty dimension has no element to clamp to.
void RequireSource(Call& call, const Tensor& input, int64_t size, const TensorType& type) {
  call.Require(size > 0 || *ElementCount(type.shape) == 0, "operand 0 (input) of shape ", ToString(input.shape()),
               " has no element to take");
}

Results Gather(Call& call) {
  Operands o = Read(call);
  const Shape& shape = o.input.shape();
  size_t axis = static_cast<size_t>(call.Axis("axis", o.input));
  if (!call.ok()) return call.status();
  Shape expected(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
  expected.insert(expected.end(), o.indices.shape().begin(), o.indices.shape().end());
  expected.insert(expected.end(), shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end());
  call.RequireShape("the result", o.type.shape, expected);
  RequireSource(call, o.input, shape[axis], o.type);
  if (!call.ok()) return call.status();
  Tensor result(o.type);
  if (result.size() == 0) return OneResult(std::move(result));
  int64_t outer = SizeOfDimensions(shape, 0, axis), size = shape[axis];
  int64_t inner = SizeOfDimensions(shape, axis + 1, shape.size()), to = 0;
  for (int64_t i = 0; i < outer; ++i) {
    for (int64_t k = 0; k < o.indices.size(); ++k, to += inner) {
      int64_t index = ClampedIndex(o.indices.GetInt(k), size);
      CopyElements(o.input, (i * size + index) * inner, result, to, inner);
    }
  }
  return OneResult(std::move(result));
}

Results GatherElements(Call& call) {
  Operands o = Read(call);
  const Shape &shape = o.input.shape(), &index_shape = o.indices.shape();
  size_t axis = static_cast<size_t>(call.Axis("axis", o.input));
  RequireElementIndices(call, shape, index_shape, axis);
  call.RequireShape("the result", o.type.shape, index_shape);
  if (!call.ok()) return call.status();
  RequireSource(call, o.input, shape[axis], o.type);
  if (!call.ok()) return call.status();
  Tensor result(o.type);
  if (result.size() == 0) return OneResult(std::move(result));
  Strides strides = ContiguousStrides(shape);
  int64_t along = strides[axis];
  strides[axis] = 0;
  ForEachRow<1>(index_shape, {strides}, [&](int64_t position, const auto& offsets, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      int64_t index = ClampedIndex(o.indices.GetInt(position + i), shape[axis]);
      CopyElements(o.input, offsets[0] + i * strides.back() + index * along, result, position + i, 1);
    }
  });
  return OneResult(std::move(result));
}

Results GatherNd(Call& call) {
  Operands o = Read(call);
  const Shape &shape = o.input.shape(), &index_shape = o.indices.shape();
  int64_t batch_dims = call.Int("batch_dims");
  size_t rank = shape.size(), index_rank = index_shape.size();
  if (!call.Require(index_rank >= 1, "operand 1 (indices) is a scalar, needs rank 1 or more") || !call.ok()) {
    return call.status();
  }
  call.Require(batch_dims >= 0 && batch_dims < static_cast<int64_t>(std::min(rank, index_rank)), "batch_dims ",
               batch_dims, " is not below both ranks, ", rank, " and ", index_rank);
  if (!call.ok()) return call.status();
  size_t batch = static_cast<size_t>(batch_dims), tuple = static_cast<size_t>(index_shape.back());
  bool common = std::equal(shape.begin(), shape.begin() + batch_dims, index_shape.begin());
  call.Require(common, "the first ", batch, " dimensions of ", ToString(shape), " and ", ToString(index_shape),
               " differ");
  if (!call.Require(tuple <= rank - batch, "tuples of ", tuple, " indices need rank ", tuple + batch,
                    ", the input has ", rank)) {
    return call.status();
  }
  Shape expected(index_shape.begin(), index_shape.end() - 1);
  expected.insert(expected.end(), shape.begin() + static_cast<std::ptrdiff_t>(batch + tuple), shape.end());
  call.RequireShape("the result", o.type.shape, expected);
  RequireSource(call, o.input, SizeOfDimensions(shape, batch, batch + tuple), o.type);
  if (!call.ok()) return call.status();

  Tensor result(o.type);
  if (result.size() == 0) return OneResult(std::move(result));
  Strides strides = ContiguousStrides(shape);
  int64_t inner = SizeOfDimensions(shape, batch + tuple, rank), block = SizeOfDimensions(shape, batch, rank);
  int64_t tuples = SizeOfDimensions(index_shape, 0, index_rank - 1);
  int64_t tuples_of_batch = SizeOfDimensions(index_shape, batch, index_rank - 1);
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t from = t / tuples_of_batch * block;
    for (size_t d = 0; d < tuple; ++d) {
      int64_t index = o.indices.GetInt(t * static_cast<int64_t>(tuple) + static_cast<int64_t>(d));
      from += ClampedIndex(index, shape[batch + d]) * strides[batch + d];
    }
    CopyElements(o.input, from, result, t * inner, inner);
  }
  return OneResult(std::move(result));
}

constexpr Kernel kKernels[] = {{"gather", Gather}, {"gather_elements", GatherElements}, {"gather_nd", GatherNd}};

}  // namespace

absl::Span<const Kernel> GatherKernels() { return kKernels; }

}  // namespace aot::reference
