// Operations that only move elements, of any element type: reshape, transpose, broadcast, slice, concat and pad.
#include <algorithm>

#include "compiler/reference/broadcast.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

// result[i...] = input[base + sum of i * strides].
Tensor CopyStrided(const Tensor& input, int64_t base, const Strides& strides, const TensorType& type) {
  Tensor result(type);
  if (result.size() == 0) return result;
  int64_t stride = InnerStride(strides);
  ForEachRow<1>(type.shape, {strides}, [&](int64_t position, const auto& offsets, int64_t length) {
    int64_t from = base + offsets[0];
    if (stride == 1) return CopyElements(input, from, result, position, length);
    for (int64_t i = 0; i < length; ++i) CopyElements(input, from + i * stride, result, position + i, 1);
  });
  return result;
}

struct Move {
  const Tensor& input;
  const TensorType& type;
};
Move Read(Call& call) {
  Move move{call.Operand(0, "input"), call.Result()};
  call.RequireElement("the result", move.type.element, move.input.element());
  return move;
}

bool RequireRank(Call& call, const TensorType& type, size_t rank) {
  return call.Require(type.shape.size() == rank, "the result has shape ", ToString(type.shape), ", needs rank ", rank);
}

Results Reshape(Call& call) {
  Move move = Read(call);
  call.Require(*ElementCount(move.type.shape) == move.input.size(), "the result of shape ", ToString(move.type.shape),
               " does not have the ", move.input.size(), " elements of shape ", ToString(move.input.shape()));
  if (!call.ok()) return call.status();
  Tensor result(move.type);
  CopyElements(move.input, 0, result, 0, result.size());
  return OneResult(std::move(result));
}

// Other operations keep the element type; this one keeps the bytes.
Results Bitcast(Call& call) {
  const Tensor& input = call.Operand(0, "input");
  const TensorType& type = call.Result();
  call.RequireShape("the result", type.shape, input.shape());
  call.RequireNumeric(input);
  call.Require(StorageBits(type.element) == StorageBits(input.element()), "elements of ", Name(input.element()),
               " and ", Name(type.element), " have different widths");
  if (!call.ok()) return call.status();
  Tensor result(type);
  std::copy(input.bytes().begin(), input.bytes().end(), result.mutable_bytes().begin());
  return OneResult(std::move(result));
}

Results Transpose(Call& call) {
  Move move = Read(call);
  const Shape& shape = move.input.shape();
  std::vector<int64_t> perm = call.Ints("perm", shape.size());
  std::vector<bool> used(shape.size(), false);
  Strides own = ContiguousStrides(shape), strides;
  Shape result;
  for (int64_t from : perm) {
    bool fits = from >= 0 && from < static_cast<int64_t>(shape.size()) && !used[static_cast<size_t>(from)];
    if (!call.Require(fits, "perm is no permutation of the ", shape.size(), " dimensions")) return call.status();
    used[static_cast<size_t>(from)] = true;
    result.push_back(shape[static_cast<size_t>(from)]);
    strides.push_back(own[static_cast<size_t>(from)]);
  }
  call.RequireShape("the result", move.type.shape, result);
  if (!call.ok()) return call.status();
  return OneResult(CopyStrided(move.input, 0, strides, move.type));
}

Results Broadcast(Call& call) {
  Move move = Read(call);
  std::optional<Strides> strides = BroadcastStrides(move.input.shape(), move.type.shape);
  call.Require(strides.has_value(), "operand 0 (input) of shape ", ToString(move.input.shape()),
               " does not broadcast to ", ToString(move.type.shape));
  if (!call.ok()) return call.status();
  return OneResult(CopyStrided(move.input, 0, *strides, move.type));
}

// Whether start + i * step lies in [0, size) for all i < count, without overflow.
bool StaysInside(int64_t start, int64_t step, int64_t count, int64_t size) {
  if (count == 0) return true;
  int64_t span, last;
  if (__builtin_mul_overflow(count - 1, step, &span) || __builtin_add_overflow(start, span, &last)) return false;
  return start >= 0 && start < size && last >= 0 && last < size;
}

Results Slice(Call& call) {
  Move move = Read(call);
  const Shape &shape = move.input.shape(), &result = move.type.shape;
  std::vector<int64_t> starts = call.Ints("starts", shape.size()), steps = call.Ints("steps", shape.size());
  if (!RequireRank(call, move.type, shape.size())) return call.status();
  Strides strides = ContiguousStrides(shape);
  int64_t base = 0;
  bool empty = *ElementCount(result) == 0;
  for (size_t d = 0; d < shape.size() && !empty; ++d) {
    call.Require(StaysInside(starts[d], steps[d], result[d], shape[d]), "dimension ", d, " of size ", shape[d],
                 ": start ", starts[d], ", step ", steps[d], " and count ", result[d], " leave the input");
    if (!call.ok()) return call.status();
    base += starts[d] * strides[d];
    strides[d] = result[d] == 1 ? 0 : strides[d] * steps[d];
  }
  if (!call.ok()) return call.status();
  return OneResult(CopyStrided(move.input, base, strides, move.type));
}

