// Gathering and scattering by indices.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

std::vector<int64_t> Iota(int64_t count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

absl::Status RequireIndices(Node& n, size_t input) {
  const ElementType element = n.In(input).element();
  if (element == ElementType::kInt32 || element == ElementType::kInt64) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("indices must be int32 or int64, not ", reference::Name(element)));
}

absl::StatusOr<Results> ImportGather(Node& n) {
  const Value& x = n.In(0);
  RETURN_IF_ERROR(RequireIndices(n, 1));
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", 0), x.rank()));
  Shape shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), n.In(1).shape().begin(), n.In(1).shape().end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  if (x.dim(axis) == 0 && Elements(n.In(1).shape()) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("dimension ", axis, " is empty"));
  }
  return Results{n.b.Emit("gather", {{"axis", axis}}, {x, n.In(1)}, {x.element(), std::move(shape)})};
}

absl::StatusOr<Results> ImportGatherElements(Node& n) {
  const Value& x = n.In(0);
  const Value& indices = n.In(1);
  RETURN_IF_ERROR(RequireIndices(n, 1));
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", 0), x.rank()));
  RETURN_IF_ERROR(n.RequireRank(1, x.rank(), x.rank()));
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (i != axis ? indices.dim(i) <= x.dim(i) : x.dim(i) > 0 || indices.dim(i) == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat("indices of ", reference::ToString(indices.shape()),
                                                   " don't fit an input of ", reference::ToString(x.shape())));
  }
  return Results{n.b.Emit("gather_elements", {{"axis", axis}}, {x, indices}, {x.element(), indices.shape()})};
}

// The shape of the slices that index tuples in the last dimension of `indices` address, after `batch_dims` common
// dimensions.
absl::StatusOr<Shape> IndexedShape(Node& n, int64_t batch_dims) {
  const Value& x = n.In(0);
  const Value& indices = n.In(1);
  RETURN_IF_ERROR(RequireIndices(n, 1));
  RETURN_IF_ERROR(n.RequireRank(0, 1));
  RETURN_IF_ERROR(n.RequireRank(1, 1));
  const int64_t tuple = indices.dim(indices.rank() - 1);
  if (batch_dims < 0 || batch_dims >= indices.rank() || tuple < 1 || batch_dims + tuple > x.rank() ||
      !std::equal(x.shape().begin(), x.shape().begin() + batch_dims, indices.shape().begin())) {
    return absl::InvalidArgumentError(absl::StrCat("indices of ", reference::ToString(indices.shape()),
                                                   " and batch_dims ", batch_dims, " don't fit an input of ",
                                                   reference::ToString(x.shape())));
  }
  Shape shape(indices.shape().begin(), indices.shape().end() - 1);
  shape.insert(shape.end(), x.shape().begin() + batch_dims + tuple, x.shape().end());
  return shape;
}

absl::StatusOr<Results> ImportGatherNd(Node& n) {
  const int64_t batch_dims = n.Int("batch_dims", 0);
  ASSIGN_OR_RETURN(Shape shape, IndexedShape(n, batch_dims));
  return Results{
      n.b.Emit("gather_nd", {{"batch_dims", batch_dims}}, {n.In(0), n.In(1)}, {n.In(0).element(), std::move(shape)})};
}

absl::StatusOr<std::string> ReadReduction(Node& n) {
  const std::string reduction = n.String("reduction", "none");
  for (const char* known : {"none", "add", "mul", "min", "max"}) {
    if (reduction == known) return reduction;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("reduction is ", Quoted(reduction), "; it must be none, add, mul, min or max"));
}

