// Attention and rotary embeddings, written out in products, softmax and elementwise operations.
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

// [batch, sequence, heads * size] to [batch, heads, sequence, size]; tensors of four dimensions are that already.
absl::StatusOr<Value> SplitHeads(Node& n, const Value& x, int64_t heads) {
  if (x.rank() == 4) return x;
  if (x.rank() != 3 || heads < 1 || x.dim(2) % heads != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor of ", reference::ToString(x.shape()), " and ", heads,
                     " heads; four dimensions, or three of which the last is a multiple of the "
                     "heads, are expected"));
  }
  return n.b.Transpose(n.b.Reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads}), {0, 2, 1, 3});
}

// Key and value heads that several query heads share, once for each of those.
Value RepeatHeads(Builder& b, const Value& x, int64_t heads) {
  if (x.dim(1) == heads) return x;
  const int64_t times = heads / x.dim(1);
  const Value split = b.Reshape(x, {x.dim(0), x.dim(1), 1, x.dim(2), x.dim(3)});
  return b.Reshape(b.Broadcast(split, {x.dim(0), x.dim(1), times, x.dim(2), x.dim(3)}),
                   {x.dim(0), heads, x.dim(2), x.dim(3)});
}

// What is added to the scores: 0, or minus infinity where the mask forbids.
Value MaskBias(Builder& b, const Value& allowed, ElementType element) {
  return b.Where(allowed, b.Scalar(element, 0), b.Scalar(element, -std::numeric_limits<double>::infinity()));
}

// Position i of the queries sees keys up to i + past.
Value CausalMask(Builder& b, int64_t queries, int64_t keys, int64_t past) {
  std::vector<int64_t> rows, columns;
  for (int64_t i = 0; i < queries; ++i) rows.push_back(i + past);
  for (int64_t i = 0; i < keys; ++i) columns.push_back(i);
  return b.Compare("less_equal", b.Int64s(columns), b.Reshape(b.Int64s(rows), {queries, 1}));
}

// A mask that is shorter than the keys forbids the rest.
absl::StatusOr<Value> ExtendMask(Node& n, const Value& mask, int64_t keys) {
  const int64_t last = mask.rank() - 1;
  if (mask.rank() < 2 || mask.dim(last) > keys) return absl::InvalidArgumentError("the mask doesn't fit the keys");
  if (mask.dim(last) == keys || mask.dim(last) == 1) return mask;
  Shape shape = mask.shape();
  shape[static_cast<size_t>(last)] = keys;
  const double forbidden = mask.element() == ElementType::kBool ? 0 : -std::numeric_limits<double>::infinity();
  return n.b.Emit("pad", {{"begins", std::vector<int64_t>(shape.size(), 0)}, {"mode", std::string("constant")}},
                  {mask, n.b.Scalar(mask.element(), forbidden)}, {mask.element(), shape});
}

struct Scores {
  Value raw, capped, biased, probabilities;
};

absl::StatusOr<Scores> ComputeScores(Node& n, const Value& query, const Value& key, int64_t past) {
  Builder& b = n.b;
  const ElementType element = query.element();
  const double scale = n.Float("scale", 1.0 / std::sqrt(static_cast<double>(query.dim(3))));
  const double softcap = n.Float("softcap", 0.0);
  // Half of the scale on each side keeps narrow floats in range.
  const Value root = b.Scalar(element, std::sqrt(scale));
  Scores scores;
  scores.raw = b.MatMul(b.Mul(query, root), b.Mul(key, root), false, /*trans_b=*/true);
  scores.capped = scores.raw;
  if (softcap > 0) {
    const Value cap = b.Scalar(element, softcap);
    scores.capped = b.Mul(b.Unary("tanh", b.Div(scores.raw, cap)), cap);
  }
  scores.biased = scores.capped;
  if (n.Has(3)) {
    ASSIGN_OR_RETURN(Value mask, ExtendMask(n, n.In(3), key.dim(2)));
    const auto shape = BroadcastShape(mask.shape(), scores.raw.shape());
    if (!shape || *shape != scores.raw.shape()) {
      return absl::InvalidArgumentError(absl::StrCat("the mask ", reference::ToString(mask.shape()),
                                                     " doesn't broadcast to ",
                                                     reference::ToString(scores.raw.shape())));
    }
    mask = mask.element() == ElementType::kBool ? MaskBias(b, mask, element) : b.Cast(mask, element);
    scores.biased = b.Add(scores.biased, mask);
  }
  if (n.Flag("is_causal", false)) {
    scores.biased = b.Add(scores.biased, MaskBias(b, CausalMask(b, query.dim(2), key.dim(2), past), element));
  }
  ElementType precision = element;
  if (const int64_t given = n.Int("softmax_precision", 0); given != 0) {
    ASSIGN_OR_RETURN(precision, ToElementType(given));
  }
  scores.probabilities = b.Cast(b.Unary("softmax", b.Cast(scores.biased, precision), {{"axis", int64_t{3}}}), element);
  return scores;
}

