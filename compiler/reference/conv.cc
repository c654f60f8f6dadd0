// Convolution and transposed convolution, grouped and dilated, over 1 to 3 spatial dimensions in both layouts.
#include <numeric>

#include "compiler/reference/broadcast.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/product.h"
#include "compiler/reference/tensor_access.h"
#include "compiler/reference/window.h"

namespace aot::reference {
namespace {

struct Convolution {
  Window window;
  int64_t group = 1;
  int64_t group_inputs = 0, group_outputs = 0;  // channels of one group
  Tensor input, filter;                         // channels first
  const Tensor* bias = nullptr;
  TensorType type;  // channels first
};

// filter channels first: [M, C/group, kernel] for conv, [C, M/group, kernel] for conv_transpose. Channels last have the
// kernel first; conv also has its two channel dimensions the other way round.
Tensor FilterChannelsFirst(const Tensor& filter, bool channels_last, bool transposed) {
  if (!channels_last) return filter;
  size_t last = filter.shape().size() - 1;
  Tensor moved = MoveDimension(MoveDimension(filter, last, 0), last, 0);  // [.., X, Y] -> [X, Y, ..]
  return transposed ? moved : MoveDimension(moved, 0, 1);
}

Convolution Read(Call& call, bool transposed) {
  Convolution c;
  const Tensor &input = call.Operand(0, "input"), &filter = call.Operand(1, "filter");
  c.bias = call.OptionalOperand(2);
  const TensorType& type = call.Result();
  c.group = call.Int("group");
  size_t rank = SpatialRank(call, input);
  call.RequireNumeric(input);
  call.RequireNumeric(filter);
  call.Require(
      IsFloat(input.element()) == IsFloat(filter.element()) && IsFloat(input.element()) == IsFloat(type.element),
      "input ", Name(input.element()), ", filter ", Name(filter.element()), " and result ", Name(type.element),
      " must be all floats or all integers");
  call.Require(filter.shape().size() == rank + 2, "operand 1 (filter) has shape ", ToString(filter.shape()),
               ", needs rank ", rank + 2);
  if (!call.ok()) return c;

  bool channels_last = call.Flag("channels_last");
  c.filter = FilterChannelsFirst(filter, channels_last, transposed);
  const Shape& f = c.filter.shape();
  c.window = ReadWindow(call, input, type, Shape(f.begin() + 2, f.end()));
  if (!call.ok()) return c;
  const Window& w = c.window;
  call.Require(c.group >= 1 && w.input_channels % c.group == 0 && w.output_channels % c.group == 0, "group ", c.group,
               " does not divide ", w.input_channels, " input and ", w.output_channels, " output channels");
  if (!call.ok()) return c;
  c.group_inputs = w.input_channels / c.group;
  c.group_outputs = w.output_channels / c.group;
  int64_t first = transposed ? w.input_channels : w.output_channels;
  int64_t second = transposed ? c.group_outputs : c.group_inputs;
  call.Require(f[0] == first && f[1] == second, "operand 1 (filter) of shape ", ToString(filter.shape()), " has ", f[0],
               " and ", f[1], " channels, needs ", first, " and ", second);
  if (c.bias != nullptr) {
    call.RequireShape("operand 2 (bias)", c.bias->shape(), {w.output_channels});
    call.Require(
        IsFloat(c.bias->element()) == IsFloat(type.element) && ComputeTypeOf(c.bias->element()) != Compute::kNone,
        "operand 2 (bias) has element type ", Name(c.bias->element()), ", which does not fit");
  }
  c.input = ChannelsFirst(Centred(call, input, call.Int("input_zero_point", 0)), channels_last);
  c.type = ChannelsFirstType(type, channels_last);
  return c;
}

// The input elements that the taps of some windows see, [channels * taps][windows]; zero outside. Windows [begin, end)
// of a channel group whose first channel starts at `input`.
template <class T>
std::vector<T> Im2col(const Convolution& c, const T* input, int64_t begin, int64_t end) {
  const Window& w = c.window;
  int64_t columns = end - begin;
  std::vector<T> matrix(static_cast<size_t>(c.group_inputs * w.kernel_size() * columns), T{0});
  T* row = matrix.data();
  for (int64_t channel = 0; channel < c.group_inputs; ++channel) {
    const T* plane = input + channel * w.input_size();
    for (int64_t kz = 0; kz < w.kernel[0]; ++kz) {
      for (int64_t ky = 0; ky < w.kernel[1]; ++ky) {
        for (int64_t kx = 0; kx < w.kernel[2]; ++kx, row += columns) {
          int64_t ox = begin % w.output[2], oy = begin / w.output[2] % w.output[1],
                  oz = begin / w.output[2] / w.output[1];
          for (int64_t column = 0; column < columns; ++column) {
            int64_t z = w.InputPosition(0, oz, kz), y = w.InputPosition(1, oy, ky), x = w.InputPosition(2, ox, kx);
            if (w.IsInside(0, z) && w.IsInside(1, y) && w.IsInside(2, x)) {
              row[column] = plane[(z * w.input[1] + y) * w.input[2] + x];
            }
            if (++ox == w.output[2]) {
              ox = 0;
              if (++oy == w.output[1]) oy = 0, ++oz;
            }
          }
        }
      }
    }
  }
  return matrix;
}

// The sums of all output elements, [batch][channel][position], starting from the bias.
template <class T>
std::vector<Sum<T>> StartingFromBias(const Convolution& c) {
  const Window& w = c.window;
  std::vector<Sum<T>> sums(static_cast<size_t>(*ElementCount(c.type.shape)), Sum<T>{0});
  if (c.bias == nullptr || sums.empty()) return sums;
  Values<Sum<T>> bias(*c.bias);
  Sum<T>* plane = sums.data();
  for (int64_t i = 0; i < w.batch * w.output_channels; ++i, plane += w.output_size()) {
    std::fill_n(plane, w.output_size(), bias[i % w.output_channels]);
  }
  return sums;
}

template <class T>
Tensor Convolve(const Convolution& c) {
  const Window& w = c.window;
  Values<T> input(c.input), filter(c.filter);
  std::vector<Sum<T>> sums = StartingFromBias<T>(c);
  if (sums.empty()) return Tensor(c.type);
  int64_t depth = c.group_inputs * w.kernel_size(), positions = w.output_size();
  constexpr int64_t kTile = 512;
  std::vector<Sum<T>> tile(static_cast<size_t>(c.group_outputs * kTile));
  for (int64_t n = 0; n < w.batch; ++n) {
    for (int64_t g = 0; g < c.group; ++g) {
      const T* group_input = input.data() + (n * w.input_channels + g * c.group_inputs) * w.input_size();
      const T* group_filter = filter.data() + g * c.group_outputs * depth;
      Sum<T>* group_sums = sums.data() + (n * w.output_channels + g * c.group_outputs) * positions;
      for (int64_t begin = 0; begin < positions; begin += kTile) {
        int64_t width = std::min(kTile, positions - begin);
        std::vector<T> columns = Im2col(c, group_input, begin, begin + width);
        Multiply(c.group_outputs, width, depth, group_filter, columns.data(), tile.data());
        for (int64_t m = 0; m < c.group_outputs; ++m) {
          for (int64_t i = 0; i < width; ++i)
            group_sums[m * positions + begin + i] += tile[static_cast<size_t>(m * width + i)];
        }
      }
    }
  }
  return FromValues<Sum<T>>(c.type, sums);
}

// Adds one input plane through one filter plane to one output plane. The roles of the window are swapped: the window's
// "output" index walks the input, the position it computes lies in the output.
template <class T>
void ScatterPlane(const Window& w, const T* input, const T* filter, Sum<T>* sums) {
  auto target = [&w](size_t d, int64_t i, int64_t k) { return w.InputPosition(d, i, k); };
  auto inside = [&w](size_t d, int64_t o) { return o >= 0 && o < w.output[d]; };
  for (int64_t kz = 0; kz < w.kernel[0]; ++kz) {
    for (int64_t ky = 0; ky < w.kernel[1]; ++ky) {
      for (int64_t kx = 0; kx < w.kernel[2]; ++kx) {
        Sum<T> weight = static_cast<Sum<T>>(filter[(kz * w.kernel[1] + ky) * w.kernel[2] + kx]);
        for (int64_t iz = 0; iz < w.input[0]; ++iz) {
          int64_t oz = target(0, iz, kz);
          if (!inside(0, oz)) continue;
          for (int64_t iy = 0; iy < w.input[1]; ++iy) {
            int64_t oy = target(1, iy, ky);
            if (!inside(1, oy)) continue;
            const T* row = input + (iz * w.input[1] + iy) * w.input[2];
            Sum<T>* out = sums + (oz * w.output[1] + oy) * w.output[2];
            for (int64_t ix = 0; ix < w.input[2]; ++ix) {
              int64_t ox = target(2, ix, kx);
              if (inside(2, ox)) out[ox] += weight * static_cast<Sum<T>>(row[ix]);
            }
          }
        }
      }
    }
  }
}

template <class T>
Tensor ConvolveTransposed(const Convolution& c) {
  const Window& w = c.window;
  Values<T> input(c.input), filter(c.filter);
  std::vector<Sum<T>> sums = StartingFromBias<T>(c);
  if (sums.empty()) return Tensor(c.type);
  for (int64_t n = 0; n < w.batch; ++n) {
    for (int64_t channel = 0; channel < w.input_channels; ++channel) {
      const T* plane = input.data() + (n * w.input_channels + channel) * w.input_size();
      int64_t first_output = channel / c.group_inputs * c.group_outputs;
      for (int64_t m = 0; m < c.group_outputs; ++m) {
        const T* taps = filter.data() + (channel * c.group_outputs + m) * w.kernel_size();
        ScatterPlane(w, plane, taps, sums.data() + (n * w.output_channels + first_output + m) * w.output_size());
      }
    }
  }
  return FromValues<Sum<T>>(c.type, sums);
}

Results Conv(Call& call) {
  Convolution c = Read(call, /*transposed=*/false);
  if (!call.ok()) return call.status();
  Tensor result;
  if (!IsFloat(c.type.element)) {
    result = Convolve<uint64_t>(c);
  } else if (c.input.element() == ElementType::kFloat64) {
    result = Convolve<double>(c);
  } else {
    result = Convolve<float>(c);
  }
  return OneResult(ToLayout(std::move(result), c.window.channels_last));
}

Results ConvTranspose(Call& call) {
  Convolution c = Read(call, /*transposed=*/true);
  if (!call.ok()) return call.status();
  Tensor result;
  if (!IsFloat(c.type.element)) {
    result = ConvolveTransposed<uint64_t>(c);
  } else if (c.input.element() == ElementType::kFloat64) {
    result = ConvolveTransposed<double>(c);
  } else {
    result = ConvolveTransposed<float>(c);
  }
  return OneResult(ToLayout(std::move(result), c.window.channels_last));
}

constexpr Kernel kKernels[] = {{"conv", Conv}, {"conv_transpose", ConvTranspose}};

}  // namespace

absl::Span<const Kernel> ConvKernels() { return kKernels; }

}  // namespace aot::reference
