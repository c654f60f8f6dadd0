// com.microsoft: attention with its projection, its caches and its masks, and rotary embeddings.
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/heads.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

Value Int(Builder& b, ElementType element, int64_t value) { return b.Scalar(element, static_cast<double>(value)); }

Value And(Builder& b, const Value& x, const Value& y) {
  return b.Emit("logical_and", {}, {x, y}, {ElementType::kBool, *BroadcastShape(x.shape(), y.shape())});
}

absl::Status Mismatch(absl::string_view what, const Value& value, const Shape& expected) {
  return absl::InvalidArgumentError(absl::StrCat(what, " is ", reference::ToString(value.shape()), ", ",
                                                 reference::ToString(expected), " is expected"));
}

absl::Status RequireFloats(Node& n, std::initializer_list<size_t> inputs) {
  RETURN_IF_ERROR(n.RequireFloat(0));
  for (size_t i : inputs) {
    if (n.Has(i)) RETURN_IF_ERROR(n.RequireSameElement(0, i));
  }
  return absl::OkStatus();
}

// Query, key and value as [batch, heads, sequence, size], and what is added to the scores (or nothing).
struct Heads {
  Value query, key, value, bias;
  int64_t past = 0;  // keys before the first query's
};

absl::Status CheckHeads(const Heads& h) {
  const bool fit = h.query.dim(0) == h.key.dim(0) && h.query.dim(0) == h.value.dim(0) &&
                   h.query.dim(1) == h.key.dim(1) && h.query.dim(1) == h.value.dim(1) &&
                   h.query.dim(3) == h.key.dim(3) && h.key.dim(2) == h.value.dim(2);
  if (fit) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("query ", reference::ToString(h.query.shape()), ", key ",
                                                 reference::ToString(h.key.shape()), " and value ",
                                                 reference::ToString(h.value.shape()), " don't fit"));
}

double Scale(Node& n, int64_t size) {
  const double given = n.Float("scale", 0.0);
  return given == 0.0 ? 1.0 / std::sqrt(static_cast<double>(size)) : given;
}

void AddBias(Builder& b, Value& bias, const Value& part) { bias = bias ? b.Add(bias, part) : part; }

// The input that is added to the scores as it is: [batch or 1, heads or 1, queries, keys].
absl::Status AddAttentionBias(Node& n, size_t input, const Shape& scores, Value& bias) {
  if (!n.Has(input)) return absl::OkStatus();
  const auto shape = BroadcastShape(scores, n.In(input).shape());
  if (!shape || *shape != scores || n.In(input).rank() != 4) return Mismatch("the attention bias", n.In(input), scores);
  AddBias(n.b, bias, n.In(input));
  return absl::OkStatus();
}

// A mask of integers in any of its forms: [batch] are lengths, [2 batch] ends and then beginnings, [batch, keys] and
// [batch, queries, keys] are 0 where a key doesn't count. Whatever doesn't count gets mask_filter_value.
absl::Status AddMask(Node& n, size_t input, int64_t batch, int64_t queries, int64_t keys, ElementType element,
                     Value& bias) {
  if (!n.Has(input)) return absl::OkStatus();
  Builder& b = n.b;
  const Value& mask = n.In(input);
  if (reference::IsFloat(mask.element())) return absl::InvalidArgumentError("the mask must have integers");
  Value allowed;
  const Value zero = Int(b, mask.element(), 0);
  if (mask.shape() == Shape{batch} || mask.shape() == Shape{2 * batch}) {
    auto part = [&](int64_t from) { return b.Reshape(b.Slice(mask, {from}, {1}, {batch}), {batch, 1, 1, 1}); };
    const Value positions = b.Cast(Positions(b, 0, keys), mask.element());
    allowed = b.Compare("less", positions, part(0));
    if (mask.dim(0) != batch) allowed = And(b, allowed, b.Compare("greater_equal", positions, part(batch)));
  } else if (mask.shape() == Shape{batch, keys}) {
    allowed = b.Compare("greater", b.Reshape(mask, {batch, 1, 1, keys}), zero);
  } else if (mask.shape() == Shape{batch, queries, keys}) {
    allowed = b.Compare("greater", b.Reshape(mask, {batch, 1, queries, keys}), zero);
  } else {
    return Unsupported(absl::StrCat("a mask of ", reference::ToString(mask.shape())),
                       "masks of batch, 2 batch, batch x keys and batch x queries x keys");
  }
  const double filter = n.Float("mask_filter_value", -10000.0);
  AddBias(b, bias, b.Where(allowed, b.Scalar(element, 0), b.Scalar(element, filter)));
  return absl::OkStatus();
}

