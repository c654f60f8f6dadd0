// TfIdfVectorizer: how often sequences of a given list occur in rows of integers.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;
using reference::Tensor;
using reference::TensorType;

constexpr int64_t kMostDistances = 1000;  // each is written out

// The n-grams of one length that are looked for, and the columns of the result where they are counted.
struct Grams {
  std::vector<std::vector<int64_t>> items;
  std::vector<int64_t> columns;
};

// By length, from 1 on. The pool holds all n-grams one after the other, those of length i + 1 from ngram_counts[i] on.
absl::StatusOr<std::vector<Grams>> ReadGrams(Node& n) {
  const std::vector<int64_t> pool = n.Ints("pool_int64s"), starts = n.Ints("ngram_counts"),
                             columns = n.Ints("ngram_indexes");
  const int64_t least = n.Int("min_gram_length", 0), most = n.Int("max_gram_length", 0);
  const auto lengths = static_cast<int64_t>(starts.size()), total = static_cast<int64_t>(pool.size());
  if (least < 1 || most < least || most > lengths) {
    return absl::InvalidArgumentError(absl::StrCat("n-grams of length ", least, " to ", most, " with ngram_counts of ",
                                                   lengths, " lengths; 1 <= min <= max <= lengths is expected"));
  }
  std::vector<Grams> grams(starts.size());
  size_t next = 0;  // n-gram, over all lengths
  for (int64_t length = 1; length <= lengths; ++length) {
    const auto i = static_cast<size_t>(length) - 1;
    const int64_t begin = starts[i], end = i + 1 < starts.size() ? starts[i + 1] : total;
    if (begin < 0 || end < begin || end > total || (end - begin) % length != 0) {
      return absl::InvalidArgumentError(absl::StrCat("ngram_counts gives n-grams of length ", length, " the range [",
                                                     begin, ", ", end, ") of a pool of ", total));
    }
    // Of equal n-grams the last one counts.
    std::map<std::vector<int64_t>, int64_t> found;
    for (int64_t at = begin; at < end; at += length, ++next) {
      if (next >= columns.size()) return absl::InvalidArgumentError("ngram_indexes has fewer entries than n-grams");
      if (length < least || length > most) continue;
      found[std::vector<int64_t>(pool.begin() + at, pool.begin() + at + length)] = columns[next];
    }
    for (auto& [items, column] : found) {
      grams[i].items.push_back(items);
      grams[i].columns.push_back(column);
    }
  }
  return grams;
}

// How often each of the n-grams begins in rows [batch, count], taking every `distance`-th element: [batch, n-grams].
Value CountMatches(Builder& b, const Value& rows, const Grams& grams, int64_t distance) {
  const auto length = static_cast<int64_t>(grams.items.front().size()),
             number = static_cast<int64_t>(grams.items.size());
  const int64_t batch = rows.dim(0), starts = rows.dim(1) - (length - 1) * distance;
  Value matches;
  for (int64_t i = 0; i < length; ++i) {
    std::vector<int64_t> wanted;
    for (const auto& items : grams.items) wanted.push_back(items[static_cast<size_t>(i)]);
    const Value elements = b.Slice(rows, {0, i * distance}, {1, 1}, {batch, starts});
    const Value equal = b.Compare("equal", b.Reshape(elements, {batch, starts, 1}), b.Int64s(wanted));
    matches = matches ? b.Emit("logical_and", {}, {matches, equal}, equal.type()) : equal;
  }
  return b.Reshape(b.Reduce("reduce_sum", b.Cast(matches, ElementType::kFloat32), {1}), {batch, number});
}

