// FlexAttention: attention whose scores and probabilities go through subgraphs.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/graph_importer.h"
#include "compiler/import/onnx/ops/heads.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;

absl::Status CheckOperands(const Value& query, const Value& key, const Value& value) {
  const bool fit = query.rank() == 4 && key.rank() == 4 && value.rank() == 4 && query.element() == key.element() &&
                   query.element() == value.element() && reference::IsFloat(query.element()) &&
                   query.dim(0) == key.dim(0) && query.dim(0) == value.dim(0) && key.dim(1) == value.dim(1) &&
                   key.dim(1) > 0 && query.dim(1) % key.dim(1) == 0 && key.dim(2) == value.dim(2) &&
                   query.dim(3) == key.dim(3);
  if (fit) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "query ", reference::ToString(query.shape()), ", key ", reference::ToString(key.shape()), " and value ",
      reference::ToString(value.shape()), " don't fit; floats of four dimensions are expected"));
}

}  // namespace

absl::StatusOr<std::vector<Value>> GraphImporter::ImportFlexAttention(const NodeProto& node,
                                                                      const std::vector<Value>& inputs,
                                                                      const Frame& frame, const Scope& scope) {
  if (inputs.size() != 3 || !inputs[0] || !inputs[1] || !inputs[2]) {
    return absl::InvalidArgumentError("it needs three inputs: query, key and value");
  }
  for (const Value& input : inputs) {
    if (!input.known()) return std::vector<Value>();
    if (!input.is_tensor()) return absl::InvalidArgumentError("query, key and value must be tensors");
  }
  const Value &query = inputs[0], &key = inputs[1], &value = inputs[2];
  RETURN_IF_ERROR(CheckOperands(query, key, value));
  Node n(node, 1, 1, inputs, frame.attributes, storage_, builder_);
  const double scale = n.Float("scale", 1.0 / std::sqrt(static_cast<double>(query.dim(3))));
  ElementType precision = query.element() == ElementType::kFloat64 ? ElementType::kFloat64 : ElementType::kFloat32;
  if (const int64_t given = n.Int("softmax_precision", 0); given != 0) {
    ASSIGN_OR_RETURN(precision, ToElementType(given));
    if (!reference::IsFloat(precision)) return absl::InvalidArgumentError("softmax_precision must be a float type");
  }
  RETURN_IF_ERROR(n.attribute_status());
  // A subgraph takes and gives one tensor of one type.
  auto modify = [&](absl::string_view name, const Value& x) -> absl::StatusOr<Value> {
    const AttributeProto* attribute = n.Find(name);
    if (!attribute) return x;
    if (!attribute->has_g() || attribute->g().input_size() != 1 || attribute->g().output_size() != 1) {
      return absl::InvalidArgumentError(absl::StrCat(name, " must be a graph of one input and one output"));
    }
    ASSIGN_OR_RETURN(std::vector<Value> results, ImportSubgraph(attribute->g(), {x}, frame, scope));
    if (results.empty() || !results[0] || !results[0].known()) return Value();  // reported there
    if (!results[0].is_tensor()) return absl::InvalidArgumentError(absl::StrCat(name, " must give a tensor"));
    if (!(results[0].type() == x.type())) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, " gives ", reference::Name(results[0].element()), " ", reference::ToString(results[0].shape()), ", ",
          reference::Name(x.element()), " ", reference::ToString(x.shape()), " is expected"));
    }
    return results[0];
  };
  Builder& b = builder_;
  // Half of the scale on each side keeps narrow floats in range.
  const Value root = b.Scalar(query.element(), std::sqrt(scale));
  const Value raw = b.MatMul(b.Mul(query, root), b.Mul(RepeatHeads(b, key, query.dim(1)), root), false,
                             /*trans_b=*/true);
  ASSIGN_OR_RETURN(const Value scores, modify("score_mod", b.Cast(raw, precision)));
  if (!scores) return std::vector<Value>();
  ASSIGN_OR_RETURN(const Value probabilities, modify("prob_mod", b.Unary("softmax", scores, {{"axis", int64_t{3}}})));
  if (!probabilities) return std::vector<Value>();
  const Value result = b.MatMul(probabilities, b.Cast(RepeatHeads(b, value, query.dim(1)), precision));
  return std::vector<Value>{b.Cast(result, value.element())};
}

}  // namespace aot::import::onnx
