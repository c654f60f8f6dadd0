#include "tests/e2e/testing/small_net.h"

#include <algorithm>
#include <initializer_list>

#include "third_party/onnx/onnx.pb.h"

namespace aot::e2e {
namespace {

constexpr int64_t kChannels = 3, kSide = 8, kFilters = 8, kTaps = 3, kClasses = SmallNet::kOutputs;
constexpr int kFloat = 1;  // onnx.TensorProto.DataType.FLOAT

// Values in [-1, 1) from a linear congruential generator: the same on every machine.
std::vector<float> Values(int64_t count, uint32_t* seed) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    *seed = *seed * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int32_t>(*seed) >> 16) / 32768.0f;
  }
  return values;
}

void Describe(onnx::ValueInfoProto& value, const char* name, std::initializer_list<int64_t> rest) {
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(kFloat);
  type.mutable_shape()->add_dim()->set_dim_param("N");
  for (int64_t dim : rest) type.mutable_shape()->add_dim()->set_dim_value(dim);
}

void AddConstant(onnx::GraphProto& graph, const char* name, std::initializer_list<int64_t> shape,
                 const std::vector<float>& values) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(kFloat);
  for (int64_t dim : shape) tensor.add_dims(dim);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
}

onnx::NodeProto& AddNode(onnx::GraphProto& graph, const char* name, const std::string& op,
                         std::initializer_list<const char*> inputs, const char* output) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_name(name);
  node.set_op_type(op);
  for (const char* input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

}  // namespace

SmallNet::SmallNet(uint32_t seed)
    : kernel_(Values(kFilters * kChannels * kTaps * kTaps, &seed)),
      kernel_bias_(Values(kFilters, &seed)),
      dense_(Values(kFilters * kClasses, &seed)),
      dense_bias_(Values(kClasses, &seed)) {}

std::string SmallNet::Onnx(const std::string& activation) const {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("small_net");
  Describe(*graph.add_input(), "x", {kChannels, kSide, kSide});
  Describe(*graph.add_output(), "y", {kClasses});
  AddConstant(graph, "kernel", {kFilters, kChannels, kTaps, kTaps}, kernel_);
  AddConstant(graph, "kernel_bias", {kFilters}, kernel_bias_);
  AddConstant(graph, "dense", {kFilters, kClasses}, dense_);
  AddConstant(graph, "dense_bias", {kClasses}, dense_bias_);
  onnx::NodeProto& conv = AddNode(graph, "convolution", "Conv", {"x", "kernel", "kernel_bias"}, "features");
  onnx::AttributeProto& pads = *conv.add_attribute();
  pads.set_name("pads");
  pads.set_type(onnx::AttributeProto::INTS);
  for (int i = 0; i < 4; ++i) pads.add_ints(1);
  AddNode(graph, "activation", activation, {"features"}, "active");
  AddNode(graph, "average", "GlobalAveragePool", {"active"}, "mean");
  AddNode(graph, "flatten", "Flatten", {"mean"}, "flat");
  AddNode(graph, "dense", "Gemm", {"flat", "dense", "dense_bias"}, "y");
  return model.SerializeAsString();
}

std::vector<float> SmallNet::Evaluate(const std::vector<float>& x) const {
  std::vector<double> mean(kFilters, 0.0);
  for (int64_t filter = 0; filter < kFilters; ++filter) {
    for (int64_t at = 0; at < kSide * kSide; ++at) {
      double sum = kernel_bias_[static_cast<size_t>(filter)];
      for (int64_t tap = 0; tap < kChannels * kTaps * kTaps; ++tap) {
        const int64_t channel = tap / (kTaps * kTaps);
        const int64_t row = at / kSide + tap / kTaps % kTaps - 1, column = at % kSide + tap % kTaps - 1;
        if (row < 0 || row >= kSide || column < 0 || column >= kSide) continue;
        sum += kernel_[static_cast<size_t>(filter * kChannels * kTaps * kTaps + tap)] *
               x[static_cast<size_t>((channel * kSide + row) * kSide + column)];
      }
      mean[static_cast<size_t>(filter)] += std::max(sum, 0.0) / (kSide * kSide);
    }
  }
  std::vector<float> y;
  for (int64_t of = 0; of < kClasses; ++of) {
    double sum = dense_bias_[static_cast<size_t>(of)];
    for (int64_t filter = 0; filter < kFilters; ++filter)
      sum += mean[static_cast<size_t>(filter)] * dense_[static_cast<size_t>(filter * kClasses + of)];
    y.push_back(static_cast<float>(sum));
  }
  return y;
}

std::vector<float> SmallNetInput(uint32_t seed) { return Values(SmallNet::kInputs, &seed); }

}  // namespace aot::e2e