absl::StatusOr<Results> ImportTfIdfVectorizer(Node& n) {
  Builder& b = n.b;
  if (n.HasAttribute("pool_strings")) return Unsupported("n-grams of strings", "integers (pool_int64s)");
  RETURN_IF_ERROR(n.RequireRank(0, 0, 2));
  if (n.In(0).element() != ElementType::kInt32 && n.In(0).element() != ElementType::kInt64) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 0 is ", reference::Name(n.In(0).element()), ", int32 or int64 is expected"));
  }
  const bool flat = n.In(0).rank() < 2;
  const Value x = b.Cast(n.In(0), ElementType::kInt64);
  const Value rows = flat ? b.Reshape(x, {1, Elements(x.shape())}) : x;
  const std::string mode = n.String("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") {
    return absl::InvalidArgumentError(absl::StrCat("mode is ", Quoted(mode), "; it must be TF, IDF or TFIDF"));
  }
  ASSIGN_OR_RETURN(const std::vector<Grams> grams, ReadGrams(n));
  const std::vector<int64_t> indexes = n.Ints("ngram_indexes");
  int64_t width = 0;
  for (int64_t column : indexes) {
    if (column < 0 || column >= kMostTensorBytes) {
      return absl::InvalidArgumentError(absl::StrCat("ngram_indexes has an entry ", column));
    }
    width = std::max(width, column + 1);
  }
  const int64_t skips = n.Int("max_skip_count", 0), batch = rows.dim(0);
  const std::vector<double> weights = n.Floats("weights");
  if (width == 0 || skips < 0 || (!weights.empty() && static_cast<int64_t>(weights.size()) < width)) {
    return absl::InvalidArgumentError(absl::StrCat("max_skip_count ", skips, ", ", indexes.size(),
                                                   " ngram_indexes and ", weights.size(), " weights for ", width,
                                                   " columns"));
  }
  RETURN_IF_ERROR(CheckShape(ElementType::kFloat32, {batch, width}));
  std::vector<Value> counts;
  std::vector<int64_t> columns;
  for (const Grams& of_length : grams) {
    if (of_length.items.empty()) continue;
    const auto length = static_cast<int64_t>(of_length.items.front().size());
    Value sum;
    if (length > 1 && std::min(skips, rows.dim(1) / (length - 1)) > kMostDistances) {
      return Unsupported(absl::StrCat("max_skip_count ", skips), absl::StrCat("up to ", kMostDistances));
    }
    // Distances beyond the row find nothing. For single elements there is no distance.
    for (int64_t distance = 1; distance <= (length == 1 ? 1 : skips + 1); ++distance) {
      if ((length - 1) * distance >= rows.dim(1)) break;
      const Value count = CountMatches(b, rows, of_length, distance);
      sum = sum ? b.Add(sum, count) : count;
    }
    if (!sum) continue;
    counts.push_back(sum);
    columns.insert(columns.end(), of_length.columns.begin(), of_length.columns.end());
  }
  Value result = b.Broadcast(b.Scalar(ElementType::kFloat32, 0), {batch, width});
  if (!counts.empty()) {
    const Value found = b.Concat(counts, 1);
    const Value targets = b.Broadcast(b.Reshape(b.Int64s(columns), {1, found.dim(1)}), found.shape());
    result = b.Emit("scatter_elements", {{"axis", int64_t{1}}, {"reduction", std::string("add")}},
                    {result, targets, found}, result.type());
  }
  const Value zero = b.Scalar(ElementType::kFloat32, 0);
  Value weight = b.Scalar(ElementType::kFloat32, 1);
  if (!weights.empty()) {
    Tensor tensor(TensorType{ElementType::kFloat32, {width}});
    for (int64_t i = 0; i < width; ++i) tensor.SetFloat(i, weights[static_cast<size_t>(i)]);
    weight = b.Constant(std::move(tensor));
  }
  if (mode == "IDF") result = b.Where(b.Compare("greater", result, zero), weight, zero);
  if (mode == "TFIDF") result = b.Mul(result, weight);
  return Results{flat ? b.Reshape(result, {width}) : result};
}

}  // namespace

Family NgramsFamily() {
  static const std::vector<Operator> operators = {{"TfIdfVectorizer", {9}, 1, 1, ImportTfIdfVectorizer}};
  return {"n-grams", operators};
}

}  // namespace aot::import::onnx
