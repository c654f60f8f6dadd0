// A small ONNX model for tests with the real compiler.
#pragma once

#include <cstdint>
#include <string>

namespace aot::server {

// y = Relu(x * w + b): x is 1 x inputs, w has inputs x outputs values that depend on `seed`. Opset 17, as bytes.
std::string DenseModel(int64_t inputs, int64_t outputs, uint32_t seed);

// A model with an operator that doesn't exist, in node "bad_node".
std::string UnsupportedModel();

// The same model with its constants as external data: they are moved to `data`, which the model calls `location`.
std::string WithExternalData(const std::string& model, const std::string& location, std::string* data);

}  // namespace aot::server