// Later keys don't count at all, unlike those that a mask hides.
void AddCausal(Node& n, const Heads& heads, Value& bias) {
  if (!n.Flag("unidirectional", false)) return;
  Builder& b = n.b;
  const int64_t queries = heads.query.dim(2), keys = heads.key.dim(2);
  const Value allowed =
      b.Compare("less_equal", Positions(b, 0, keys), b.Reshape(Positions(b, heads.past, queries), {queries, 1}));
  AddBias(b, bias, MaskBias(b, allowed, heads.query.element()));
}

Value Attend(Node& n, const Heads& h) {
  Builder& b = n.b;
  const ElementType element = h.query.element();
  Value scores = b.MatMul(h.query, h.key, false, /*trans_b=*/true);
  scores = b.Mul(scores, b.Scalar(element, Scale(n, h.query.dim(3))));
  if (h.bias) scores = b.Add(scores, h.bias);
  return MergeHeads(b, b.MatMul(b.Unary("softmax", scores, {{"axis", int64_t{3}}}), h.value));
}

absl::StatusOr<int64_t> HeadCount(Node& n, const char* attribute) {
  const int64_t heads = n.Int(attribute, 0);
  if (heads > 0) return heads;
  return absl::InvalidArgumentError(absl::StrCat(attribute, " is ", heads, ", it must be at least 1"));
}

// The product of the input with all three weights, the attention of what it gives.
absl::StatusOr<Results> ImportAttention(Node& n) {
  Builder& b = n.b;
  RETURN_IF_ERROR(RequireFloats(n, {1, 2, 4, 5}));
  RETURN_IF_ERROR(n.RequireRank(0, 3, 3));
  RETURN_IF_ERROR(n.RequireRank(1, 2, 2));
  if (n.Flag("do_rotary", false)) return Unsupported("do_rotary=1", "do_rotary=0");
  if (n.Flag("past_present_share_buffer", false) || n.Has(6)) {
    return Unsupported("past_present_share_buffer", "past states of their own length");
  }
  ASSIGN_OR_RETURN(const int64_t heads, HeadCount(n, "num_heads"));
  const Value& x = n.In(0);
  const int64_t batch = x.dim(0), length = x.dim(1), width = n.In(1).dim(1);
  std::vector<int64_t> sizes = n.Ints("qkv_hidden_sizes");
  if (sizes.empty()) sizes = {width / 3, width / 3, width - 2 * (width / 3)};
  bool fits = sizes.size() == 3 && n.In(1).dim(0) == x.dim(2) && (!n.Has(2) || n.In(2).shape() == Shape{width});
  int64_t sum = 0;
  for (int64_t size : sizes) {
    fits = fits && size > 0 && size <= width && size % heads == 0;
    sum += fits ? size : 0;
  }
  if (!fits || sum != width || sizes[0] != sizes[1]) {
    return absl::InvalidArgumentError(absl::StrCat("weights of ", reference::ToString(n.In(1).shape()),
                                                   ", the bias and ", heads, " heads don't fit an input of ",
                                                   reference::ToString(x.shape())));
  }
  Value all = b.MatMul(x, n.In(1));
  if (n.Has(2)) all = b.Add(all, n.In(2));
  auto part = [&](int64_t from, int64_t size) {
    return SplitHeads(n, b.Slice(all, {0, 0, from}, {1, 1, 1}, {batch, length, size}), heads);
  };
  Heads h;
  ASSIGN_OR_RETURN(h.query, part(0, sizes[0]));
  ASSIGN_OR_RETURN(h.key, part(sizes[0], sizes[1]));
  ASSIGN_OR_RETURN(h.value, part(sizes[0] + sizes[1], sizes[2]));
  Results results{Value()};
  if (n.Has(4)) {
    const Value& past = n.In(4);
    const int64_t size = sizes[1] / heads;
    h.past = past.rank() == 5 ? past.dim(3) : 0;
    const Shape expected{2, batch, heads, h.past, size};
    if (past.shape() != expected || sizes[1] != sizes[2]) return Mismatch("the past state", past, expected);
    auto half = [&](int64_t i) {
      const Value state = b.Slice(past, {i, 0, 0, 0, 0}, {1, 1, 1, 1, 1}, {1, batch, heads, h.past, size});
      return b.Reshape(state, {batch, heads, h.past, size});
    };
    h.key = b.Concat({half(0), h.key}, 2);
    h.value = b.Concat({half(1), h.value}, 2);
  }
  const int64_t keys = h.key.dim(2);
  if (n.Wants(1) && sizes[1] == sizes[2]) {
    Shape shape = h.key.shape();
    shape.insert(shape.begin(), 1);
    results.push_back(b.Concat({b.Reshape(h.key, shape), b.Reshape(h.value, shape)}, 0));
  }
  RETURN_IF_ERROR(AddMask(n, 3, batch, length, keys, x.element(), h.bias));
  AddCausal(n, h, h.bias);
  RETURN_IF_ERROR(AddAttentionBias(n, 5, {batch, heads, length, keys}, h.bias));
  results[0] = Attend(n, h);
  return results;
}

