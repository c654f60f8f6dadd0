#include "tests/perf/dnnl_kernel.h"

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <utility>

namespace aot::perf {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::primitive_attr;
using dnnl::prop_kind;
using Tag = memory::format_tag;
using Type = memory::data_type;

class Kernel : public DnnlKernel {
 public:
  Kernel() : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  void Run() override {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

  const dnnl::engine& engine() const { return engine_; }
  void Set(dnnl::primitive primitive) { primitive_ = std::move(primitive); }
  // Memory of its own for an argument, filled with small values: the time doesn't depend on them, but denormals would
  // show.
  void Bind(int argument, const memory::desc& description) {
    memory data(description, engine_);
    auto* bytes = static_cast<uint8_t*>(data.get_data_handle());
    const bool is_float = description.data_type() == Type::f32;
    const size_t size = description.get_size();
    if (is_float) {
      auto* values = reinterpret_cast<float*>(bytes);
      for (size_t i = 0; i < size / sizeof(float); ++i) values[i] = 0.01f * static_cast<float>(i % 101) - 0.5f;
    } else {
      for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i % 7);
    }
    arguments_.emplace(argument, std::move(data));
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::unordered_map<int, memory> arguments_;
};

primitive_attr Relu() {
  dnnl::post_ops operations;
  operations.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
  primitive_attr attributes;
  attributes.set_post_ops(operations);
  return attributes;
}

}  // namespace

std::unique_ptr<DnnlKernel> DnnlConvolution(const ConvShape& s, Precision precision, bool any_algorithm) {
  const bool bytes = precision == Precision::kBytes;
  const Type from = bytes ? Type::u8 : Type::f32, weight = bytes ? Type::s8 : Type::f32, to = from;
  const Type start = bytes ? Type::s32 : Type::f32;
  const int64_t size = s.result_size();
  memory::dims filter = {s.features, s.channels, s.kernel, s.kernel};
  if (s.group > 1) filter = {s.group, s.features / s.group, s.channels / s.group, s.kernel, s.kernel};
  primitive_attr attributes = Relu();
  if (bytes) attributes.set_output_scales(0, {0.01f});
  auto kernel = std::make_unique<Kernel>();
  const dnnl::convolution_forward::desc description(
      prop_kind::forward_inference, any_algorithm ? algorithm::convolution_auto : algorithm::convolution_direct,
      memory::desc({1, s.channels, s.size, s.size}, from, Tag::any), memory::desc(filter, weight, Tag::any),
      memory::desc({s.features}, start, Tag::a), memory::desc({1, s.features, size, size}, to, Tag::any),
      {s.stride, s.stride}, {s.pad(), s.pad()}, {s.pad(), s.pad()});
  const dnnl::convolution_forward::primitive_desc chosen(description, attributes, kernel->engine());
  kernel->Set(dnnl::convolution_forward(chosen));
  kernel->Bind(DNNL_ARG_SRC, chosen.src_desc());
  kernel->Bind(DNNL_ARG_WEIGHTS, chosen.weights_desc());
  kernel->Bind(DNNL_ARG_BIAS, chosen.bias_desc());
  kernel->Bind(DNNL_ARG_DST, chosen.dst_desc());
  return kernel;
}

std::unique_ptr<DnnlKernel> DnnlMatMul(int64_t rows, int64_t depth, int64_t cols, Precision precision) {
  const bool bytes = precision == Precision::kBytes;
  const Type from = bytes ? Type::u8 : Type::f32, weight = bytes ? Type::s8 : Type::f32, to = bytes ? Type::s32 : from;
  auto kernel = std::make_unique<Kernel>();
  // As an inner product, whose weights oneDNN packs: its matmul takes no bias and ReLU faster.
  const dnnl::inner_product_forward::desc description(
      prop_kind::forward_inference, memory::desc({rows, depth}, from, Tag::any),
      memory::desc({cols, depth}, weight, Tag::any), memory::desc({cols}, bytes ? Type::s32 : Type::f32, Tag::a),
      memory::desc({rows, cols}, to, Tag::any));
  const dnnl::inner_product_forward::primitive_desc chosen(description, bytes ? primitive_attr() : Relu(),
                                                           kernel->engine());
  kernel->Set(dnnl::inner_product_forward(chosen));
  kernel->Bind(DNNL_ARG_SRC, chosen.src_desc());
  kernel->Bind(DNNL_ARG_WEIGHTS, chosen.weights_desc());
  kernel->Bind(DNNL_ARG_BIAS, chosen.bias_desc());
  kernel->Bind(DNNL_ARG_DST, chosen.dst_desc());
  return kernel;
}

std::unique_ptr<DnnlKernel> DnnlLayerNorm(int64_t rows, int64_t size) {
  auto kernel = std::make_unique<Kernel>();
  const memory::desc data({rows, size}, Type::f32, Tag::ab);
  const dnnl::layer_normalization_forward::desc description(
      prop_kind::forward_inference, data, 1e-5f,
      dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift);
  const dnnl::layer_normalization_forward::primitive_desc chosen(description, kernel->engine());
  kernel->Set(dnnl::layer_normalization_forward(chosen));
  const memory::desc vector({size}, Type::f32, Tag::a);
  kernel->Bind(DNNL_ARG_SRC, data);
  kernel->Bind(DNNL_ARG_SCALE, vector);
  kernel->Bind(DNNL_ARG_SHIFT, vector);
  kernel->Bind(DNNL_ARG_DST, data);
  return kernel;
}

std::unique_ptr<DnnlKernel> DnnlSoftmax(int64_t rows, int64_t size) {
  auto kernel = std::make_unique<Kernel>();
  const memory::desc data({rows, size}, Type::f32, Tag::ab);
  const dnnl::softmax_forward::primitive_desc chosen(dnnl::softmax_forward::desc(prop_kind::forward_inference, data, 1),
                                                     kernel->engine());
  kernel->Set(dnnl::softmax_forward(chosen));
  kernel->Bind(DNNL_ARG_SRC, data);
  kernel->Bind(DNNL_ARG_DST, data);
  return kernel;
}

std::unique_ptr<DnnlKernel> DnnlGelu(int64_t rows, int64_t size) {
  auto kernel = std::make_unique<Kernel>();
  const memory::desc data({rows, size}, Type::f32, Tag::ab);
  const dnnl::eltwise_forward::primitive_desc chosen(
      dnnl::eltwise_forward::desc(prop_kind::forward_inference, algorithm::eltwise_gelu_erf, data, 0, 0),
      kernel->engine());
  kernel->Set(dnnl::eltwise_forward(chosen));
  kernel->Bind(DNNL_ARG_SRC, data);
  kernel->Bind(DNNL_ARG_DST, data);
  return kernel;
}

}  // namespace aot::perf
