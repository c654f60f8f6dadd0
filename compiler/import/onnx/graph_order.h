// The order in which the nodes of a graph can be imported.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/import/onnx/proto_reader.h"
#include "google/protobuf/repeated_field.h"

namespace aot::import::onnx {

using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

// A node's place in messages: "node 'name' (Op, opset 13)". A node without a name is called by its first output.
std::string Describe(const NodeProto& node, int64_t opset);
// The same without quotes and the word node, for locations.
std::string LocationName(const NodeProto& node, int64_t opset);

// The names of the values that a node takes: its operands, some perhaps more than once, and what its subgraphs take
// from outside.
std::vector<absl::string_view> NamesTaken(const NodeProto& node);

// The nodes that `outputs` depend on, each after those that it depends on, otherwise in the order of the file.
// INVALID_ARGUMENT: two nodes give a value of one name, or nodes depend on each other.
absl::StatusOr<std::vector<const NodeProto*>> OrderNodes(const Nodes& nodes,
                                                         const std::vector<absl::string_view>& outputs);

}  // namespace aot::import::onnx
