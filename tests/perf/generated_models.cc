#include "tests/perf/generated_models.h"

#include <random>

#include "third_party/onnx/onnx.pb.h"

namespace aot::perf {
namespace {

using aot::onnx::AttributeProto;
using aot::onnx::GraphProto;
using aot::onnx::ModelProto;
using aot::onnx::TensorProto;

class Maker {
 public:
  explicit Maker(const std::vector<int64_t>& input_dims) {
    model_.set_ir_version(8);
    auto& opset = *model_.add_opset_import();
    opset.set_domain("");
    opset.set_version(17);
    graph_.set_name("generated");
    auto& input = *graph_.add_input();
    input.set_name("x");
    auto& type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(TensorProto::FLOAT);
    for (int64_t dim : input_dims) type.mutable_shape()->add_dim()->set_dim_value(dim);
  }

  // Values of about 1/sqrt(fan_in), so that long chains neither vanish nor overflow.
  std::string Weight(const std::vector<int64_t>& dims, float scale, float offset = 0) {
    TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name("w" + std::to_string(graph_.initializer_size()));
    tensor.set_data_type(TensorProto::FLOAT);
    int64_t count = 1;
    for (int64_t dim : dims) {
      tensor.add_dims(dim);
      count *= dim;
    }
    std::string& bytes = *tensor.mutable_raw_data();
    bytes.resize(static_cast<size_t>(count) * sizeof(float));
    auto* values = reinterpret_cast<float*>(bytes.data());
    for (int64_t i = 0; i < count; ++i) {
      values[i] = offset + scale * (static_cast<float>(random_() % 2001) / 1000.0f - 1.0f);
    }
    return tensor.name();
  }

  std::string Node(const std::string& op, const std::vector<std::string>& inputs) {
    auto& node = *graph_.add_node();
    node.set_op_type(op);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output("v" + std::to_string(graph_.node_size()));
    node.set_name(op + "_" + std::to_string(graph_.node_size()));
    return node.output(0);
  }
  void Ints(const std::string& name, const std::vector<int64_t>& values) {
    AttributeProto& attribute = *graph_.mutable_node(graph_.node_size() - 1)->add_attribute();
    attribute.set_name(name);
    attribute.set_type(AttributeProto::INTS);
    for (int64_t value : values) attribute.add_ints(value);
  }

  compiler::Model Finish(const std::string& output) {
    graph_.add_output()->set_name(output);
    *model_.mutable_graph() = std::move(graph_);
    compiler::Model model;
    model.bytes = model_.SerializeAsString();
    return model;
  }
  int nodes() const { return graph_.node_size(); }

 private:
  ModelProto model_;
  GraphProto graph_;
  std::minstd_rand random_{7};
};

compiler::Model Elementwise(int64_t nodes) {
  Maker m({1, 64});
  static const char* const kOps[] = {"Relu", "Tanh", "Neg", "Sigmoid", "Abs", "Sqrt"};
  std::string x = "x";
  for (int64_t i = 0; i < nodes; ++i) x = m.Node(kOps[i % 6], {x});
  return m.Finish(x);
}

compiler::Model Residual(int64_t nodes) {
  Maker m({1, 64});
  std::string x = "x";
  while (m.nodes() < nodes) x = m.Node("Add", {x, m.Node("Tanh", {m.Node("Mul", {x, m.Weight({64}, 1)})})});
  return m.Finish(x);
}

compiler::Model MatMuls(int64_t nodes) {
  Maker m({4, 16});
  std::string x = "x";
  while (m.nodes() < nodes) x = m.Node("Relu", {m.Node("MatMul", {x, m.Weight({16, 16}, 0.4f)})});
  return m.Finish(x);
}

compiler::Model Convolutions(int64_t nodes) {
  Maker m({1, 4, 8, 8});
  std::string x = "x";
  while (m.nodes() < nodes) {
    x = m.Node("Conv", {x, m.Weight({4, 4, 3, 3}, 0.3f)});
    m.Ints("pads", {1, 1, 1, 1});
    x = m.Node("BatchNormalization",
               {x, m.Weight({4}, 0.1f, 1), m.Weight({4}, 0.1f), m.Weight({4}, 0.1f), m.Weight({4}, 0.1f, 1)});
    x = m.Node("Relu", {x});
  }
  return m.Finish(x);
}

// Reductions, moves and arithmetic that fusion can't join over the whole length.
compiler::Model Mixed(int64_t nodes) {
  Maker m({8, 16});
  std::string x = "x";
  while (m.nodes() < nodes) {
    std::string y = m.Node("Transpose", {x});
    m.Ints("perm", {1, 0});
    y = m.Node("MatMul", {x, y});
    y = m.Node("Softmax", {y});
    y = m.Node("MatMul", {y, x});
    x = m.Node("LayerNormalization", {m.Node("Add", {x, y}), m.Weight({16}, 0.1f, 1)});
  }
  return m.Finish(x);
}

compiler::Model Initialisers(int64_t count) {
  Maker m({1, 8});
  std::vector<std::string> terms;
  std::string x = "x";
  for (int64_t i = 0; i < count; ++i) {
    terms.push_back(m.Weight({1, 8}, 1));
    if (terms.size() == 100) {
      terms.push_back(x);
      x = m.Node("Sum", terms);
      terms.clear();
    }
  }
  return m.Finish(x);
}

compiler::Model LargeConvolutions(int64_t megabytes) {
  const int64_t channels = 512;  // 9.4 MB a layer
  Maker m({1, channels, 4, 4});
  std::string x = "x";
  for (int64_t bytes = 0; bytes < megabytes << 20; bytes += channels * channels * 9 * 4) {
    x = m.Node("Conv", {x, m.Weight({channels, channels, 3, 3}, 0.02f)});
    m.Ints("pads", {1, 1, 1, 1});
    x = m.Node("BatchNormalization", {x, m.Weight({channels}, 0.1f, 1), m.Weight({channels}, 0.1f),
                                      m.Weight({channels}, 0.1f), m.Weight({channels}, 0.1f, 1)});
    x = m.Node("Relu", {x});
  }
  return m.Finish(x);
}

compiler::Model LargeMatMuls(int64_t megabytes) {
  const int64_t size = 1024;  // 4 MB a layer
  Maker m({8, size});
  std::string x = "x";
  for (int64_t bytes = 0; bytes < megabytes << 20; bytes += size * size * 4) {
    x = m.Node("Add", {m.Node("MatMul", {x, m.Weight({size, size}, 0.05f)}), m.Weight({size}, 0.1f)});
    x = m.Node("Relu", {x});
  }
  return m.Finish(x);
}

}  // namespace

const std::vector<GeneratedModel>& GeneratedModels() {
  static const auto* const models = new std::vector<GeneratedModel>{
      {"elementwise", "a chain of elementwise functions", Elementwise},
      {"residual", "x + tanh(w * x), repeated", Residual},
      {"matmul", "16x16 matrix products, each with weights of its own, and Relu", MatMuls},
      {"convolution", "4-channel convolutions with batch normalisation and Relu", Convolutions},
      {"mixed", "attention-like blocks of six nodes", Mixed},
      {"initialisers", "sums of 100 initialisers each", Initialisers},
      {"large-convolutions", "512-channel convolutions with batch normalisation; size in MB", LargeConvolutions},
      {"large-matmuls", "1024x1024 matrix products; size in MB", LargeMatMuls},
  };
  return *models;
}

}  // namespace aot::perf
