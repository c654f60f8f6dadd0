// Reductions over axes (which stay as size 1), arg_max and arg_min, and running sums.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "compiler/reference/broadcast.h"
#include "compiler/reference/conversion.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/product.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

struct Reduction {
  const Tensor& input;
  const TensorType& type;
  Strides strides;    // of the result, over the input's dimensions; 0 along reduced ones
  int64_t count = 1;  // elements that one result combines
};

Reduction Read(Call& call) {
  Reduction r{call.Operand(0, "input"), call.Result(), {}, 1};
  Shape shape = r.input.shape();
  std::vector<bool> reduced(shape.size(), false);
  for (int64_t axis : call.Ints("axes")) {
    bool inside = axis >= 0 && axis < static_cast<int64_t>(shape.size());
    if (!call.Require(inside, "axis ", axis, " is outside a tensor of rank ", shape.size())) return r;
    if (!call.Require(!reduced[static_cast<size_t>(axis)], "axis ", axis, " is named twice")) return r;
    reduced[static_cast<size_t>(axis)] = true;
    r.count *= shape[static_cast<size_t>(axis)];
    shape[static_cast<size_t>(axis)] = 1;
  }
  call.RequireNumeric(r.input);
  call.RequireElement("the result", r.type.element, r.input.element());
  call.RequireShape("the result", r.type.shape, shape);
  r.strides = ContiguousStrides(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (reduced[d]) r.strides[d] = 0;
  }
  return r;
}

// Combines elements in row-major order of the input: state = step(state, element).
template <class T, class State, class Step>
std::vector<State> Fold(const Reduction& r, State initial, Step step) {
  Values<T> values(r.input);
  std::vector<State> states(static_cast<size_t>(*ElementCount(r.type.shape)), initial);
  if (values.size() == 0) return states;
  int64_t stride = InnerStride(r.strides);
  ForEachRow<1>(r.input.shape(), {r.strides}, [&](int64_t position, const auto& offsets, int64_t length) {
    const T* x = values.data() + position;
    State* state = states.data() + offsets[0];
    for (int64_t i = 0; i < length; ++i) state[i * stride] = step(state[i * stride], x[i]);
  });
  return states;
}

Results ReduceSum(Call& call) {
  Reduction r = Read(call);
  if (!call.ok()) return call.status();
  return WithComputeType(r.input.element(), [&](auto tag) -> Results {
    using T = decltype(tag);
    using S = Sum<T>;
    return OneResult(FromValues<S>(r.type, Fold<T, S>(r, S{0}, [](S sum, T x) { return sum + static_cast<S>(x); })));
  });
}

// Integers: the exact sum modulo 2^64 divided by the count, truncated; the mean of nothing is 0 (NaN for floats).
Results ReduceMean(Call& call) {
  Reduction r = Read(call);
  if (!call.ok()) return call.status();
  return WithComputeType(r.input.element(), [&](auto tag) -> Results {
    using T = decltype(tag);
    using S = Sum<T>;
    std::vector<S> sums = Fold<T, S>(r, S{0}, [](S sum, T x) { return sum + static_cast<S>(x); });
    for (S& sum : sums) {
      if constexpr (std::is_floating_point_v<T>) {
        sum /= static_cast<double>(r.count);
      } else {
        sum = r.count == 0 ? 0 : static_cast<S>(static_cast<T>(sum) / static_cast<T>(r.count));
      }
    }
    return OneResult(FromValues<S>(r.type, sums));
  });
}

Results ReduceProd(Call& call) {
  Reduction r = Read(call);
  if (!call.ok()) return call.status();
  return WithComputeType(r.input.element(), [&](auto tag) -> Results {
    using T = decltype(tag);
    using S = Sum<T>;
    return OneResult(FromValues<S>(r.type, Fold<T, S>(r, S{1}, [](S prod, T x) { return prod * static_cast<S>(x); })));
  });
}

template <class T>
T Extreme(ElementType type, bool largest) {
  if constexpr (std::is_floating_point_v<T>) {
    return largest ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
  }
  if (type == ElementType::kUint64) return largest ? std::numeric_limits<T>::max() : T{0};
  return static_cast<T>(largest ? RangeOf(type).high : RangeOf(type).low);
}

