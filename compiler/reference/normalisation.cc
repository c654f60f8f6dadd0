// layer_norm, rms_norm, batch_norm, instance_norm, group_norm and lrn. Statistics and formulas are computed in double
// and rounded once.
#include <cmath>

#include "compiler/reference/broadcast.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

// The input as doubles, results stored from doubles.
struct Norm {
  const Tensor& input;
  const TensorType& type;
};

Norm Read(Call& call) {
  Norm norm{call.Operand(0, "input"), call.Result()};
  call.RequireFloat(norm.input);
  call.RequireElement("the result", norm.type.element, norm.input.element());
  call.RequireShape("the result", norm.type.shape, norm.input.shape());
  return norm;
}

void RequireChannels(Call& call, absl::string_view what, const Tensor& tensor, int64_t channels) {
  call.RequireFloat(tensor);
  call.RequireShape(what, tensor.shape(), {channels});
}

// The channel dimension 1 and the sizes around it: batch, channels, inner.
struct Channels {
  int64_t batch = 0, channels = 0, inner = 0;
};
Channels ReadChannels(Call& call, const Tensor& input) {
  const Shape& shape = input.shape();
  if (!call.Require(shape.size() >= 2, "operand 0 (input) of shape ", ToString(shape), " has no channel dimension"))
    return {};
  return {shape[0], shape[1], SizeOfDimensions(shape, 2, shape.size())};
}

// Replaces values by (x - mean) / sqrt(variance + epsilon); without `centre` the mean counts as 0.
void Standardise(double* values, int64_t count, double epsilon, bool centre) {
  double mean = 0, variance = 0;
  for (int64_t i = 0; i < count && centre; ++i) mean += values[i];
  mean /= static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) variance += (values[i] - mean) * (values[i] - mean);
  double factor = 1 / std::sqrt(variance / static_cast<double>(count) + epsilon);
  for (int64_t i = 0; i < count; ++i) values[i] = (values[i] - mean) * factor;
}

std::vector<double> ToDoubles(const Tensor& tensor) {
  Values<double> values(tensor);
  return std::vector<double>(values.data(), values.data() + values.size());
}

// values = values * scale + bias, both optional and broadcast to the shape.
void ScaleAndShift(std::vector<double>& values, const Shape& shape, const Tensor* scale, const Tensor* bias) {
  for (const Tensor* operand : {scale, bias}) {
    if (operand == nullptr || values.empty()) continue;
    Values<double> factors(*operand);
    Strides strides = *BroadcastStrides(operand->shape(), shape);
    ForEachRow<1>(shape, {strides}, [&](int64_t position, const auto& offsets, int64_t length) {
      for (int64_t i = 0; i < length; ++i) {
        double factor = factors[offsets[0] + i * InnerStride(strides)];
        double& value = values[static_cast<size_t>(position + i)];
        value = operand == scale ? value * factor : value + factor;
      }
    });
  }
}

void RequireBroadcastsTo(Call& call, absl::string_view what, const Tensor* operand, const Shape& shape) {
  if (operand == nullptr) return;
  call.RequireFloat(*operand);
  call.Require(BroadcastStrides(operand->shape(), shape).has_value(), what, " of shape ", ToString(operand->shape()),
               " does not broadcast to ", ToString(shape));
}

// layer_norm (centred, optional scale and bias) and rms_norm.
Results NormaliseFromAxis(Call& call, bool centre) {
  Norm norm = Read(call);
  const Shape& shape = norm.input.shape();
  size_t axis = static_cast<size_t>(call.Axis("axis", norm.input));
  double epsilon = call.Float("epsilon");
  const Tensor *scale = call.OptionalOperand(1), *bias = centre ? call.OptionalOperand(2) : nullptr;
  RequireBroadcastsTo(call, "operand 1 (scale)", scale, shape);
  RequireBroadcastsTo(call, "operand 2 (bias)", bias, shape);
  if (!call.ok()) return call.status();
  std::vector<double> values = ToDoubles(norm.input);
  int64_t count = SizeOfDimensions(shape, axis, shape.size());
  for (int64_t begin = 0; count > 0 && begin < norm.input.size(); begin += count) {
    Standardise(values.data() + begin, count, epsilon, centre);
  }
  ScaleAndShift(values, shape, scale, bias);
  return OneResult(FromValues<double>(norm.type, values));
}

Results LayerNorm(Call& call) { return NormaliseFromAxis(call, /*centre=*/true); }
Results RmsNorm(Call& call) {
  call.Operand(1, "scale");
  return NormaliseFromAxis(call, /*centre=*/false);
}

