// Walks the graphs of a model, from node to node, into one block.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "compiler/import/onnx/builder.h"
#include "compiler/import/onnx/graph_order.h"
#include "compiler/import/onnx/node.h"
#include "compiler/import/onnx/proto_reader.h"
#include "compiler/import/onnx/tensor_data.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"

namespace aot::import::onnx {

// Function calls and subgraphs within each other.
constexpr int kDeepestCall = 128;
// Nodes with all calls inlined and all loops unrolled. Fuzzers look for wrong steps, not for many of them.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
constexpr int64_t kMostImportedNodes = 5'000;
#else
constexpr int64_t kMostImportedNodes = kMostNodes;
#endif

class GraphImporter {
 public:
  // Everything must outlive the importer, which gives the model's memory back as it goes: nodes of the main graph keep
  // the names of their outputs, initialisers lose their data when the last constant that shows them is gone. `storage`
  // owns the model.
  GraphImporter(ModelProto& model, const TensorStorage& storage, Builder& builder, mlir::MLIRContext& context);

  // The values of the main graph's outputs. UNIMPLEMENTED with a line for every unsupported node, INVALID_ARGUMENT for
  // the first mistake.
  absl::StatusOr<std::vector<Value>> ImportMain(const std::vector<std::pair<std::string, Value>>& inputs);

  // Nodes imported so far, by operator.
  const std::map<std::string, int>& operators() const { return operators_; }

 private:
  // What the nodes of the main graph or of one function call have in common.
  struct Frame {
    std::map<std::string, int64_t> opsets;  // by domain
    AttributeMap attributes;                // of the call
    const FunctionProto* function = nullptr;
    const Frame* caller = nullptr;
    mlir::Location location;
    int depth = 0;
  };
  // The names of one graph; those of the outer graph are visible as well.
  struct Initialiser {
    const TensorProto* tensor = nullptr;
    int64_t users = 0;  // still to come; counted for the main graph
  };
  struct Scope {
    const Scope* outer = nullptr;
    absl::flat_hash_map<std::string, Value> values;
    absl::flat_hash_map<absl::string_view, Initialiser> initialisers;  // read when first used
    absl::flat_hash_map<absl::string_view, const SparseTensorProto*> sparse_initialisers;
  };

  absl::Status AddInitialisers(const GraphProto& graph, Scope& scope);
  absl::Status ImportNodes(const Nodes& nodes, const std::vector<absl::string_view>& outputs, const Frame& frame,
                           Scope& scope);
  absl::Status ImportNode(const NodeProto& node, const Frame& frame, Scope& scope);
  absl::StatusOr<std::vector<Value>> CallFunction(const NodeProto& node, const FunctionProto& function,
                                                  const std::vector<Value>& inputs, const Frame& frame);
  absl::StatusOr<std::vector<Value>> CallOperator(const NodeProto& node, int64_t opset, std::vector<Value> inputs,
                                                  const Frame& frame, const Scope& scope);
  // Operators with subgraphs (control_flow.cc).
  absl::StatusOr<std::vector<Value>> ImportControlFlow(const NodeProto& node, const std::vector<Value>& inputs,
                                                       const Frame& frame, const Scope& scope);
  absl::StatusOr<std::vector<Value>> ImportIf(const NodeProto& node, const std::vector<Value>& inputs,
                                              const Frame& frame, const Scope& scope);
  absl::StatusOr<std::vector<Value>> ImportLoop(const NodeProto& node, const GraphProto& body,
                                                const std::vector<Value>& inputs, const Frame& frame,
                                                const Scope& scope);
  absl::StatusOr<std::vector<Value>> ImportScan(const NodeProto& node, const GraphProto& body,
                                                const std::vector<Value>& inputs, const Frame& frame,
                                                const Scope& scope);
  absl::StatusOr<std::vector<Value>> ImportSequenceMap(const NodeProto& node, const GraphProto& body,
                                                       const std::vector<Value>& inputs, const Frame& frame,
                                                       const Scope& scope);
  // ai.onnx.preview's attention, whose subgraphs change scores and probabilities (flex_attention.cc).
  absl::StatusOr<std::vector<Value>> ImportFlexAttention(const NodeProto& node, const std::vector<Value>& inputs,
                                                         const Frame& frame, const Scope& scope);
  // Writes a subgraph's nodes out; gives its outputs. Names of the outer graphs are visible in it.
  absl::StatusOr<std::vector<Value>> ImportSubgraph(const GraphProto& graph, const std::vector<Value>& inputs,
                                                    const Frame& frame, const Scope& scope);
  // UNIMPLEMENTED if `steps` times the nodes imported since `nodes_before` are too many.
  absl::Status CheckUnrolling(int64_t nodes_before, int64_t steps) const;

  // Nullopt if there is none of that name. The value may be absent: an optional input that a function's caller left
  // out.
  absl::StatusOr<std::optional<Value>> Find(const std::string& name, const Scope& scope);
  absl::Status Define(const std::string& name, Value value, Scope& scope);
  // Gives back the value of a name that nobody looks up any more.
  void Release(absl::string_view name, Scope& scope);
  // As storage_, for a tensor that is read once: its data go with the last copy of the owner.
  TensorStorage StorageOf(const TensorProto& tensor) const;
  std::map<std::string, int64_t> Opsets(
      const google::protobuf::RepeatedPtrField<aot::onnx::OperatorSetIdProto>& imports) const;
  void ReportUnsupported(const std::string& place, absl::string_view text);
  // For graphs that can't be imported: their unknown operators alone.
  void ReportUnknownOperators(const GraphProto& graph, const Frame& frame);

  ModelProto& model_;
  const TensorStorage& storage_;
  Builder& builder_;
  mlir::MLIRContext& context_;
  std::map<std::string, const FunctionProto*> functions_;  // by domain, name and overload
  absl::flat_hash_map<const void*, Value> read_initialisers_;
  std::map<std::string, int> operators_;
  std::vector<std::string> unsupported_;
  int64_t nodes_ = 0;
};

// After the importer is gone: what is left of nodes and initialisers whose data no constant shows.
void ReleaseImported(GraphProto& graph);

}  // namespace aot::import::onnx
