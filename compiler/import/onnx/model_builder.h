// Small models for tests, built in code, and the values that they give.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/pipeline.h"
#include "compiler/reference/tensor.h"
#include "third_party/onnx/onnx.pb.h"

namespace aot::import::onnx {

aot::onnx::AttributeProto IntAttribute(const std::string& name, int64_t value);
aot::onnx::AttributeProto IntsAttribute(const std::string& name, const std::vector<int64_t>& values);
aot::onnx::AttributeProto FloatAttribute(const std::string& name, float value);
aot::onnx::AttributeProto FloatsAttribute(const std::string& name, const std::vector<float>& values);
aot::onnx::AttributeProto StringAttribute(const std::string& name, const std::string& value);
aot::onnx::AttributeProto TensorAttribute(const std::string& name, const aot::onnx::TensorProto& value);
aot::onnx::AttributeProto GraphAttribute(const std::string& name, const aot::onnx::GraphProto& value);

aot::onnx::TensorProto FloatTensor(const std::string& name, const std::vector<int64_t>& dims,
                                   const std::vector<float>& values);
aot::onnx::TensorProto Int64Tensor(const std::string& name, const std::vector<int64_t>& dims,
                                   const std::vector<int64_t>& values);
// Every type that keeps its elements in int32_data.
aot::onnx::TensorProto Int32Tensor(const std::string& name, aot::onnx::TensorProto::DataType type,
                                   const std::vector<int64_t>& dims, const std::vector<int32_t>& values);

// Adds a node; its name is that of its first output with "_node" behind.
aot::onnx::NodeProto& AddNode(aot::onnx::GraphProto& graph, const std::string& op,
                              const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                              const std::vector<aot::onnx::AttributeProto>& attributes = {});

class ModelBuilder {
 public:
  explicit ModelBuilder(int64_t opset);

  // Dimensions below 0 are unnamed, strings symbols.
  ModelBuilder& Input(const std::string& name, const std::vector<int64_t>& dims,
                      aot::onnx::TensorProto::DataType type = aot::onnx::TensorProto::FLOAT);
  ModelBuilder& SymbolicInput(const std::string& name, const std::vector<std::string>& dims);
  ModelBuilder& Output(const std::string& name);
  ModelBuilder& Constant(const aot::onnx::TensorProto& tensor);
  ModelBuilder& Node(const std::string& op, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs,
                     const std::vector<aot::onnx::AttributeProto>& attributes = {});
  aot::onnx::ModelProto& proto() { return proto_; }

  compiler::Model Model() const;

 private:
  aot::onnx::ModelProto proto_;
};

reference::Tensor Floats(const reference::Shape& shape, const std::vector<float>& values);
reference::Tensor Integers(reference::ElementType element, const reference::Shape& shape,
                           const std::vector<int64_t>& values);

// All elements of a tensor of any numeric type.
std::vector<double> Values(const reference::Tensor& tensor);

// Imports and runs through the reference. Outputs whose dimensions the data decides are cut to them; the outputs that
// tell those dimensions come last.
absl::StatusOr<std::vector<reference::Tensor>> RunModel(const ModelBuilder& model,
                                                        const std::vector<reference::Tensor>& inputs,
                                                        const compiler::Options& options = {});
// The status of an import alone.
absl::Status ImportStatus(const compiler::Model& model, const compiler::Options& options = {});

}  // namespace aot::import::onnx
