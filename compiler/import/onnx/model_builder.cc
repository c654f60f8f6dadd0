#include "compiler/import/onnx/model_builder.h"

#include "compiler/import/onnx/import.h"
#include "compiler/ir/reference_bridge.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace aot::import::onnx {

using aot::onnx::AttributeProto;
using aot::onnx::GraphProto;
using aot::onnx::NodeProto;
using aot::onnx::TensorProto;
using aot::onnx::ValueInfoProto;
using reference::ElementType;
using reference::Tensor;
using reference::TensorType;

namespace {

AttributeProto Attribute(const std::string& name, AttributeProto::AttributeType type) {
  AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

TensorProto EmptyTensor(const std::string& name, TensorProto::DataType type, const std::vector<int64_t>& dims) {
  TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}

}  // namespace

AttributeProto IntAttribute(const std::string& name, int64_t value) {
  AttributeProto attribute = Attribute(name, AttributeProto::INT);
  attribute.set_i(value);
  return attribute;
}

AttributeProto IntsAttribute(const std::string& name, const std::vector<int64_t>& values) {
  AttributeProto attribute = Attribute(name, AttributeProto::INTS);
  for (int64_t value : values) attribute.add_ints(value);
  return attribute;
}

AttributeProto FloatAttribute(const std::string& name, float value) {
  AttributeProto attribute = Attribute(name, AttributeProto::FLOAT);
  attribute.set_f(value);
  return attribute;
}

AttributeProto FloatsAttribute(const std::string& name, const std::vector<float>& values) {
  AttributeProto attribute = Attribute(name, AttributeProto::FLOATS);
  for (float value : values) attribute.add_floats(value);
  return attribute;
}

AttributeProto StringAttribute(const std::string& name, const std::string& value) {
  AttributeProto attribute = Attribute(name, AttributeProto::STRING);
  attribute.set_s(value);
  return attribute;
}

AttributeProto TensorAttribute(const std::string& name, const TensorProto& value) {
  AttributeProto attribute = Attribute(name, AttributeProto::TENSOR);
  *attribute.mutable_t() = value;
  return attribute;
}

AttributeProto GraphAttribute(const std::string& name, const GraphProto& value) {
  AttributeProto attribute = Attribute(name, AttributeProto::GRAPH);
  *attribute.mutable_g() = value;
  return attribute;
}

TensorProto FloatTensor(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values) {
  TensorProto tensor = EmptyTensor(name, TensorProto::FLOAT, dims);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  return tensor;
}

TensorProto Int64Tensor(const std::string& name, const std::vector<int64_t>& dims, const std::vector<int64_t>& values) {
  TensorProto tensor = EmptyTensor(name, TensorProto::INT64, dims);
  for (int64_t value : values) tensor.add_int64_data(value);
  return tensor;
}

TensorProto Int32Tensor(const std::string& name, TensorProto::DataType type, const std::vector<int64_t>& dims,
                        const std::vector<int32_t>& values) {
  TensorProto tensor = EmptyTensor(name, type, dims);
  for (int32_t value : values) tensor.add_int32_data(value);
  return tensor;
}

NodeProto& AddNode(GraphProto& graph, const std::string& op, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, const std::vector<AttributeProto>& attributes) {
  NodeProto& node = *graph.add_node();
  node.set_op_type(op);
  node.set_name(outputs.front() + "_node");
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  for (const AttributeProto& attribute : attributes) *node.add_attribute() = attribute;
  return node;
}

ModelBuilder::ModelBuilder(int64_t opset) {
  proto_.set_ir_version(8);
  proto_.add_opset_import()->set_version(opset);
  proto_.mutable_graph()->set_name("test");
}

ModelBuilder& ModelBuilder::Input(const std::string& name, const std::vector<int64_t>& dims,
                                  TensorProto::DataType type) {
  ValueInfoProto& input = *proto_.mutable_graph()->add_input();
  input.set_name(name);
  input.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int64_t dim : dims) shape.add_dim()->set_dim_value(dim);
  return *this;
}

ModelBuilder& ModelBuilder::SymbolicInput(const std::string& name, const std::vector<std::string>& dims) {
  ValueInfoProto& input = *proto_.mutable_graph()->add_input();
  input.set_name(name);
  input.mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const std::string& dim : dims) shape.add_dim()->set_dim_param(dim);
  return *this;
}

ModelBuilder& ModelBuilder::Output(const std::string& name) {
  proto_.mutable_graph()->add_output()->set_name(name);
  return *this;
}

ModelBuilder& ModelBuilder::Constant(const TensorProto& tensor) {
  *proto_.mutable_graph()->add_initializer() = tensor;
  return *this;
}

ModelBuilder& ModelBuilder::Node(const std::string& op, const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs,
                                 const std::vector<AttributeProto>& attributes) {
  AddNode(*proto_.mutable_graph(), op, inputs, outputs, attributes);
  return *this;
}

compiler::Model ModelBuilder::Model() const {
  compiler::Model model;
  model.bytes = proto_.SerializeAsString();
  return model;
}

Tensor Floats(const reference::Shape& shape, const std::vector<float>& values) {
  Tensor tensor(TensorType{ElementType::kFloat32, shape});
  for (size_t i = 0; i < values.size(); ++i) tensor.SetFloat(static_cast<int64_t>(i), values[i]);
  return tensor;
}

Tensor Integers(ElementType element, const reference::Shape& shape, const std::vector<int64_t>& values) {
  Tensor tensor(TensorType{element, shape});
  for (size_t i = 0; i < values.size(); ++i) tensor.SetInt(static_cast<int64_t>(i), values[i]);
  return tensor;
}

std::vector<double> Values(const Tensor& tensor) {
  const bool real = reference::IsFloat(tensor.element());
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    values.push_back(real ? tensor.GetFloat(i) : static_cast<double>(tensor.GetInt(i)));
  }
  return values;
}

absl::StatusOr<std::vector<Tensor>> RunModel(const ModelBuilder& model, const std::vector<Tensor>& inputs,
                                             const compiler::Options& options) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto imported = Import(context, model.Model(), options);
  if (!imported.ok()) return imported.status();
  auto function = *imported->module->getOps<mlir::func::FuncOp>().begin();
  auto results = nn::Interpret(function, inputs);
  if (!results.ok()) return results.status();
  // The results may point into the context's constants. Where the data decides dimensions, the first elements count.
  std::vector<Tensor> copies;
  for (size_t i = 0; i < results->size(); ++i) {
    TensorType type = (*results)[i].type();
    if (const int64_t dims = imported->outputs[i].dims_output; dims >= 0) {
      const Tensor& found = (*results)[static_cast<size_t>(dims)];
      for (size_t d = 0; d < type.shape.size(); ++d) type.shape[d] = found.GetInt(static_cast<int64_t>(d));
    }
    Tensor copy(type);
    const absl::Span<uint8_t> bytes = copy.mutable_bytes();
    std::copy_n((*results)[i].bytes().begin(), bytes.size(), bytes.begin());
    copies.push_back(std::move(copy));
  }
  return copies;
}

absl::Status ImportStatus(const compiler::Model& model, const compiler::Options& options) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  return Import(context, model, options).status();
}

}  // namespace aot::import::onnx