absl::StatusOr<Results> ImportAttention(Node& n) {
  Builder& b = n.b;
  if (n.Has(6)) return Unsupported("nonpad_kv_seqlen", "attention without that input");
  if (n.Has(4) != n.Has(5)) return absl::InvalidArgumentError("past_key and past_value must come together");
  for (size_t i : {1, 2}) RETURN_IF_ERROR(n.RequireSameElement(0, i));
  const bool flat = n.In(0).rank() == 3;
  ASSIGN_OR_RETURN(const Value query, SplitHeads(n, n.In(0), n.Int("q_num_heads", 0)));
  ASSIGN_OR_RETURN(Value key, SplitHeads(n, n.In(1), n.Int("kv_num_heads", 0)));
  ASSIGN_OR_RETURN(Value value, SplitHeads(n, n.In(2), n.Int("kv_num_heads", 0)));
  int64_t past = 0;
  if (n.Has(4)) {
    for (const auto& [i, now] : {std::pair<size_t, Value*>(4, &key), std::pair<size_t, Value*>(5, &value)}) {
      RETURN_IF_ERROR(n.RequireSameElement(0, i));
      Shape expected = now->shape();
      if (n.In(i).rank() == 4) expected[2] = n.In(i).dim(2);
      if (n.In(i).shape() != expected)
        return absl::InvalidArgumentError(absl::StrCat("input ", i, " doesn't fit the new keys"));
      past = n.In(i).dim(2);
      *now = b.Concat({n.In(i), *now}, 2);
    }
  }
  if (query.dim(3) != key.dim(3) || key.dim(2) != value.dim(2) || key.dim(1) != value.dim(1) || key.dim(1) == 0 ||
      query.dim(1) % key.dim(1) != 0 || query.dim(0) != key.dim(0) || query.dim(0) != value.dim(0)) {
    return absl::InvalidArgumentError(absl::StrCat("query ", reference::ToString(query.shape()), ", key ",
                                                   reference::ToString(key.shape()), " and value ",
                                                   reference::ToString(value.shape()), " don't fit"));
  }
  ASSIGN_OR_RETURN(const Scores scores, ComputeScores(n, query, RepeatHeads(b, key, query.dim(1)), past));
  Value result = b.MatMul(scores.probabilities, RepeatHeads(b, value, query.dim(1)));
  if (flat) {
    result = b.Reshape(b.Transpose(result, {0, 2, 1, 3}),
                       {result.dim(0), result.dim(2), Elements({result.dim(1), result.dim(3)})});
  }
  Results results{result, key, value};
  switch (n.Int("qk_matmul_output_mode", 0)) {
    case 0:
      results.push_back(scores.raw);
      break;
    case 1:
      results.push_back(scores.capped);
      break;
    case 2:
      results.push_back(scores.biased);
      break;
    case 3:
      results.push_back(scores.probabilities);
      break;
    default:
      return absl::InvalidArgumentError("qk_matmul_output_mode must be 0 to 3");
  }
  return results;
}

// Rotates pairs of features by angles that depend on the position.
absl::StatusOr<Results> ImportRotaryEmbedding(Node& n) {
  Builder& b = n.b;
  const bool flat = n.In(0).rank() == 3;
  ASSIGN_OR_RETURN(const Value x, SplitHeads(n, n.In(0), n.Int("num_heads", 0)));
  const int64_t batch = x.dim(0), heads = x.dim(1), length = x.dim(2), size = x.dim(3);
  const int64_t given = n.Int("rotary_embedding_dim", 0), rotated = given == 0 ? size : given;
  if (rotated < 2 || rotated > size || rotated % 2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat("rotary_embedding_dim ", rotated, " of a head size of ", size));
  }
  // Cosines and sines, [batch or 1, 1, sequence, rotated / 2].
  std::vector<Value> angles;
  for (size_t i : {1, 2}) {
    RETURN_IF_ERROR(n.RequireSameElement(0, i));
    Value cache = n.In(i);
    if (n.Has(3)) {
      RETURN_IF_ERROR(n.RequireRank(i, 2, 2));
      Shape shape = n.In(3).shape();
      shape.push_back(cache.dim(1));
      cache = b.Emit("gather", {{"axis", int64_t{0}}}, {cache, n.In(3)}, {cache.element(), shape});
    }
    const Shape expected{batch, length, rotated / 2};
    if (cache.shape() != expected) {
      return absl::InvalidArgumentError(absl::StrCat("angles of ", reference::ToString(cache.shape()), "; ",
                                                     reference::ToString(expected), " is expected"));
    }
    angles.push_back(b.Reshape(cache, {batch, 1, length, rotated / 2}));
  }
  const bool interleaved = n.Flag("interleaved", false);
  auto part = [&](int64_t start, int64_t step, int64_t count) {
    return b.Slice(x, {0, 0, 0, start}, {1, 1, 1, step}, {batch, heads, length, count});
  };
  const Value first = interleaved ? part(0, 2, rotated / 2) : part(0, 1, rotated / 2);
  const Value second = interleaved ? part(1, 2, rotated / 2) : part(rotated / 2, 1, rotated / 2);
  const Value real = b.Sub(b.Mul(angles[0], first), b.Mul(angles[1], second));
  const Value imaginary = b.Add(b.Mul(angles[1], first), b.Mul(angles[0], second));
  Value result;
  if (interleaved) {
    const Shape pairs{batch, heads, length, rotated / 2, 1};
    result =
        b.Reshape(b.Concat({b.Reshape(real, pairs), b.Reshape(imaginary, pairs)}, 4), {batch, heads, length, rotated});
  } else {
    result = b.Concat({real, imaginary}, 3);
  }
  if (rotated < size) result = b.Concat({result, part(rotated, 1, size - rotated)}, 3);
  if (flat) result = b.Reshape(b.Transpose(result, {0, 2, 1, 3}), n.In(0).shape());
  return Results{result};
}

}  // namespace

Family AttentionFamily() {
  static const std::vector<Operator> operators = {
      {"Attention", {23, 24}, 3, 7, ImportAttention},
      {"RotaryEmbedding", {23}, 3, 4, ImportRotaryEmbedding},
  };
  return {"attention", operators};
}

}  // namespace aot::import::onnx
