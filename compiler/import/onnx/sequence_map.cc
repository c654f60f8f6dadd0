// SequenceMap: its body written out once for each place in a sequence, whose length is known.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/graph_importer.h"
#include "compiler/import/onnx/status_macros.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using Values = std::vector<Value>;

// What the body is given at place `i`: the sequences' elements, and tensors as they are.
Values Arguments(const Values& inputs, size_t i) {
  Values arguments;
  for (const Value& input : inputs) arguments.push_back(input.is_tensor() ? input : input.elements()[i]);
  return arguments;
}

absl::Status CheckInputs(const Values& inputs) {
  if (inputs.empty() || !inputs[0] || inputs[0].kind() != Value::Kind::kSequence) {
    return absl::InvalidArgumentError("input 0 must be a sequence");
  }
  for (size_t i = 1; i < inputs.size(); ++i) {
    if (!inputs[i] || inputs[i].kind() == Value::Kind::kOptional) {
      return absl::InvalidArgumentError(absl::StrCat("input ", i, " must be a sequence or a tensor"));
    }
    if (inputs[i].is_tensor() || inputs[i].elements().size() == inputs[0].elements().size()) continue;
    return absl::InvalidArgumentError(absl::StrCat("input ", i, " is a sequence of ", inputs[i].elements().size(),
                                                   " tensors, input 0 one of ", inputs[0].elements().size()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Values> GraphImporter::ImportSequenceMap(const NodeProto& node, const GraphProto& body,
                                                        const Values& inputs, const Frame& frame, const Scope& scope) {
  RETURN_IF_ERROR(CheckInputs(inputs));
  if (node.output_size() > body.output_size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("it has ", node.output_size(), " outputs, its body gives ", body.output_size()));
  }
  const auto outputs = static_cast<size_t>(node.output_size());
  const size_t length = inputs[0].elements().size();
  std::vector<Values> collected(outputs);
  const int64_t nodes_before = nodes_;
  for (size_t i = 0; i < length; ++i) {
    ASSIGN_OR_RETURN(const Values results, ImportSubgraph(body, Arguments(inputs, i), frame, scope));
    if (i == 0) RETURN_IF_ERROR(CheckUnrolling(nodes_before, static_cast<int64_t>(length)));
    for (size_t o = 0; o < outputs; ++o) {
      if (!results[o].known()) return Values();
      if (!results[o].is_tensor() || (i > 0 && results[o].element() != collected[o][0].element())) {
        return absl::InvalidArgumentError(
            absl::StrCat("output ", o, " of its body must be a tensor of one element type"));
      }
      collected[o].push_back(results[o]);
    }
  }
  Values sequences;
  for (size_t o = 0; o < outputs; ++o) {
    ElementType element = ElementType::kFloat32;
    if (length > 0) {
      element = collected[o][0].element();
    } else {
      // The body never ran: its own word for the type is all there is.
      ASSIGN_OR_RETURN(element, ToElementType(body.output(static_cast<int>(o)).type().tensor_type().elem_type()));
    }
    sequences.push_back(builder_.Sequence(element, std::move(collected[o])));
  }
  return sequences;
}

}  // namespace aot::import::onnx