Results BatchNorm(Call& call) {
  Norm norm = Read(call);
  const Shape& shape = norm.input.shape();
  bool channels_last = call.Flag("channels_last");
  double epsilon = call.Float("epsilon");
  const Tensor* parameters[4];
  constexpr const char* kNames[] = {"scale", "bias", "mean", "variance"};
  for (int i = 0; i < 4; ++i) parameters[i] = &call.Operand(i + 1, kNames[i]);
  if (!call.ok()) return call.status();
  if (!call.Require(shape.size() >= 1 && (channels_last || shape.size() >= 2), "operand 0 (input) of shape ",
                    ToString(shape), " has no channel dimension")) {
    return call.status();
  }
  size_t axis = channels_last ? shape.size() - 1 : 1;
  int64_t channels = shape[axis], inner = SizeOfDimensions(shape, axis + 1, shape.size());
  for (int i = 0; i < 4; ++i)
    RequireChannels(call, absl::StrCat("operand ", i + 1, " (", kNames[i], ")"), *parameters[i], channels);
  if (!call.ok()) return call.status();

  Values<double> scale(*parameters[0]), bias(*parameters[1]), mean(*parameters[2]), variance(*parameters[3]);
  std::vector<double> values = ToDoubles(norm.input);
  for (int64_t i = 0; i < norm.input.size(); ++i) {
    int64_t c = i / inner % channels;
    double& x = values[static_cast<size_t>(i)];
    x = (x - mean[c]) / std::sqrt(variance[c] + epsilon) * scale[c] + bias[c];
  }
  return OneResult(FromValues<double>(norm.type, values));
}

// Normalises each run of channels / groups channels of an instance, then scales and shifts each channel.
Results NormaliseGroups(Call& call, const Norm& norm, const Channels& c, int64_t groups) {
  double epsilon = call.Float("epsilon");
  const Tensor &scale_tensor = call.Operand(1, "scale"), &bias_tensor = call.Operand(2, "bias");
  RequireChannels(call, "operand 1 (scale)", scale_tensor, c.channels);
  RequireChannels(call, "operand 2 (bias)", bias_tensor, c.channels);
  if (!call.ok()) return call.status();
  Values<double> scale(scale_tensor), bias(bias_tensor);
  std::vector<double> values = ToDoubles(norm.input);
  if (values.empty()) return OneResult(Tensor(norm.type));
  int64_t count = c.channels / groups * c.inner;
  for (int64_t begin = 0; begin < norm.input.size(); begin += count) {
    Standardise(values.data() + begin, count, epsilon, /*centre=*/true);
  }
  for (int64_t i = 0; i < norm.input.size(); ++i) {
    int64_t channel = i / c.inner % c.channels;
    values[static_cast<size_t>(i)] = values[static_cast<size_t>(i)] * scale[channel] + bias[channel];
  }
  return OneResult(FromValues<double>(norm.type, values));
}

Results InstanceNorm(Call& call) {
  Norm norm = Read(call);
  Channels channels = ReadChannels(call, norm.input);
  if (!call.ok()) return call.status();
  return NormaliseGroups(call, norm, channels, std::max<int64_t>(channels.channels, 1));
}

Results GroupNorm(Call& call) {
  Norm norm = Read(call);
  Channels channels = ReadChannels(call, norm.input);
  int64_t groups = call.Int("groups");
  call.Require(groups >= 1 && channels.channels % std::max<int64_t>(groups, 1) == 0, "groups ", groups,
               " does not divide ", channels.channels, " channels");
  if (!call.ok()) return call.status();
  return NormaliseGroups(call, norm, channels, groups);
}

// The window of channel c reaches from c - floor((size-1)/2) to c + ceil((size-1)/2).
Results Lrn(Call& call) {
  Norm norm = Read(call);
  Channels c = ReadChannels(call, norm.input);
  int64_t size = call.Int("size");
  double alpha = call.Float("alpha"), beta = call.Float("beta"), bias = call.Float("bias");
  call.Require(size >= 1, "size is ", size, ", needs at least 1");
  if (!call.ok()) return call.status();
  Values<double> x(norm.input);
  std::vector<double> results(static_cast<size_t>(x.size()));
  int64_t below = std::min((size - 1) / 2, c.channels), above = std::min(size / 2, c.channels);
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t channel = i / c.inner % c.channels;
    int64_t first = std::max<int64_t>(channel - below, 0), last = std::min(channel + above, c.channels - 1);
    double sum = 0;
    for (int64_t k = first; k <= last; ++k) {
      double value = x[i + (k - channel) * c.inner];
      sum += value * value;
    }
    results[static_cast<size_t>(i)] = x[i] / std::pow(bias + alpha / static_cast<double>(size) * sum, beta);
  }
  return OneResult(FromValues<double>(norm.type, results));
}

constexpr Kernel kKernels[] = {
    {"layer_norm", LayerNorm},       {"rms_norm", RmsNorm},     {"batch_norm", BatchNorm},
    {"instance_norm", InstanceNorm}, {"group_norm", GroupNorm}, {"lrn", Lrn},
};

}  // namespace

absl::Span<const Kernel> NormalisationKernels() { return kKernels; }

}  // namespace aot::reference