// Part i of `parts` that lie side by side for each head: [batch, sequence, heads, parts, size].
Value Unpack(Builder& b, const Value& packed, int64_t i) {
  const Shape shape = packed.shape();
  const Value part = b.Slice(packed, {0, 0, 0, i, 0}, {1, 1, 1, 1, 1}, {shape[0], shape[1], shape[2], 1, shape[4]});
  return b.Transpose(b.Reshape(part, {shape[0], shape[1], shape[2], shape[4]}), {0, 2, 1, 3});
}

absl::Status ReadMultiHeads(Node& n, int64_t heads, Heads& h) {
  Builder& b = n.b;
  const Value& query = n.In(0);
  if (query.rank() == 5) {
    if (query.dim(2) != heads || query.dim(3) != 3 || n.Has(1) || n.Has(2) || n.Has(3)) {
      return absl::InvalidArgumentError(absl::StrCat("a packed query of ", reference::ToString(query.shape()), " for ",
                                                     heads, " heads, which excludes keys, values and their bias"));
    }
    h.query = Unpack(b, query, 0);
    h.key = Unpack(b, query, 1);
    h.value = Unpack(b, query, 2);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(n.RequireRank(0, 3, 3));
  // The projections' bias, for the query, the key and the value one after the other.
  const Value bias = n.In(3);
  const bool packed = n.Has(1) && n.In(1).rank() == 5;
  const int64_t size = query.dim(2);
  auto biased = [&](const Value& x, int64_t from) -> absl::StatusOr<Value> {
    if (!bias || x.rank() != 3) return SplitHeads(n, x, heads);
    if (bias.rank() != 1 || bias.dim(0) < from + x.dim(2)) return Mismatch("the bias", bias, {from + x.dim(2)});
    return SplitHeads(n, b.Add(x, b.Slice(bias, {from}, {1}, {x.dim(2)})), heads);
  };
  ASSIGN_OR_RETURN(h.query, biased(query, 0));
  if (!n.Has(1)) return Unsupported("a query without keys that isn't packed", "keys in input 1");
  if (packed) {
    if (n.In(1).dim(2) != heads || n.In(1).dim(3) != 2 || n.Has(2) || bias) {
      return absl::InvalidArgumentError("packed keys exclude values and a bias");
    }
    h.key = Unpack(b, n.In(1), 0);
    h.value = Unpack(b, n.In(1), 1);
    return absl::OkStatus();
  }
  if (!n.Has(2) || n.In(1).rank() != n.In(2).rank() || (n.In(1).rank() != 3 && n.In(1).rank() != 4)) {
    return absl::InvalidArgumentError("keys and values must both have three dimensions, or four");
  }
  ASSIGN_OR_RETURN(h.key, biased(n.In(1), size));
  ASSIGN_OR_RETURN(h.value, biased(n.In(2), 2 * size));
  return absl::OkStatus();
}

absl::StatusOr<Results> ImportMultiHeadAttention(Node& n) {
  Builder& b = n.b;
  RETURN_IF_ERROR(RequireFloats(n, {1, 2, 3, 5, 6, 7}));
  if (n.Has(8) || n.Has(9)) return Unsupported("past states in a shared buffer", "past states of their own length");
  ASSIGN_OR_RETURN(const int64_t heads, HeadCount(n, "num_heads"));
  Heads h;
  RETURN_IF_ERROR(ReadMultiHeads(n, heads, h));
  if (n.Has(6) != n.Has(7)) return absl::InvalidArgumentError("past_key and past_value must come together");
  if (n.Has(6)) {
    for (const auto& [i, now] : {std::pair<size_t, Value*>(6, &h.key), std::pair<size_t, Value*>(7, &h.value)}) {
      Shape expected = now->shape();
      expected[2] = n.In(i).rank() == 4 ? n.In(i).dim(2) : 0;
      if (n.In(i).shape() != expected) return Mismatch(absl::StrCat("input ", i), n.In(i), expected);
      h.past = expected[2];
      *now = b.Concat({n.In(i), *now}, 2);
    }
  }
  RETURN_IF_ERROR(CheckHeads(h));
  const int64_t batch = h.query.dim(0), queries = h.query.dim(2), keys = h.key.dim(2);
  RETURN_IF_ERROR(AddMask(n, 4, batch, queries, keys, h.query.element(), h.bias));
  AddCausal(n, h, h.bias);
  RETURN_IF_ERROR(AddAttentionBias(n, 5, {batch, heads, queries, keys}, h.bias));
  return Results{Attend(n, h), h.key, h.value};
}

// Cosines or sines at positions [batch or 1, sequence], as [batch or 1, 1, sequence, rotated / 2].
absl::StatusOr<Value> Angles(Node& n, size_t cache, const Value& positions, int64_t size) {
  RETURN_IF_ERROR(n.RequireRank(cache, 2, 2));
  RETURN_IF_ERROR(n.RequireSameElement(0, cache));
  const Value& table = n.In(cache);
  if (table.dim(0) < 1 || table.dim(1) < 1 || 2 * table.dim(1) > size) {
    return absl::InvalidArgumentError(
        absl::StrCat("angles of ", reference::ToString(table.shape()), " for a head size of ", size));
  }
  const Value rows = n.b.Emit("gather", {{"axis", int64_t{0}}}, {table, positions},
                              {table.element(), {positions.dim(0), positions.dim(1), table.dim(1)}});
  return n.b.Reshape(rows, {positions.dim(0), 1, positions.dim(1), table.dim(1)});
}

absl::StatusOr<Results> ImportRotaryEmbedding(Node& n) {
  Builder& b = n.b;
  RETURN_IF_ERROR(RequireFloats(n, {2, 3}));
  if (n.Flag("is_packed_batching", false)) return Unsupported("is_packed_batching=1", "is_packed_batching=0");
  if (n.Float("scale", 1.0) != 1.0) return Unsupported("a scale other than 1", "scale=1");
  const bool flat = n.In(0).rank() == 3;
  int64_t heads = n.Int("num_heads", 0);
  const int64_t rotated = n.Int("rotary_embedding_dim", 0);
  RETURN_IF_ERROR(n.RequireRank(2, 2, 2));
  // Without a number of heads the angles say how large one is.
  if (flat && heads == 0 && n.In(2).dim(1) > 0) heads = n.In(0).dim(2) / (2 * n.In(2).dim(1));
  ASSIGN_OR_RETURN(const Value x, SplitHeads(n, n.In(0), heads));
  const int64_t batch = x.dim(0), length = x.dim(2);
  if (rotated != 0 && rotated != 2 * n.In(2).dim(1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("rotary_embedding_dim ", rotated, " with ", n.In(2).dim(1), " angles"));
  }
  Value positions = b.Cast(n.In(1), ElementType::kInt64);
  if (Elements(positions.shape()) == 1 && positions.rank() < 2) {
    positions = b.Reshape(b.Add(b.Reshape(positions, {1}), Positions(b, 0, length)), {1, length});
  }
  if (positions.shape() != Shape{batch, length} && positions.shape() != Shape{1, length}) {
    return Mismatch("the position ids", positions, {batch, length});
  }
  ASSIGN_OR_RETURN(const Value cosines, Angles(n, 2, positions, x.dim(3)));
  ASSIGN_OR_RETURN(const Value sines, Angles(n, 3, positions, x.dim(3)));
  const Value result = RotatePairs(b, x, cosines, sines, n.Flag("interleaved", false));
  return Results{flat ? MergeHeads(b, result) : result};
}

// Attention whose keys and values lie in a buffer of a fixed length that each step fills further.
class GroupQuery {
 public:
  explicit GroupQuery(Node& n) : n_(n), b_(n.b) {}

  absl::StatusOr<Results> Import() {
    RETURN_IF_ERROR(CheckSupported());
    ASSIGN_OR_RETURN(heads_, HeadCount(n_, "num_heads"));
    ASSIGN_OR_RETURN(kv_heads_, HeadCount(n_, "kv_num_heads"));
    RETURN_IF_ERROR(ReadHeads());
    ASSIGN_OR_RETURN(const int64_t total, n_.ConstantInt(6, "the total sequence length"));
    queries_ = query_.dim(2);
    const int64_t given = n_.Has(3) && n_.In(3).rank() == 4 ? n_.In(3).dim(2) : 0;
    length_ = std::max(total, given);
    if (total < queries_ || n_.In(5).element() != ElementType::kInt32 || Elements(n_.In(5).shape()) != batch_) {
      return absl::InvalidArgumentError(absl::StrCat("a total sequence length of ", total, " for ", queries_,
                                                     " queries, and lengths of ",
                                                     reference::ToString(n_.In(5).shape())));
    }
    // The first call begins at 0, even where its sequences are shorter than the batch's.
    const Value lengths = b_.Add(b_.Cast(b_.Reshape(n_.In(5), {batch_, 1}), ElementType::kInt64), I(1));
    past_ = total == queries_ ? b_.Broadcast(I(0), {batch_, 1}) : b_.Sub(lengths, I(queries_));
    if (n_.Flag("do_rotary", false)) RETURN_IF_ERROR(Rotate(total == queries_));
    ASSIGN_OR_RETURN(const Value key, Cached(3, key_));
    ASSIGN_OR_RETURN(const Value value, Cached(4, value_));
    // Attention sees what there is of the buffer at the most.
    ASSIGN_OR_RETURN(const Value result, Attend(Front(key, total), Front(value, total)));
    return Results{result, key, value};
  }

 private:
  Value I(int64_t value) { return Int(b_, ElementType::kInt64, value); }

  absl::Status CheckSupported() {
    RETURN_IF_ERROR(RequireFloats(n_, {1, 2, 3, 4, 7, 8, 10, 11}));
    for (const char* name : {"k_quant_type", "v_quant_type"}) {
      if (n_.String(name, "NONE") != "NONE") return Unsupported("quantised caches", "caches of the queries' type");
    }
    if (n_.Flag("sliding_window_cache", false)) return Unsupported("sliding_window_cache", "caches of full length");
    if (n_.Int("qk_output", 0) != 0) return Unsupported("qk_output", "qk_output=0");
    if (n_.Has(14) || n_.Has(15))
      return Unsupported("q_norm_weight and k_norm_weight", "queries that are normalised before");
    if (!n_.Has(5) || !n_.Has(6)) return absl::InvalidArgumentError("seqlens_k or total_sequence_length is missing");
    if (n_.Has(3) != n_.Has(4)) return absl::InvalidArgumentError("past_key and past_value must come together");
    return absl::OkStatus();
  }

  absl::Status ReadHeads() {
    RETURN_IF_ERROR(n_.RequireRank(0, 3, 3));
    if (heads_ % kv_heads_ != 0) {
      return absl::InvalidArgumentError(absl::StrCat(heads_, " heads and ", kv_heads_, " heads of keys and values"));
    }
    Value query = n_.In(0), key = n_.In(1), value = n_.In(2);
    if (!key != !value) return absl::InvalidArgumentError("key and value must come together");
    if (!key) {
      // Packed: the query's heads, then those of keys and values.
      const int64_t all = heads_ + 2 * kv_heads_;
      if (query.dim(2) % all != 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("a packed query of ", reference::ToString(query.shape()), " for ", all, " heads"));
      }
      const Value packed = query;
      const int64_t size = packed.dim(2) / all;
      auto part = [&](int64_t first, int64_t count) {
        return b_.Slice(packed, {0, 0, first * size}, {1, 1, 1}, {packed.dim(0), packed.dim(1), count * size});
      };
      query = part(0, heads_);
      key = part(heads_, kv_heads_);
      value = part(heads_ + kv_heads_, kv_heads_);
    }
    ASSIGN_OR_RETURN(query_, SplitHeads(n_, query, heads_));
    ASSIGN_OR_RETURN(key_, SplitHeads(n_, key, kv_heads_));
    ASSIGN_OR_RETURN(value_, SplitHeads(n_, value, kv_heads_));
    batch_ = query_.dim(0);
    if (key_.shape() != Shape{batch_, kv_heads_, query_.dim(2), query_.dim(3)}) {
      return Mismatch("the key", key_, {batch_, kv_heads_, query_.dim(2), query_.dim(3)});
    }
    if (value_.shape() != key_.shape()) return Mismatch("the value", value_, key_.shape());
    return absl::OkStatus();
  }

  absl::Status Rotate(bool first_call) {
    if (!n_.Has(7) || !n_.Has(8)) return absl::InvalidArgumentError("do_rotary needs cos_cache and sin_cache");
    Value positions = b_.Add(past_, b_.Reshape(Positions(b_, 0, queries_), {1, queries_}));
    if (n_.Has(9)) {
      positions = b_.Cast(n_.In(9), ElementType::kInt64);
      // Of a first call only the first position counts.
      if (first_call) {
        const Value first = b_.Slice(b_.Reshape(positions, {Elements(positions.shape())}), {0}, {1}, {1});
        positions = b_.Reshape(b_.Add(first, Positions(b_, 0, queries_)), {1, queries_});
      }
      if (positions.shape() != Shape{batch_, queries_} && positions.shape() != Shape{1, queries_}) {
        return Mismatch("the position ids", positions, {batch_, queries_});
      }
    }
    ASSIGN_OR_RETURN(const Value cosines, Angles(n_, 7, positions, query_.dim(3)));
    ASSIGN_OR_RETURN(const Value sines, Angles(n_, 8, positions, query_.dim(3)));
    const bool interleaved = n_.Flag("rotary_interleaved", false);
    query_ = RotatePairs(b_, query_, cosines, sines, interleaved);
    key_ = RotatePairs(b_, key_, cosines, sines, interleaved);
    return absl::OkStatus();
  }

  // The buffer after this step: new entries from `past_` on, the old ones elsewhere; zeros where it grew.
  absl::StatusOr<Value> Cached(size_t input, const Value& fresh) {
    const int64_t size = fresh.dim(3);
    const Shape shape{batch_, kv_heads_, length_, size};
    Value old = b_.Broadcast(b_.Scalar(fresh.element(), 0), shape);
    if (n_.Has(input)) {
      Shape expected = shape;
      if (n_.In(input).rank() == 4) expected[2] = n_.In(input).dim(2);
      if (n_.In(input).shape() != expected) return Mismatch(absl::StrCat("input ", input), n_.In(input), expected);
      old = n_.In(input);
      if (expected != shape) {
        old = b_.Emit("pad", {{"begins", std::vector<int64_t>(4, 0)}, {"mode", std::string("constant")}},
                      {old, b_.Scalar(old.element(), 0)}, {old.element(), shape});
      }
    }
    const Value offset = b_.Sub(b_.Reshape(Positions(b_, 0, length_), {1, length_}), past_);
    const Value inside = And(b_, b_.Compare("greater_equal", offset, I(0)), b_.Compare("less", offset, I(queries_)));
    const Value from = b_.Binary("min", b_.Binary("max", offset, I(0)), I(queries_ - 1));
    const Value index = b_.Broadcast(b_.Reshape(from, {batch_, 1, length_, 1}), shape);
    const Value taken = b_.Emit("gather_elements", {{"axis", int64_t{2}}}, {fresh, index}, {fresh.element(), shape});
    return b_.Where(b_.Reshape(inside, {batch_, 1, length_, 1}), taken, old);
  }

  Value Front(const Value& x, int64_t count) {
    return b_.Slice(x, {0, 0, 0, 0}, {1, 1, 1, 1}, {x.dim(0), x.dim(1), count, x.dim(3)});
  }

  absl::StatusOr<Value> Attend(const Value& key, const Value& value) {
    const ElementType element = query_.element();
    const int64_t keys = key.dim(2), window = n_.Int("local_window_size", -1);
    Value scores = b_.MatMul(query_, RepeatHeads(b_, key, heads_), false, /*trans_b=*/true);
    scores = b_.Mul(scores, b_.Scalar(element, Scale(n_, query_.dim(3))));
    const double softcap = n_.Float("softcap", 0.0);
    if (softcap > 0) {
      const Value cap = b_.Scalar(element, softcap);
      scores = b_.Mul(b_.Unary("tanh", b_.Div(scores, cap)), cap);
    }
    const Value row =
        b_.Add(b_.Reshape(past_, {batch_, 1, 1, 1}), b_.Reshape(Positions(b_, 0, queries_), {1, 1, queries_, 1}));
    const Value column = b_.Reshape(Positions(b_, 0, keys), {1, 1, 1, keys});
    const bool causal = n_.Flag("causal", true);
    if (!causal && window > 0) return absl::InvalidArgumentError("local_window_size needs causal=1");
    const Value end = b_.Add(b_.Reshape(past_, {batch_, 1, 1, 1}), I(queries_ - 1));
    Value allowed = b_.Compare("less_equal", column, causal ? row : end);
    if (window > 0) {
      allowed = And(b_, allowed, b_.Compare("greater", column, b_.Sub(row, I(window))));
    }
    Value bias = MaskBias(b_, allowed, element);
    RETURN_IF_ERROR(AddAttentionBias(n_, 10, {batch_, heads_, queries_, keys}, bias));
    scores = b_.Add(scores, bias);
    // A smooth factor is one more score, whose value is 0.
    const bool smooth = n_.Flag("smooth_softmax", false);
    if (!n_.Has(11) && !smooth) {
      return MergeHeads(b_,
                        b_.MatMul(b_.Unary("softmax", scores, {{"axis", int64_t{3}}}), RepeatHeads(b_, value, heads_)));
    }
    Value sink = b_.Scalar(element, 0);
    if (n_.Has(11)) {
      if (n_.In(11).shape() != Shape{heads_}) return Mismatch("head_sink", n_.In(11), {heads_});
      sink = b_.Reshape(n_.In(11), {1, heads_, 1, 1});
    }
    const Value more = b_.Concat({scores, b_.Broadcast(sink, {batch_, heads_, queries_, 1})}, 3);
    const Value probabilities = b_.Unary("softmax", more, {{"axis", int64_t{3}}});
    const Value used = b_.Slice(probabilities, {0, 0, 0, 0}, {1, 1, 1, 1}, scores.shape());
    return MergeHeads(b_, b_.MatMul(used, RepeatHeads(b_, value, heads_)));
  }

  Node& n_;
  Builder& b_;
  int64_t heads_ = 0, kv_heads_ = 0, batch_ = 0, queries_ = 0, length_ = 0;  // length_: of the buffer
  Value query_, key_, value_;
  Value past_;  // [batch, 1]: where the new entries go
};

absl::StatusOr<Results> ImportGroupQueryAttention(Node& n) { return GroupQuery(n).Import(); }

}  // namespace

Family MicrosoftAttentionFamily() {
  static const std::vector<Operator> operators = {
      {"Attention", {1}, 2, 7, ImportAttention},
      {"GroupQueryAttention", {1}, 1, 16, ImportGroupQueryAttention},
      {"MultiHeadAttention", {1}, 1, 10, ImportMultiHeadAttention},
      {"RotaryEmbedding", {1}, 4, 4, ImportRotaryEmbedding},
  };
  return {"attention of ONNX Runtime", operators, kMicrosoftDomain};
}

}  // namespace aot::import::onnx