Results Concat(Call& call) {
  const TensorType& type = call.Result();
  const Tensor& first = call.Operand(0, "inputs");
  size_t axis = static_cast<size_t>(call.Axis("axis", first));
  int64_t total = 0;
  for (int i = 0; i < call.operand_count() && call.ok(); ++i) {
    const Tensor& input = call.Operand(i, "inputs");
    call.RequireElement(absl::StrCat("operand ", i), input.element(), type.element);
    if (!call.Require(input.shape().size() == first.shape().size(), "operand ", i, " of shape ",
                      ToString(input.shape()), " needs the rank of operand 0, ", first.shape().size())) {
      break;
    }
    Shape expected = first.shape();
    expected[axis] = input.shape()[axis];
    call.RequireShape(absl::StrCat("operand ", i), input.shape(), expected);
    call.Require(!__builtin_add_overflow(total, input.shape()[axis], &total), "the sizes along the axis overflow");
  }
  if (!call.ok()) return call.status();
  Shape shape = first.shape();
  shape[axis] = total;
  call.RequireShape("the result", type.shape, shape);
  if (!call.ok()) return call.status();

  Tensor result(type);
  int64_t outer = SizeOfDimensions(shape, 0, axis), inner = SizeOfDimensions(shape, axis + 1, shape.size());
  int64_t begin = 0;
  for (int i = 0; i < call.operand_count(); ++i) {
    const Tensor& input = call.Operand(i, "inputs");
    int64_t run = input.shape()[axis] * inner;
    for (int64_t o = 0; o < outer; ++o) CopyElements(input, o * run, result, o * total * inner + begin, run);
    begin += run;
  }
  return OneResult(std::move(result));
}

constexpr int64_t kOutside = -1;

// The input index that an output index of one dimension shows, for an input of `size` elements; kOutside is padding.
int64_t PadSource(const std::string& mode, int64_t position, int64_t size) {
  if (position >= 0 && position < size) return position;
  if (mode == "constant") return kOutside;
  if (mode == "edge") return std::clamp<int64_t>(position, 0, size - 1);
  if (mode == "wrap") return (position % size + size) % size;
  if (size == 1) return 0;  // reflect of a single element
  int64_t period = 2 * (size - 1);
  int64_t phase = (position % period + period) % period;
  return phase < size ? phase : period - phase;
}

Results Pad(Call& call) {
  Move move = Read(call);
  const Tensor* value = call.OptionalOperand(1);
  const Shape &shape = move.input.shape(), &result_shape = move.type.shape;
  std::vector<int64_t> begins = call.Ints("begins", shape.size());
  std::string mode = call.String("mode");
  call.Require(mode == "constant" || mode == "reflect" || mode == "edge" || mode == "wrap", "mode ", mode,
               " is not constant, reflect, edge or wrap");
  if (value != nullptr) {
    call.Require(value->size() == 1, "operand 1 (value) of shape ", ToString(value->shape()), " needs one element");
    call.RequireElement("operand 1 (value)", value->element(), move.input.element());
  }
  if (!RequireRank(call, move.type, shape.size()) || !call.ok()) return call.status();
  Tensor result(move.type);
  if (result.size() == 0) return OneResult(std::move(result));

  // For each dimension: the offset of the source of each index, or kOutside.
  Strides strides = ContiguousStrides(shape);
  std::vector<std::vector<int64_t>> sources(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    call.Require(shape[d] > 0 || mode == "constant", "dimension ", d, " is empty, which mode ", mode, " cannot extend");
    int64_t farthest;
    call.Require(begins[d] != INT64_MIN && !__builtin_sub_overflow(result_shape[d], begins[d], &farthest), "begin ",
                 begins[d], " is out of range");
    if (!call.ok()) return call.status();
    for (int64_t i = 0; i < result_shape[d]; ++i) {
      int64_t source = PadSource(mode, i - begins[d], shape[d]);
      sources[d].push_back(source == kOutside ? kOutside : source * strides[d]);
    }
  }
  // A scalar has no dimension to pad.
  if (shape.empty()) return OneResult(move.input);

  std::vector<int64_t> index(shape.size(), 0);
  const std::vector<int64_t>& inner = sources.back();
  int64_t length = result_shape.back();
  for (int64_t position = 0; position < result.size(); position += length) {
    int64_t base = 0;
    for (size_t d = 0; d + 1 < shape.size() && base != kOutside; ++d) {
      int64_t offset = sources[d][static_cast<size_t>(index[d])];
      base = offset == kOutside ? kOutside : base + offset;
    }
    for (int64_t i = 0; i < length; ++i) {
      int64_t offset = inner[static_cast<size_t>(i)];
      if (base != kOutside && offset != kOutside) {
        CopyElements(move.input, base + offset, result, position + i, 1);
      } else if (value != nullptr) {
        CopyElements(*value, 0, result, position + i, 1);
      }
    }
    for (size_t d = shape.size() - 1; d-- > 0;) {
      if (++index[d] < result_shape[d]) break;
      index[d] = 0;
    }
  }
  return OneResult(std::move(result));
}

constexpr Kernel kKernels[] = {
    {"bitcast", Bitcast}, {"reshape", Reshape}, {"transpose", Transpose}, {"broadcast", Broadcast}, {"slice", Slice},
    {"concat", Concat},   {"pad", Pad},
};

}  // namespace

absl::Span<const Kernel> MovementKernels() { return kKernels; }

}  // namespace aot::reference
