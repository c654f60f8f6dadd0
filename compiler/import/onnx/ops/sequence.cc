// Sequences of tensors. They exist while importing alone, as lists: lengths and positions are constants, and nothing of
// them is left in the function but their tensors. (SequenceMap, which has a body, is in control_flow.cc.)
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;
using Tensors = std::vector<Value>;

// Parts that one tensor may be split into: each is an operation of the function.
constexpr int64_t kMostParts = 16'384;

absl::Status RequireSequence(const Node& n, size_t input) {
  if (n.In(input).kind() == Value::Kind::kSequence) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("input ", input, " is ", KindName(n.In(input)), ", a sequence is expected"));
}

absl::Status RequireTensor(const Node& n, size_t input) {
  if (n.In(input).is_tensor()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("input ", input, " is ", KindName(n.In(input)), ", a tensor is expected"));
}

// Input 1: a place in a sequence. Counts from the end where it is negative; `places` are possible.
absl::StatusOr<int64_t> Position(Node& n, size_t input, int64_t length, int64_t places) {
  RETURN_IF_ERROR(RequireTensor(n, input));
  ASSIGN_OR_RETURN(const int64_t position, n.ConstantInt(input, "the position"));
  if (position >= -length && position < places) return position < 0 ? position + length : position;
  return absl::InvalidArgumentError(absl::StrCat("position ", position, " is outside of [", -length, ", ", places - 1,
                                                 "]: the sequence has ", length, " tensors"));
}

int64_t Length(const Value& sequence) { return static_cast<int64_t>(sequence.elements().size()); }

absl::StatusOr<Results> ImportSequenceConstruct(Node& n) {
  for (size_t i = 0; i < n.inputs().size(); ++i) {
    if (!n.Has(i)) return absl::InvalidArgumentError(absl::StrCat("input ", i, " is missing"));
    RETURN_IF_ERROR(RequireTensor(n, i));
    RETURN_IF_ERROR(n.RequireSameElement(0, i));
  }
  return Results{n.b.Sequence(n.In(0).element(), n.inputs())};
}

absl::StatusOr<Results> ImportSequenceEmpty(Node& n) {
  ASSIGN_OR_RETURN(const ElementType element, ToElementType(n.Int("dtype", TensorProto::FLOAT)));
  return Results{n.b.Sequence(element, {})};
}

absl::StatusOr<Results> ImportSequenceAt(Node& n) {
  RETURN_IF_ERROR(RequireSequence(n, 0));
  const int64_t length = Length(n.In(0));
  if (!n.Has(1)) return absl::InvalidArgumentError("input 1 is missing; the operator needs 2");
  ASSIGN_OR_RETURN(const int64_t position, Position(n, 1, length, length));
  return Results{n.In(0).elements()[static_cast<size_t>(position)]};
}

absl::StatusOr<Results> ImportSequenceInsert(Node& n) {
  RETURN_IF_ERROR(RequireSequence(n, 0));
  RETURN_IF_ERROR(RequireTensor(n, 1));
  RETURN_IF_ERROR(n.RequireSameElement(0, 1));
  const int64_t length = Length(n.In(0));
  int64_t position = length;
  if (n.Has(2)) {
    ASSIGN_OR_RETURN(position, Position(n, 2, length, length + 1));
  }
  Tensors tensors = n.In(0).elements();
  tensors.insert(tensors.begin() + position, n.In(1));
  return Results{n.b.Sequence(n.In(0).element(), std::move(tensors))};
}

absl::StatusOr<Results> ImportSequenceErase(Node& n) {
  RETURN_IF_ERROR(RequireSequence(n, 0));
  const int64_t length = Length(n.In(0));
  if (length == 0) return absl::InvalidArgumentError("the sequence is empty: there is nothing to erase");
  int64_t position = length - 1;
  if (n.Has(1)) {
    ASSIGN_OR_RETURN(position, Position(n, 1, length, length));
  }
  Tensors tensors = n.In(0).elements();
  tensors.erase(tensors.begin() + position);
  return Results{n.b.Sequence(n.In(0).element(), std::move(tensors))};
}

absl::StatusOr<Results> ImportSequenceLength(Node& n) {
  RETURN_IF_ERROR(RequireSequence(n, 0));
  return Results{n.b.Reshape(n.b.Int64s({Length(n.In(0))}), {})};
}

