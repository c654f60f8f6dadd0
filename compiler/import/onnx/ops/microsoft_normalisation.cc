// com.microsoft: layer normalisations of sums and of embeddings.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

absl::Status RequireVector(Node& n, size_t input, int64_t size) {
  if (!n.Has(input) || n.In(input).shape() == Shape{size}) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("input ", input, " is ", reference::ToString(n.In(input).shape()),
                                                 ", a vector of ", size, " is expected"));
}

Value Normalise(Builder& b, const Value& x, const Value& gamma, const Value& beta, double epsilon, bool simplified) {
  const int64_t axis = x.rank() - 1;
  if (simplified) return b.Emit("rms_norm", {{"axis", axis}, {"epsilon", epsilon}}, {x, gamma}, x.type());
  return b.Emit("layer_norm", {{"axis", axis}, {"epsilon", epsilon}}, {x, gamma, beta}, x.type());
}

// The normalised sum of input, skip and bias; output 3 is the sum. The mean and the deviation, outputs 1 and 2, are
// never filled, not by ONNX Runtime either.
absl::StatusOr<Results> ImportSkipLayerNormalization(Node& n) {
  const bool simplified = n.op() == "SkipSimplifiedLayerNormalization";
  const Value &x = n.In(0), &skip = n.In(1);
  const size_t bias = simplified ? 3 : 4;
  RETURN_IF_ERROR(n.RequireFloat(0));
  RETURN_IF_ERROR(n.RequireRank(0, 2, 3));
  const int64_t size = x.dim(x.rank() - 1);
  for (size_t i = 1; i < 5; ++i) {
    if (n.Has(i)) RETURN_IF_ERROR(n.RequireSameElement(0, i));
    if (i > 1) RETURN_IF_ERROR(RequireVector(n, i, size));
  }
  const auto shape = BroadcastShape(x.shape(), skip.shape());
  if (!shape || *shape != x.shape() || skip.rank() < 2 || skip.dim(skip.rank() - 1) != size) {
    return absl::InvalidArgumentError(absl::StrCat("skip is ", reference::ToString(skip.shape()),
                                                   ", which doesn't fit an input of ", reference::ToString(x.shape())));
  }
  Value sum = n.b.Add(x, skip);
  if (n.Has(bias)) sum = n.b.Add(sum, n.In(bias));
  const Value beta = simplified ? Value() : n.In(3);
  return Results{Normalise(n.b, sum, n.In(2), beta, n.Float("epsilon", 1e-12), simplified), Value(), Value(), sum};
}

// Rows of a table, [batch, sequence, size].
absl::StatusOr<Value> LookUp(Node& n, size_t table, const Value& ids) {
  RETURN_IF_ERROR(n.RequireRank(table, 2, 2));
  RETURN_IF_ERROR(n.RequireSameElement(2, table));
  const Value& rows = n.In(table);
  if (rows.dim(1) != n.In(2).dim(1) || rows.dim(0) < 1) {
    return absl::InvalidArgumentError(absl::StrCat("an embedding of ", reference::ToString(rows.shape()),
                                                   " beside one of ", reference::ToString(n.In(2).shape())));
  }
  Shape shape = ids.shape();
  shape.push_back(rows.dim(1));
  return n.b.Emit("gather", {{"axis", int64_t{0}}}, {rows, ids}, {rows.element(), std::move(shape)});
}

// The normalised sum of the embeddings of words, positions and segments; then how many words the mask lets through.
absl::StatusOr<Results> ImportEmbedLayerNormalization(Node& n) {
  Builder& b = n.b;
  const Value& words = n.In(0);
  for (size_t i : {2, 3, 5, 6}) {
    if (!n.Has(i)) return absl::InvalidArgumentError(absl::StrCat("input ", i, " is missing"));
  }
  RETURN_IF_ERROR(n.RequireRank(0, 2, 2));
  RETURN_IF_ERROR(n.RequireRank(2, 2, 2));
  RETURN_IF_ERROR(n.RequireFloat(2));
  const int64_t batch = words.dim(0), length = words.dim(1), size = n.In(2).dim(1);
  for (size_t i : {1, 7}) {
    if (!n.Has(i) || n.In(i).shape() == words.shape()) continue;
    return absl::InvalidArgumentError(absl::StrCat("input ", i, " is ", reference::ToString(n.In(i).shape()), ", ",
                                                   reference::ToString(words.shape()), " is expected"));
  }
  for (size_t i : {5, 6}) {
    RETURN_IF_ERROR(RequireVector(n, i, size));
    RETURN_IF_ERROR(n.RequireSameElement(2, i));
  }
  if (n.Has(1) != n.Has(4)) return absl::InvalidArgumentError("segment ids and embeddings must come together");
  ASSIGN_OR_RETURN(Value sum, LookUp(n, 2, words));
  Value positions;
  if (n.Has(8)) {
    const Shape& shape = n.In(8).shape();
    if (shape != words.shape() && shape != Shape{1, length}) {
      return absl::InvalidArgumentError(absl::StrCat("position ids are ", reference::ToString(shape)));
    }
    positions = n.In(8);
  } else {
    if (n.In(3).rank() == 2 && n.In(3).dim(0) < length) {
      return absl::InvalidArgumentError(absl::StrCat(n.In(3).dim(0), " positions for ", length, " words"));
    }
    std::vector<int64_t> counting;
    for (int64_t i = 0; i < length; ++i) counting.push_back(i);
    positions = b.Reshape(b.Int64s(counting), {1, length});
  }
  ASSIGN_OR_RETURN(const Value position, LookUp(n, 3, positions));
  sum = b.Add(sum, position);
  if (n.Has(1)) {
    ASSIGN_OR_RETURN(const Value segment, LookUp(n, 4, n.In(1)));
    sum = b.Add(sum, segment);
  }
  Value visible = b.Broadcast(b.Scalar(ElementType::kInt32, 0), {batch});
  if (n.Has(7)) {
    const Value one = b.Compare("equal", n.In(7), b.Scalar(n.In(7).element(), 1));
    visible = b.Reshape(b.Reduce("reduce_sum", b.Cast(one, ElementType::kInt32), {1}), {batch});
  }
  return Results{Normalise(b, sum, n.In(5), n.In(6), n.Float("epsilon", 1e-12), false), visible, sum};
}

}  // namespace

Family MicrosoftNormalisationFamily() {
  static const std::vector<Operator> operators = {
      {"EmbedLayerNormalization", {1}, 1, 9, ImportEmbedLayerNormalization},
      {"SkipLayerNormalization", {1}, 3, 5, ImportSkipLayerNormalization},
      {"SkipSimplifiedLayerNormalization", {1}, 3, 4, ImportSkipLayerNormalization},
  };
  return {"normalisation of sums", operators, kMicrosoftDomain};
}

}  // namespace aot::import::onnx