Results ReduceExtreme(Call& call) {
  Reduction r = Read(call);
  if (!call.ok()) return call.status();
  bool maximum = call.name() == "reduce_max";
  return WithComputeType(r.input.element(), [&](auto tag) -> Results {
    using T = decltype(tag);
    T initial = Extreme<T>(r.input.element(), !maximum);
    // A NaN is taken and never replaced.
    auto step = [maximum](T best, T x) {
      return best != best || !((maximum ? x > best : x < best) || x != x) ? best : x;
    };
    return OneResult(FromValues<T>(r.type, Fold<T, T>(r, initial, step)));
  });
}

// A NaN counts as the extreme, as in reduce_max and reduce_min. Ties go to the first position, or the last if
// select_last.
Results ArgExtreme(Call& call) {
  const Tensor& input = call.Operand(0, "input");
  const TensorType& type = call.Result();
  size_t axis = static_cast<size_t>(call.Axis("axis", input));
  bool last = call.Flag("select_last"), maximum = call.name() == "arg_max";
  call.RequireNumeric(input);
  call.Require(type.element == ElementType::kInt64 || type.element == ElementType::kInt32,
               "the result has element type ", Name(type.element), ", needs int64 or int32");
  if (!call.ok()) return call.status();
  Shape shape = input.shape();
  call.Require(shape[axis] > 0, "the axis has no element to choose");
  int64_t outer = SizeOfDimensions(shape, 0, axis), length = shape[axis],
          inner = SizeOfDimensions(shape, axis + 1, shape.size());
  shape[axis] = 1;
  call.RequireShape("the result", type.shape, shape);
  if (!call.ok()) return call.status();
  Tensor result(type);
  WithComputeType(input.element(), [&](auto tag) {
    using T = decltype(tag);
    Values<T> values(input);
    for (int64_t i = 0; i < outer * inner; ++i) {
      const T* x = values.data() + i / inner * length * inner + i % inner;
      int64_t best = 0;
      for (int64_t k = 1; k < length; ++k) {
        T a = x[best * inner], b = x[k * inner];
        bool better = a == a && (b != b || (maximum ? b > a : b < a));
        bool equal = a == b || (a != a && b != b);
        if (better || (last && equal)) best = k;
      }
      result.SetInt(i, best);
    }
  });
  return OneResult(std::move(result));
}

Results CumSum(Call& call) {
  const Tensor& input = call.Operand(0, "input");
  const TensorType& type = call.Result();
  size_t axis = static_cast<size_t>(call.Axis("axis", input));
  bool exclusive = call.Flag("exclusive"), reverse = call.Flag("reverse");
  call.RequireNumeric(input);
  call.RequireElement("the result", type.element, input.element());
  call.RequireShape("the result", type.shape, input.shape());
  if (!call.ok()) return call.status();
  const Shape& shape = input.shape();
  int64_t outer = SizeOfDimensions(shape, 0, axis), length = shape[axis],
          inner = SizeOfDimensions(shape, axis + 1, shape.size());
  return WithComputeType(input.element(), [&](auto tag) -> Results {
    using T = decltype(tag);
    using S = Sum<T>;
    Values<T> values(input);
    std::vector<S> sums(static_cast<size_t>(values.size()));
    for (int64_t i = 0; i < outer * inner && length > 0; ++i) {
      int64_t base = i / inner * length * inner + i % inner;
      S sum{0};
      for (int64_t k = 0; k < length; ++k) {
        int64_t position = base + (reverse ? length - 1 - k : k) * inner;
        S x = static_cast<S>(values[position]);
        sums[static_cast<size_t>(position)] = exclusive ? sum : sum + x;
        sum += x;
      }
    }
    return OneResult(FromValues<S>(type, sums));
  });
}

constexpr Kernel kKernels[] = {
    {"reduce_sum", ReduceSum},     {"reduce_mean", ReduceMean},
    {"reduce_prod", ReduceProd},   {"reduce_max", ReduceExtreme},
    {"reduce_min", ReduceExtreme}, {"arg_max", ArgExtreme},
    {"arg_min", ArgExtreme},       {"cumsum", CumSum},
};

}  // namespace

absl::Span<const Kernel> ReduceKernels() { return kKernels; }

}  // namespace aot::reference
