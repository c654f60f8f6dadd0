// Pooling over 1 to 3 spatial dimensions in both layouts. Cells outside the input are ignored; windows may lie partly
// (ceil_mode) or wholly outside. A window without a cell gives the least value (max) or 0 (mean, p-norm).
#include <cmath>
#include <limits>

#include "compiler/reference/conversion.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"
#include "compiler/reference/window.h"

namespace aot::reference {
namespace {

// The valid positions of one window along one dimension.
struct Range {
  int64_t first_tap, last_tap;  // taps [first, last) lie inside the input
  int64_t padded_taps;          // how many lie inside the padded input
};

Range RangeOfWindow(const Window& w, size_t d, int64_t o) {
  Range range{w.kernel[d], 0, 0};
  for (int64_t k = 0; k < w.kernel[d]; ++k) {
    int64_t position = w.InputPosition(d, o, k);
    if (position < w.input[d] + w.pads_end[d] && position >= -w.pads_begin[d]) ++range.padded_taps;
    if (!w.IsInside(d, position)) continue;
    range.first_tap = std::min(range.first_tap, k);
    range.last_tap = k + 1;
  }
  return range;
}

// Reduces each window of each plane: state = step(state, element) from `initial`, then finish(state, cells inside,
// cells inside the padding).
template <class T, class State, class Step, class Finish>
Tensor PoolPlanes(const Window& w, const Tensor& input, const TensorType& type, State initial, Step step,
                  Finish finish) {
  Values<T> values(input);
  std::vector<State> results(static_cast<size_t>(*ElementCount(type.shape)));
  std::array<std::vector<Range>, kSpatial> ranges;
  for (size_t d = 0; d < kSpatial; ++d) {
    for (int64_t o = 0; o < w.output[d]; ++o) ranges[d].push_back(RangeOfWindow(w, d, o));
  }
  size_t next = 0;
  for (int64_t plane = 0; plane < w.batch * w.input_channels; ++plane) {
    const T* data = values.data() + plane * w.input_size();
    for (int64_t oz = 0; oz < w.output[0]; ++oz) {
      for (int64_t oy = 0; oy < w.output[1]; ++oy) {
        for (int64_t ox = 0; ox < w.output[2]; ++ox) {
          const Range &rz = ranges[0][static_cast<size_t>(oz)], &ry = ranges[1][static_cast<size_t>(oy)];
          const Range& rx = ranges[2][static_cast<size_t>(ox)];
          State state = initial;
          int64_t cells = 0;
          for (int64_t kz = rz.first_tap; kz < rz.last_tap; ++kz) {
            for (int64_t ky = ry.first_tap; ky < ry.last_tap; ++ky) {
              int64_t z = w.InputPosition(0, oz, kz), y = w.InputPosition(1, oy, ky);
              const T* row = data + (z * w.input[1] + y) * w.input[2];
              for (int64_t kx = rx.first_tap; kx < rx.last_tap; ++kx, ++cells) {
                state = step(state, row[w.InputPosition(2, ox, kx)]);
              }
            }
          }
          results[next++] = finish(state, cells, rz.padded_taps * ry.padded_taps * rx.padded_taps);
        }
      }
    }
  }
  return FromValues<State>(type, results);
}

struct Pooling {
  Window window;
  Tensor input;     // channels first
  TensorType type;  // channels first
};

Pooling Read(Call& call) {
  Pooling p;
  const Tensor& input = call.Operand(0, "input");
  const TensorType& type = call.Result();
  p.window = ReadWindow(call, input, type, call.Ints("kernel"));
  call.RequireElement("the result", type.element, input.element());
  call.RequireNumeric(input);
  call.Require(p.window.input_channels == p.window.output_channels, "the result has ", p.window.output_channels,
               " channels, needs ", p.window.input_channels);
  if (!call.ok()) return p;
  // The taps of a window are walked one by one: bound them before the work.
  constexpr int64_t kMaxKernel = 1 << 20;
  for (int64_t kernel : p.window.kernel) call.Require(kernel <= kMaxKernel, "kernel ", kernel, " exceeds ", kMaxKernel);
  if (!call.ok()) return p;
  p.input = ChannelsFirst(input, p.window.channels_last);
  p.type = ChannelsFirstType(type, p.window.channels_last);
  return p;
}

template <class T>
T Least(ElementType type) {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  return type == ElementType::kUint64 ? T{0} : static_cast<T>(RangeOf(type).low);
}

Results MaxPool(Call& call) {
  Pooling p = Read(call);
  if (!call.ok()) return call.status();
  Tensor result = WithComputeType(p.type.element, [&](auto tag) {
    using T = decltype(tag);
    return PoolPlanes<T, T>(
        p.window, p.input, p.type, Least<T>(p.type.element), [](T a, T x) { return x > a || x != x ? x : a; },
        [](T a, int64_t, int64_t) { return a; });
  });
  return OneResult(ToLayout(std::move(result), p.window.channels_last));
}

template <class Step, class Finish>
Results FloatPool(Call& call, const Pooling& p, Step step, Finish finish) {
  call.RequireSupported(IsFloat(p.type.element), p.type.element);
  if (!call.ok()) return call.status();
  Tensor result;
  if (p.type.element == ElementType::kFloat64) {
    result = PoolPlanes<double, double>(p.window, p.input, p.type, 0.0, step, finish);
  } else {
    result = PoolPlanes<float, double>(p.window, p.input, p.type, 0.0, step, finish);
  }
  return OneResult(ToLayout(std::move(result), p.window.channels_last));
}

Results AvgPool(Call& call) {
  bool count_include_pad = call.Flag("count_include_pad");
  Pooling p = Read(call);
  return FloatPool(
      call, p, [](double sum, double x) { return sum + x; },
      [count_include_pad](double sum, int64_t inside, int64_t padded) {
        int64_t count = count_include_pad ? padded : inside;
        return count == 0 ? 0 : sum / static_cast<double>(count);
      });
}

Results LpPool(Call& call) {
  double exponent = static_cast<double>(call.Int("p"));
  call.Require(exponent >= 1, "p is ", exponent, ", needs at least 1");
  Pooling p = Read(call);
  return FloatPool(
      call, p, [exponent](double sum, double x) { return sum + std::pow(std::fabs(x), exponent); },
      [exponent](double sum, int64_t, int64_t) { return std::pow(sum, 1 / exponent); });
}

constexpr Kernel kKernels[] = {{"max_pool", MaxPool}, {"avg_pool", AvgPool}, {"lp_pool", LpPool}};

}  // namespace

absl::Span<const Kernel> PoolKernels() { return kKernels; }

}  // namespace aot::reference