absl::StatusOr<Results> ImportScatterElements(Node& n) {
  const Value& x = n.In(0);
  const Value& indices = n.In(1);
  RETURN_IF_ERROR(RequireIndices(n, 1));
  RETURN_IF_ERROR(n.RequireSameElement(0, 2));
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", 0), x.rank()));
  ASSIGN_OR_RETURN(const std::string reduction, ReadReduction(n));
  RETURN_IF_ERROR(n.RequireRank(1, x.rank(), x.rank()));
  bool fits = indices.shape() == n.In(2).shape();
  for (int64_t i = 0; i < x.rank(); ++i) fits = fits && (i == axis || indices.dim(i) <= x.dim(i));
  if (!fits) {
    return absl::InvalidArgumentError(absl::StrCat("indices of ", reference::ToString(indices.shape()),
                                                   " and updates of ", reference::ToString(n.In(2).shape()),
                                                   " don't fit an input of ", reference::ToString(x.shape())));
  }
  return Results{
      n.b.Emit("scatter_elements", {{"axis", axis}, {"reduction", reduction}}, {x, indices, n.In(2)}, x.type())};
}

absl::StatusOr<Results> ImportScatterNd(Node& n) {
  RETURN_IF_ERROR(n.RequireSameElement(0, 2));
  ASSIGN_OR_RETURN(const std::string reduction, ReadReduction(n));
  ASSIGN_OR_RETURN(const Shape shape, IndexedShape(n, 0));
  if (n.In(2).shape() != shape) {
    return absl::InvalidArgumentError(absl::StrCat("updates are ", reference::ToString(n.In(2).shape()), ", ",
                                                   reference::ToString(shape), " is expected"));
  }
  return Results{n.b.Emit("scatter_nd", {{"reduction", reduction}}, {n.In(0), n.In(1), n.In(2)}, n.In(0).type())};
}

absl::StatusOr<Results> ImportOneHot(Node& n) {
  const Value& indices = n.In(0);
  int64_t depth = 0;
  if (n.In(1).constant() && reference::IsFloat(n.In(1).element()) && n.In(1).constant()->size() == 1) {
    depth = static_cast<int64_t>(n.In(1).constant()->GetFloat(0));
  } else {
    ASSIGN_OR_RETURN(depth, n.ConstantInt(1, "the depth"));
  }
  if (depth < 1) return absl::InvalidArgumentError(absl::StrCat("a depth of ", depth));
  if (n.In(2).shape() != Shape{2}) return absl::InvalidArgumentError("the values must be two: off and on");
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", -1), indices.rank() + 1));
  Shape shape = indices.shape();
  shape.insert(shape.begin() + axis, depth);
  return Results{n.b.Emit("one_hot", {{"axis", axis}}, {indices, n.In(2)}, {n.In(2).element(), std::move(shape)})};
}

absl::StatusOr<Results> ImportTopK(Node& n) {
  const Value& x = n.In(0);
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", -1), x.rank()));
  int64_t k = n.Int("k", 0);
  if (n.version() >= 10) {
    if (!n.Has(1)) return absl::InvalidArgumentError("K is missing");
    ASSIGN_OR_RETURN(k, n.ConstantInt(1, "K"));
  }
  if (k < 0 || k > x.dim(axis)) {
    return absl::InvalidArgumentError(absl::StrCat("K is ", k, ", the dimension has ", x.dim(axis), " elements"));
  }
  // The result is always sorted, which `sorted = 0` leaves open.
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = k;
  return n.b.Emit(reference::Operation{"topk",
                                       {{"axis", axis}, {"largest", n.Flag("largest", true)}},
                                       {{x.element(), shape}, {ElementType::kInt64, shape}}},
                  {x});
}

// Reverses the first elements along the time axis, as many as the batch's length says.
absl::StatusOr<Results> ImportReverseSequence(Node& n) {
  Builder& b = n.b;
  const Value& x = n.In(0);
  RETURN_IF_ERROR(n.RequireRank(0, 2));
  RETURN_IF_ERROR(RequireIndices(n, 1));
  const int64_t time = n.Int("time_axis", 0), batch = n.Int("batch_axis", 1);
  if (time + batch != 1 || time * batch != 0)
    return absl::InvalidArgumentError("time_axis and batch_axis must be 0 and 1");
  const int64_t times = x.dim(time), batches = x.dim(batch);
  if (n.In(1).shape() != Shape{batches}) return absl::InvalidArgumentError("one length for each batch is needed");
  // Index tuples (dimension 0, dimension 1) of every position; what lies behind a sequence stays.
  const Shape plane = {x.dim(0), x.dim(1), 1};
  const Shape along_time = time == 0 ? Shape{times, 1, 1} : Shape{1, times, 1};
  const Shape along_batch = time == 0 ? Shape{1, batches, 1} : Shape{batches, 1, 1};
  const Value t = b.Reshape(b.Int64s(Iota(times)), along_time);
  const Value length = b.Reshape(b.Cast(n.In(1), ElementType::kInt64), along_batch);
  const Value reversed = b.Sub(b.Sub(length, b.Scalar(ElementType::kInt64, 1)), t);
  const Value from = b.Broadcast(b.Where(b.Compare("less", t, length), reversed, t), plane);
  const Value same = b.Broadcast(b.Reshape(b.Int64s(Iota(batches)), along_batch), plane);
  const Value indices = time == 0 ? b.Concat({from, same}, 2) : b.Concat({same, from}, 2);
  return Results{b.Emit("gather_nd", {{"batch_dims", int64_t{0}}}, {x, indices}, x.type())};
}