absl::StatusOr<Results> ImportConcatFromSequence(Node& n) {
  RETURN_IF_ERROR(RequireSequence(n, 0));
  Tensors tensors = n.In(0).elements();
  if (tensors.empty()) return absl::InvalidArgumentError("the sequence is empty: its concatenation has no shape");
  if (!n.HasAttribute("axis")) return absl::InvalidArgumentError("it needs the attribute axis");
  const bool stack = n.Flag("new_axis", false);
  const int64_t rank = tensors.front().rank() + (stack ? 1 : 0);
  if (rank > kHighestRank) return absl::InvalidArgumentError(absl::StrCat("a result of ", rank, " dimensions"));
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", 0), rank));
  Shape first = tensors.front().shape();
  for (size_t i = 0; i < tensors.size(); ++i) {
    Shape shape = tensors[i].shape();
    bool fits = shape.size() == first.size();
    for (size_t d = 0; fits && d < shape.size(); ++d) {
      fits = shape[d] == first[d] || (!stack && static_cast<int64_t>(d) == axis);
    }
    if (!fits) {
      return absl::InvalidArgumentError(absl::StrCat("tensor ", i, " of the sequence is ", reference::ToString(shape),
                                                     ", which doesn't fit tensor 0 (", reference::ToString(first),
                                                     ") along ", stack ? "a new axis" : absl::StrCat("axis ", axis)));
    }
    if (!stack) continue;
    shape.insert(shape.begin() + axis, 1);
    tensors[i] = n.b.Reshape(tensors[i], std::move(shape));
  }
  return Results{n.b.Concat(tensors, axis)};
}

absl::Status CheckParts(int64_t parts) {
  if (parts <= kMostParts) return absl::OkStatus();
  return Unsupported(absl::StrCat("a split into ", parts, " tensors"), absl::StrCat("at most ", kMostParts));
}

bool MakeUp(const std::vector<int64_t>& sizes, int64_t dim) {
  for (int64_t size : sizes) {
    // Compared before it is subtracted: sizes may be any numbers.
    if (size < 0 || size > dim) return false;
    dim -= size;
  }
  return dim == 0;
}

// Sizes of the parts of a dimension of `dim`. A scalar split is the size of all parts but the last, which has the rest.
absl::StatusOr<std::vector<int64_t>> PartSizes(const Node& n, int64_t dim) {
  int64_t size = 1;
  if (n.Has(1)) {
    RETURN_IF_ERROR(RequireTensor(n, 1));
    ASSIGN_OR_RETURN(std::vector<int64_t> sizes, n.ConstantInts(1, "the split"));
    if (n.In(1).rank() > 0) {
      RETURN_IF_ERROR(CheckParts(static_cast<int64_t>(sizes.size())));
      if (MakeUp(sizes, dim)) return sizes;
      return absl::InvalidArgumentError(
          absl::StrCat("a split of ", reference::ToString(sizes), " doesn't make up the dimension of ", dim));
    }
    size = sizes.front();
    if (size < 1) return absl::InvalidArgumentError(absl::StrCat("parts of size ", size, "; at least 1 is expected"));
  }
  const int64_t parts = dim / size + (dim % size != 0 ? 1 : 0);
  RETURN_IF_ERROR(CheckParts(parts));
  std::vector<int64_t> sizes(static_cast<size_t>(parts), size);
  if (dim % size != 0) sizes.back() = dim % size;
  return sizes;
}

absl::StatusOr<Results> ImportSplitToSequence(Node& n) {
  const Value& x = n.In(0);
  RETURN_IF_ERROR(RequireTensor(n, 0));
  RETURN_IF_ERROR(n.RequireRank(0, 1));
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", 0), x.rank()));
  ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, PartSizes(n, x.dim(axis)));
  // The attribute counts without a split alone.
  const bool keep = n.Flag("keepdims", true) || n.Has(1);
  std::vector<int64_t> starts(x.shape().size(), 0);
  const std::vector<int64_t> steps(x.shape().size(), 1);
  Tensors parts;
  for (int64_t size : sizes) {
    Shape shape = x.shape();
    shape[static_cast<size_t>(axis)] = size;
    Value part = n.b.Slice(x, starts, steps, shape);
    starts[static_cast<size_t>(axis)] += size;
    if (!keep) {
      shape.erase(shape.begin() + axis);
      part = n.b.Reshape(part, std::move(shape));
    }
    parts.push_back(std::move(part));
  }
  return Results{n.b.Sequence(x.element(), std::move(parts))};
}

}  // namespace

Family SequenceFamily() {
  static const std::vector<Operator> operators = {
      {"ConcatFromSequence", {11}, 1, 1, ImportConcatFromSequence, true},
      {"SequenceAt", {11}, 2, 2, ImportSequenceAt, true},
      {"SequenceConstruct", {11}, 1, kVariadic, ImportSequenceConstruct, true},
      {"SequenceEmpty", {11}, 0, 0, ImportSequenceEmpty, true},
      {"SequenceErase", {11}, 1, 2, ImportSequenceErase, true},
      {"SequenceInsert", {11}, 2, 3, ImportSequenceInsert, true},
      {"SequenceLength", {11}, 1, 1, ImportSequenceLength, true},
      {"SequenceMap", {17}, 1, kVariadic, nullptr, true},
      {"SplitToSequence", {11, 24}, 1, 2, ImportSplitToSequence, true},
  };
  return {"sequences", operators};
}

}  // namespace aot::import::onnx
