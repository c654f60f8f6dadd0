#include "compiler/import/onnx/proto_reader.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"

namespace aot::import::onnx {
namespace {

// A subgraph is three messages deeper than its node's graph (node, attribute, graph); what hangs on the innermost one
// needs some more.
constexpr int kRecursionLimit = 3 * kDeepestGraph + 16;

template <typename Nodes>
int64_t CountNodes(const Nodes& nodes) {
  int64_t count = nodes.size();
  for (const NodeProto& node : nodes) {
    for (const AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) count += CountNodes(attribute.g().node());
      for (const GraphProto& graph : attribute.graphs()) count += CountNodes(graph.node());
    }
  }
  return count;
}

absl::Status NotAModel(size_t size, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("not an ONNX model: ", why, " (", size, " bytes)"));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ModelProto>> ParseModel(const std::string& bytes) {
  if (bytes.empty()) return NotAModel(0, "no data");
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return NotAModel(bytes.size(),
                     "a serialised model holds less than 2 GiB; larger ones keep their weights as external data");
  }
  auto model = std::make_shared<ModelProto>();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kRecursionLimit);
  if (!model->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    return NotAModel(bytes.size(), absl::StrCat("the data are truncated or corrupt, or graphs are nested deeper than ",
                                                kDeepestGraph));
  }
  if (!model->has_graph()) return NotAModel(bytes.size(), "it has no graph");
  int64_t nodes = CountNodes(model->graph().node());
  for (const FunctionProto& function : model->functions()) nodes += CountNodes(function.node());
  if (nodes > kMostNodes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model has ", nodes, " nodes; at most ", kMostNodes, " are accepted"));
  }
  return std::shared_ptr<const ModelProto>(std::move(model));
}

}  // namespace aot::import::onnx
