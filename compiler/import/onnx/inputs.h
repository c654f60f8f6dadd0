// Static types for the inputs of the main graph.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/onnx/proto_reader.h"
#include "compiler/pipeline.h"

namespace aot::import::onnx {

// Tensors that a sequence input may have: each is an argument of the compiled function.
constexpr int64_t kMostInputElements = 4096;

// An input of the graph and where its tensors are. Sequences and optionals exist while importing alone: a sequence "x"
// of two tensors becomes the inputs "x[0]" and "x[1]", an optional without an element becomes none.
struct GraphInput {
  std::string name;
  bool optional = false;
  bool present = true;    // of an optional: whether it has an element
  bool sequence = false;  // or an optional of one
  reference::ElementType element = reference::ElementType::kFloat32;
  size_t first = 0, count = 0;  // within BoundInputs.tensors
};

struct BoundInputs {
  std::vector<GraphInput> inputs;
  std::vector<compiler::ValueInfo> tensors;
};

// The name that tensor i of a sequence has as an input or output of the compiled function. Names in ONNX are C
// identifiers, so that no other value has it; models that don't keep to that are refused if two names are the same.
std::string ElementName(absl::string_view sequence, size_t i);

// The inputs that aren't initialisers, in the graph's order, with every dimension bound by the model itself,
// options.dims, options.input_shapes or options.bind_inputs. A symbol that a shape or a value binds is bound for all
// inputs, but for those of sequences, where it may be another number in each tensor. Lengths of sequences come from
// options.input_elements or the shapes. Tensors with a bound value are among the tensors.
absl::StatusOr<BoundInputs> BindInputs(const GraphProto& graph, const compiler::Options& options);

}  // namespace aot::import::onnx