// Writes new keys or values of each batch into a cache, from a position on; a circular cache goes on at its start.
absl::StatusOr<Results> ImportTensorScatter(Node& n) {
  Builder& b = n.b;
  const Value &cache = n.In(0), &update = n.In(1);
  RETURN_IF_ERROR(n.RequireSameElement(0, 1));
  RETURN_IF_ERROR(n.RequireRank(0, 2));
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", -2), cache.rank()));
  const std::string mode = n.String("mode", "linear");
  if (mode != "linear" && mode != "circular") {
    return absl::InvalidArgumentError(absl::StrCat("mode is ", Quoted(mode), "; it must be linear or circular"));
  }
  Shape expected = cache.shape();
  if (update.rank() == cache.rank()) expected[static_cast<size_t>(axis)] = update.dim(axis);
  if (axis == 0 || update.shape() != expected || update.dim(axis) > cache.dim(axis)) {
    return absl::InvalidArgumentError(absl::StrCat("an update of ", reference::ToString(update.shape()),
                                                   " doesn't fit a cache of ", reference::ToString(cache.shape())));
  }
  Shape along_axis(cache.shape().size(), 1), along_batch(cache.shape().size(), 1);
  along_axis[static_cast<size_t>(axis)] = update.dim(axis);
  along_batch[0] = cache.dim(0);
  Value positions = b.Reshape(b.Int64s(Iota(update.dim(axis))), along_axis);
  if (n.Has(2)) {
    RETURN_IF_ERROR(RequireIndices(n, 2));
    if (n.In(2).shape() != Shape{cache.dim(0)}) {
      return absl::InvalidArgumentError("there must be one position for each batch");
    }
    positions = b.Add(positions, b.Reshape(b.Cast(n.In(2), ElementType::kInt64), along_batch));
  }
  if (mode == "circular") {
    const Value size = b.Scalar(ElementType::kInt64, static_cast<double>(cache.dim(axis)));
    positions = b.Binary("mod", positions, size, {{"fmod", false}});
  }
  return Results{b.Emit("scatter_elements", {{"axis", axis}, {"reduction", std::string("none")}},
                        {cache, b.Broadcast(positions, update.shape()), update}, cache.type())};
}

}  // namespace

Family IndexingFamily() {
  static const std::vector<Operator> operators = {
      {"Gather", {1, 11, 13}, 2, 2, ImportGather},
      {"GatherElements", {11, 13}, 2, 2, ImportGatherElements},
      {"GatherND", {11, 12, 13}, 2, 2, ImportGatherNd},
      {"OneHot", {9, 11}, 3, 3, ImportOneHot},
      {"ReverseSequence", {10}, 2, 2, ImportReverseSequence},
      {"Scatter", {9, 11}, 3, 3, ImportScatterElements},
      {"ScatterElements", {11, 13, 16, 18}, 3, 3, ImportScatterElements},
      {"ScatterND", {11, 13, 16, 18}, 3, 3, ImportScatterNd},
      {"TensorScatter", {24}, 2, 3, ImportTensorScatter},
      {"TopK", {1, 10, 11, 24}, 1, 2, ImportTopK},
  };
  return {"indexing", operators};
}

}  // namespace aot::import::onnx
