#include "tests/perf/kernel_cases.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/model_builder.h"

namespace aot::perf {
namespace {

namespace import = aot::import::onnx;
using aot::onnx::TensorProto;
using import::ModelBuilder;

constexpr int64_t kOpset = 20;

int64_t Product(const std::vector<int64_t>& dims) {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

TensorProto Weights(const std::string& name, const std::vector<int64_t>& dims) {
  std::vector<float> values(static_cast<size_t>(Product(dims)));
  std::minstd_rand random(5);
  for (float& value : values) value = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  return import::FloatTensor(name, dims, values);
}

TensorProto ByteWeights(const std::string& name, const std::vector<int64_t>& dims) {
  std::vector<int32_t> values(static_cast<size_t>(Product(dims)));
  std::minstd_rand random(5);
  for (int32_t& value : values) value = static_cast<int32_t>(random() % 255) - 127;
  return import::Int32Tensor(name, TensorProto::INT8, dims, values);
}

// A convolution between data that is channels-last outside: x [1, size, size, channels], y alike.
ModelBuilder ChannelsLast(const ConvShape& s, TensorProto::DataType type) {
  ModelBuilder model(kOpset);
  model.Input("x", {1, s.size, s.size, s.channels}, type);
  model.Node("Transpose", {"x"}, {"first"}, {import::IntsAttribute("perm", {0, 3, 1, 2})});
  return model;
}

std::vector<aot::onnx::AttributeProto> ConvAttributes(const ConvShape& s) {
  const int64_t p = s.pad();
  return {import::IntsAttribute("kernel_shape", {s.kernel, s.kernel}), import::IntsAttribute("pads", {p, p, p, p}),
          import::IntsAttribute("strides", {s.stride, s.stride}), import::IntAttribute("group", s.group)};
}

compiler::Model Convolution(const ConvShape& s) {
  ModelBuilder model = ChannelsLast(s, TensorProto::FLOAT);
  model.Constant(Weights("w", {s.features, s.channels / s.group, s.kernel, s.kernel}));
  model.Constant(Weights("b", {s.features}));
  model.Node("Conv", {"first", "w", "b"}, {"c"}, ConvAttributes(s));
  model.Node("Relu", {"c"}, {"r"});
  model.Node("Transpose", {"r"}, {"y"}, {import::IntsAttribute("perm", {0, 2, 3, 1})});
  return model.Output("y").Model();
}

compiler::Model ByteConvolution(const ConvShape& s) {
  ModelBuilder model = ChannelsLast(s, TensorProto::UINT8);
  model.Constant(ByteWeights("w", {s.features, s.channels / s.group, s.kernel, s.kernel}));
  std::vector<int32_t> bias(static_cast<size_t>(s.features), 3);
  model.Constant(import::Int32Tensor("b", TensorProto::INT32, {s.features}, bias));
  model.Constant(import::FloatTensor("scale", {}, {0.02f}));
  model.Constant(import::FloatTensor("y_scale", {}, {0.5f}));
  model.Constant(import::Int32Tensor("zero", TensorProto::UINT8, {}, {128}));
  model.Constant(import::Int32Tensor("w_zero", TensorProto::INT8, {}, {0}));
  model.Node("QLinearConv", {"first", "scale", "zero", "w", "scale", "w_zero", "y_scale", "zero", "b"}, {"c"},
             ConvAttributes(s));
  model.Node("Transpose", {"c"}, {"y"}, {import::IntsAttribute("perm", {0, 2, 3, 1})});
  return model.Output("y").Model();
}

compiler::Model MatMul(int64_t rows, int64_t depth, int64_t cols) {
  ModelBuilder model(kOpset);
  model.Input("x", {rows, depth});
  model.Constant(Weights("w", {depth, cols})).Constant(Weights("b", {cols}));
  model.Node("MatMul", {"x", "w"}, {"p"}).Node("Add", {"p", "b"}, {"s"}).Node("Relu", {"s"}, {"y"});
  return model.Output("y").Model();
}

compiler::Model ByteMatMul(int64_t rows, int64_t depth, int64_t cols) {
  ModelBuilder model(kOpset);
  model.Input("x", {rows, depth}, TensorProto::UINT8);
  model.Constant(ByteWeights("w", {depth, cols}));
  model.Node("MatMulInteger", {"x", "w"}, {"y"});
  return model.Output("y").Model();
}

compiler::Model LayerNorm(int64_t rows, int64_t size) {
  ModelBuilder model(kOpset);
  model.Input("x", {rows, size});
  model.Constant(Weights("w", {size})).Constant(Weights("b", {size}));
  model.Node("LayerNormalization", {"x", "w", "b"}, {"y"}, {import::FloatAttribute("epsilon", 1e-5f)});
  return model.Output("y").Model();
}

compiler::Model Unary(const std::string& op, int64_t rows, int64_t size) {
  ModelBuilder model(kOpset);
  return model.Input("x", {rows, size}).Node(op, {"x"}, {"y"}).Output("y").Model();
}

std::string Name(const std::string& kind, const ConvShape& s) {
  return absl::StrCat(kind, " ", s.size, "x", s.size, " ", s.channels, "->", s.features);
}

class Cases {
 public:
  void AddMatMul(int64_t rows, int64_t depth, int64_t cols) {
    KernelCase& c = Add(absl::StrCat("GEMM ", rows, "x", depth, "x", cols), MatMul(rows, depth, cols));
    c.products = static_cast<double>(rows * depth * cols);
    c.wanted_share = 0.95;
    c.peer = [=] { return DnnlMatMul(rows, depth, cols, Precision::kFloat); };
  }
  void AddByteMatMul(int64_t rows, int64_t depth, int64_t cols) {
    KernelCase& c = Add(absl::StrCat("int8 GEMM ", rows, "x", depth, "x", cols), ByteMatMul(rows, depth, cols));
    c.precision = Precision::kBytes;
    c.products = static_cast<double>(rows * depth * cols);
    c.wanted_share = 0.9;
    c.peer = [=] { return DnnlMatMul(rows, depth, cols, Precision::kBytes); };
  }
  // Direct: weights may not grow.
  void AddDirect(const std::string& kind, const ConvShape& s, double wanted_share) {
    KernelCase& c = Add(Name(kind, s), Convolution(s));
    c.optimize_for = compiler::OptimizeFor::kSize;
    c.products = s.products();
    c.wanted_share = wanted_share;
    c.peer = [=] { return DnnlConvolution(s, Precision::kFloat, /*any_algorithm=*/false); };
  }
  void AddMinimal(const ConvShape& s, const std::string& faster_than, double wanted_factor) {
    KernelCase& c = Add(Name("minimal filtering 3x3", s), Convolution(s));
    c.products = s.products();
    c.faster_than = faster_than;
    c.wanted_factor = wanted_factor;
    c.peer = [=] { return DnnlConvolution(s, Precision::kFloat, /*any_algorithm=*/true); };
  }
  void AddBytes(const std::string& kind, const ConvShape& s, double wanted_share) {
    KernelCase& c = Add(Name(kind, s), ByteConvolution(s));
    c.precision = Precision::kBytes;
    c.products = s.products();
    c.wanted_share = wanted_share;
    c.peer = [=] { return DnnlConvolution(s, Precision::kBytes, /*any_algorithm=*/false); };
  }
  KernelCase& Add(std::string name, compiler::Model model) {
    KernelCase& c = cases_.emplace_back();
    c.name = std::move(name);
    c.model = std::move(model);
    return c;
  }
  std::vector<KernelCase> Take() { return std::move(cases_); }

 private:
  std::vector<KernelCase> cases_;
};

}  // namespace

std::vector<KernelCase> KernelCases() {
  Cases cases;
  cases.AddMatMul(384, 384, 384);
  cases.AddMatMul(128, 1536, 384);
  cases.AddMatMul(128, 384, 1536);
  cases.AddDirect("1x1", {14, 256, 512, 1}, 0.95);
  cases.AddDirect("1x1", {56, 64, 256, 1}, 0.95);
  cases.AddDirect("1x1", {14, 1024, 256, 1}, 0.95);
  const ConvShape wide = {56, 64, 64, 3}, deep = {14, 256, 256, 3}, last = {7, 512, 512, 3};
  cases.AddDirect("direct 3x3", wide, 0.95);
  cases.AddDirect("direct 3x3", deep, 0.95);
  cases.AddMinimal(wide, Name("direct 3x3", wide), 2.5);
  cases.AddMinimal(deep, Name("direct 3x3", deep), 0);
  cases.AddMinimal(last, "", 0);
  cases.AddDirect("depthwise 3x3", {56, 144, 144, 3, 1, 144}, 0.8);
  cases.AddDirect("depthwise 3x3", {14, 576, 576, 3, 1, 576}, 0.8);
  cases.AddByteMatMul(384, 384, 384);
  cases.AddByteMatMul(128, 1536, 384);
  cases.AddBytes("int8 1x1", {14, 256, 512, 1}, 0.9);
  cases.AddBytes("int8 3x3", {14, 256, 256, 3}, 0);
  cases.AddBytes("int8 depthwise 3x3", {56, 144, 144, 3, 1, 144}, 0);
  cases.Add("LayerNorm 128x384", LayerNorm(128, 384)).peer = [] { return DnnlLayerNorm(128, 384); };
  cases.Add("softmax 1536x128", Unary("Softmax", 1536, 128)).peer = [] { return DnnlSoftmax(1536, 128); };
  cases.Add("GELU 128x1536", Unary("Gelu", 128, 1536)).peer = [] { return DnnlGelu(128, 1536); };
  return cases.Take();
}

}  // namespace aot::perf
