#include "server/testing/small_model.h"

#include <initializer_list>
#include <string>
#include <vector>

#include "third_party/onnx/onnx.pb.h"

namespace aot::server {
namespace {

constexpr int kFloat = 1;  // onnx.TensorProto.DataType.FLOAT

onnx::ModelProto EmptyModel() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain("");
  opset.set_version(17);
  model.mutable_graph()->set_name("small");
  return model;
}

void Describe(onnx::ValueInfoProto& value, const char* name, std::initializer_list<int64_t> shape) {
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(kFloat);
  for (int64_t dim : shape) type.mutable_shape()->add_dim()->set_dim_value(dim);
}

void AddConstant(onnx::GraphProto& graph, const char* name, std::initializer_list<int64_t> shape, uint32_t seed) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(kFloat);
  int64_t count = 1;
  for (int64_t dim : shape) {
    tensor.add_dims(dim);
    count *= dim;
  }
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int32_t>(seed) >> 16) / 65536.0f;
  }
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
}

void AddNode(onnx::GraphProto& graph, const char* name, const char* op, std::initializer_list<const char*> inputs,
             const char* output) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_name(name);
  node.set_op_type(op);
  for (const char* input : inputs) node.add_input(input);
  node.add_output(output);
}

}  // namespace

std::string WithExternalData(const std::string& bytes, const std::string& location, std::string* data) {
  onnx::ModelProto model;
  model.ParseFromString(bytes);
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    auto add = [&](const char* key, const std::string& value) {
      onnx::StringStringEntryProto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    };
    add("location", location);
    add("offset", std::to_string(data->size()));
    add("length", std::to_string(tensor.raw_data().size()));
    data->append(tensor.raw_data());
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  }
  return model.SerializeAsString();
}

std::string DenseModel(int64_t inputs, int64_t outputs, uint32_t seed) {
  onnx::ModelProto model = EmptyModel();
  onnx::GraphProto& graph = *model.mutable_graph();
  Describe(*graph.add_input(), "x", {1, inputs});
  Describe(*graph.add_output(), "y", {1, outputs});
  AddConstant(graph, "w", {inputs, outputs}, seed);
  AddConstant(graph, "b", {outputs}, seed + 1);
  AddNode(graph, "product", "MatMul", {"x", "w"}, "xw");
  AddNode(graph, "sum", "Add", {"xw", "b"}, "xwb");
  AddNode(graph, "relu", "Relu", {"xwb"}, "y");
  return model.SerializeAsString();
}

std::string UnsupportedModel() {
  onnx::ModelProto model = EmptyModel();
  onnx::GraphProto& graph = *model.mutable_graph();
  Describe(*graph.add_input(), "x", {1, 4});
  Describe(*graph.add_output(), "y", {1, 4});
  AddNode(graph, "bad_node", "NoSuchOperator", {"x"}, "y");
  return model.SerializeAsString();
}

}  // namespace aot::server
