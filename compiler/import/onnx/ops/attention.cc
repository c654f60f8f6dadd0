// Attention and rotary embeddings, written out in products, softmax and elementwise operations.
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/heads.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

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
  ElementType precision = element;
  if (const int64_t given = n.Int("softmax_precision", 0); given != 0) {
    ASSIGN_OR_RETURN(precision, ToElementType(given));
  }
  // Half of the scale on each side keeps narrow floats in range.
  const Value root = b.Scalar(element, std::sqrt(scale));
  Scores scores;
  scores.raw = b.MatMul(b.Mul(query, root), b.Mul(key, root), false, /*trans_b=*/true);
  scores.capped = scores.raw;
  if (softcap > 0) {
    const Value cap = b.Scalar(element, softcap);
    scores.capped = b.Mul(b.Unary("tanh", b.Div(scores.raw, cap)), cap);
  }
  // What is added: the mask, and minus infinity for keys behind a query's position or behind the end.
  Value bias;
  auto add = [&](const Value& part) { bias = bias ? b.Add(bias, part) : part; };
  if (n.Has(3)) {
    ASSIGN_OR_RETURN(Value mask, ExtendMask(n, n.In(3), key.dim(2)));
    const auto shape = BroadcastShape(mask.shape(), scores.raw.shape());
    if (!shape || *shape != scores.raw.shape()) {
      return absl::InvalidArgumentError(absl::StrCat("the mask ", reference::ToString(mask.shape()),
                                                     " doesn't broadcast to ",
                                                     reference::ToString(scores.raw.shape())));
    }
    add(mask.element() == ElementType::kBool ? MaskBias(b, mask, element) : b.Cast(mask, element));
  }
  const int64_t queries = query.dim(2), keys = key.dim(2);
  Value lengths;
  if (n.Has(6)) {
    if (n.In(6).element() != ElementType::kInt64 || n.In(6).shape() != Shape{query.dim(0)}) {
      return absl::InvalidArgumentError("nonpad_kv_seqlen must be one int64 for each batch");
    }
    lengths = b.Reshape(n.In(6), {query.dim(0), 1, 1, 1});
    add(MaskBias(b, b.Compare("less", Positions(b, 0, keys), lengths), element));
  }
  if (n.Flag("is_causal", false)) {
    // With lengths, the queries are the last ones before the end.
    const Value rows = b.Reshape(Positions(b, past, queries), {queries, 1});
    const Value last =
        lengths ? b.Add(rows, b.Sub(lengths, b.Scalar(ElementType::kInt64, static_cast<double>(queries)))) : rows;
    add(MaskBias(b, b.Compare("less_equal", Positions(b, 0, keys), last), element));
  }
  scores.biased = bias ? b.Add(scores.capped, bias) : scores.capped;
  scores.probabilities = b.Cast(b.Unary("softmax", b.Cast(scores.biased, precision), {{"axis", int64_t{3}}}), element);
  if (lengths) {
    // A query that may see no key gives zeros.
    const Value sees = b.Compare("greater", b.Reduce("reduce_max", bias, {bias.rank() - 1}),
                                 b.Scalar(element, -std::numeric_limits<double>::infinity()));
    scores.probabilities = b.Where(sees, scores.probabilities, b.Scalar(element, 0));
  }
  return scores;
}

absl::StatusOr<Results> ImportAttention(Node& n) {
  Builder& b = n.b;
  if (n.Has(4) && n.Has(6)) return absl::InvalidArgumentError("nonpad_kv_seqlen and past keys exclude each other");
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
  if (flat) result = MergeHeads(b, result);
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
  const int64_t batch = x.dim(0), length = x.dim(2), size = x.dim(3);
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
  Value result = RotatePairs(b, x, angles[0], angles[1], n.Flag("interleaved", false));
  if (flat) result = b.Reshape(b.Transpose(result, {0, 2, 1, 3}), n.In(0).shape());
  return Results{result};
}

}  // namespace

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

Value MergeHeads(Builder& b, const Value& x) {
  return b.Reshape(b.Transpose(x, {0, 2, 1, 3}), {x.dim(0), x.dim(2), Elements({x.dim(1), x.dim(3)})});
}

Value RepeatHeads(Builder& b, const Value& x, int64_t heads) {
  if (x.dim(1) == heads) return x;
  const int64_t times = heads / x.dim(1);
  const Value split = b.Reshape(x, {x.dim(0), x.dim(1), 1, x.dim(2), x.dim(3)});
  return b.Reshape(b.Broadcast(split, {x.dim(0), x.dim(1), times, x.dim(2), x.dim(3)}),
                   {x.dim(0), heads, x.dim(2), x.dim(3)});
}

Value RotatePairs(Builder& b, const Value& x, const Value& cosines, const Value& sines, bool interleaved) {
  const int64_t batch = x.dim(0), heads = x.dim(1), length = x.dim(2), size = x.dim(3);
  const int64_t half = cosines.dim(cosines.rank() - 1), rotated = 2 * half;
  auto part = [&](int64_t start, int64_t step, int64_t count) {
    return b.Slice(x, {0, 0, 0, start}, {1, 1, 1, step}, {batch, heads, length, count});
  };
  const Value first = interleaved ? part(0, 2, half) : part(0, 1, half);
  const Value second = interleaved ? part(1, 2, half) : part(half, 1, half);
  const Value real = b.Sub(b.Mul(first, cosines), b.Mul(second, sines));
  const Value imaginary = b.Add(b.Mul(first, sines), b.Mul(second, cosines));
  Value result;
  if (interleaved) {
    const Shape pairs{batch, heads, length, half, 1};
    result =
        b.Reshape(b.Concat({b.Reshape(real, pairs), b.Reshape(imaginary, pairs)}, 4), {batch, heads, length, rotated});
  } else {
    result = b.Concat({real, imaginary}, 3);
  }
  return rotated < size ? b.Concat({result, part(rotated, 1, size - rotated)}, 3) : result;
}

Value MaskBias(Builder& b, const Value& allowed, ElementType element) {
  return b.Where(allowed, b.Scalar(element, 0), b.Scalar(element, -std::numeric_limits<double>::infinity()));
}

Value Positions(Builder& b, int64_t first, int64_t count) {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < count; ++i) positions.push_back(first + i);
  return b.Int64s(positions);
}

Family AttentionFamily() {
  static const std::vector<Operator> operators = {
      {"Attention", {23, 24}, 3, 7, ImportAttention},
      {"RotaryEmbedding", {23}, 3, 4, ImportRotaryEmbedding},
  };
  return {"attention", operators};
}

}  // namespace aot::import::onnx
