// Parses model bytes and checks what must hold before any work is done.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "third_party/onnx/onnx.pb.h"

namespace aot::import::onnx {

using aot::onnx::AttributeProto;
using aot::onnx::FunctionProto;
using aot::onnx::GraphProto;
using aot::onnx::ModelProto;
using aot::onnx::NodeProto;
using aot::onnx::SparseTensorProto;
using aot::onnx::TensorProto;
using aot::onnx::TypeProto;
using aot::onnx::ValueInfoProto;

// Nodes of a model with all subgraphs and functions, before and after inlining.
constexpr int64_t kMostNodes = 2'000'000;
// Graphs within attributes of nodes of graphs ...; deeper models are refused by the parser.
constexpr int kDeepestGraph = 64;
// The newest version of ONNX's own operators that the importer was checked against.
constexpr int64_t kNewestOpset = 27;

// INVALID_ARGUMENT "not an ONNX model: ..." with the number of bytes. The message tree owns every tensor's bytes.
absl::StatusOr<std::shared_ptr<ModelProto>> ParseModel(const std::string& bytes);

}  // namespace aot::import::onnx
