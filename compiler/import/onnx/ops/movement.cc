// Operators that move elements: permute, join, cut, repeat and pad.
#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/shape_error.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

std::vector<int64_t> Zeros(int64_t count) { return std::vector<int64_t>(static_cast<size_t>(count), 0); }
std::vector<int64_t> Ones(int64_t count) { return std::vector<int64_t>(static_cast<size_t>(count), 1); }

absl::StatusOr<Results> ImportTranspose(Node& n) {
  const Value& x = n.In(0);
  std::vector<int64_t> perm = n.Ints("perm");
  if (perm.empty()) {
    perm.resize(static_cast<size_t>(x.rank()));
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  std::vector<int64_t> sorted = perm, expected(static_cast<size_t>(x.rank()));
  std::sort(sorted.begin(), sorted.end());
  std::iota(expected.begin(), expected.end(), 0);
  if (sorted != expected) {
    return absl::InvalidArgumentError(absl::StrCat("perm must name each of the ", x.rank(), " dimensions once"));
  }
  return Results{n.b.Transpose(x, std::move(perm))};
}

absl::StatusOr<Results> ImportConcat(Node& n) {
  // The axis was optional in version 1.
  if (n.version() >= 4 && !n.HasAttribute("axis")) return absl::InvalidArgumentError("the attribute axis is missing");
  const int64_t rank = n.In(0).rank();
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", 1), rank));
  std::vector<Value> values;
  for (size_t i = 0; i < n.inputs().size(); ++i) {
    if (!n.Has(i)) return absl::InvalidArgumentError(absl::StrCat("input ", i, " is missing"));
    RETURN_IF_ERROR(n.RequireSameElement(0, i));
    Shape expected = n.In(0).shape();
    if (n.In(i).rank() == rank) expected[static_cast<size_t>(axis)] = n.In(i).dim(axis);
    if (n.In(i).shape() != expected) {
      return ShapeError(absl::StrCat("inputs 0 and ", i, " are ", reference::ToString(n.In(0).shape()), " and ",
                                     reference::ToString(n.In(i).shape()), "; only dimension ", axis, " may differ"));
    }
    // What is empty along the axis adds nothing.
    if (n.In(i).dim(axis) != 0) values.push_back(n.In(i));
  }
  if (values.empty()) return Results{n.In(0)};
  return Results{n.b.Concat(values, axis)};
}

absl::StatusOr<std::vector<int64_t>> SplitSizes(Node& n, int64_t size) {
  const int64_t outputs = n.output_count();
  std::vector<int64_t> sizes;
  if (n.version() >= 13 || (n.version() < 2 && n.Has(1))) {
    if (n.Has(1)) {
      ASSIGN_OR_RETURN(sizes, n.ConstantInts(1, "the split"));
    }
  } else {
    sizes = n.Ints("split");
  }
  if (sizes.empty()) {
    // As equal as possible: from opset 18 on the last part may be smaller.
    const int64_t count = n.Int("num_outputs", outputs);
    if (count < 1 || count > kMostNodes) return absl::InvalidArgumentError("num_outputs must be at least 1");
    const int64_t part = (size + count - 1) / count;
    if (part * count != size && n.version() < 18) {
      return ShapeError(absl::StrCat("a dimension of ", size, " can't be split into ", count, " equal parts"));
    }
    for (int64_t i = 0, left = size; i < count; ++i, left -= part) sizes.push_back(std::clamp<int64_t>(left, 0, part));
  }
  int64_t total = 0;
  for (int64_t part : sizes) {
    if (part < 0 || part > size) return absl::InvalidArgumentError(absl::StrCat("a part of ", part, " elements"));
    total += part;
  }
  if (total != size || static_cast<int64_t>(sizes.size()) < outputs) {
    return ShapeError(absl::StrCat("a dimension of ", size, " is split into ", sizes.size(), " parts of ", total,
                                   " elements for ", outputs, " outputs"));
  }
  return sizes;
}

absl::StatusOr<Results> ImportSplit(Node& n) {
  const Value& x = n.In(0);
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", 0), x.rank()));
  ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, SplitSizes(n, x.dim(axis)));
  Results results;
  std::vector<int64_t> starts = Zeros(x.rank());
  for (int i = 0; i < n.output_count(); ++i) {
    Shape shape = x.shape();
    shape[static_cast<size_t>(axis)] = sizes[static_cast<size_t>(i)];
    results.push_back(n.Wants(i) ? n.b.Slice(x, starts, Ones(x.rank()), std::move(shape)) : Value());
    starts[static_cast<size_t>(axis)] += sizes[static_cast<size_t>(i)];
  }
  return results;
}

// Starts, ends, axes and steps were attributes before opset 10.
absl::StatusOr<Results> ImportSlice(Node& n) {
  const Value& x = n.In(0);
  std::vector<int64_t> starts, ends, axes, steps;
  if (n.version() < 10) {
    starts = n.Ints("starts");
    ends = n.Ints("ends");
    axes = n.Ints("axes");
  } else {
    if (!n.Has(1) || !n.Has(2)) return absl::InvalidArgumentError("starts and ends are missing");
    ASSIGN_OR_RETURN(starts, n.ConstantInts(1, "the starts"));
    ASSIGN_OR_RETURN(ends, n.ConstantInts(2, "the ends"));
    if (n.Has(3)) {
      ASSIGN_OR_RETURN(axes, n.ConstantInts(3, "the axes"));
    }
    if (n.Has(4)) {
      ASSIGN_OR_RETURN(steps, n.ConstantInts(4, "the steps"));
    }
  }
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    return absl::InvalidArgumentError("starts, ends, axes and steps must have the same length");
  }
  std::vector<int64_t> sorted = axes;
  RETURN_IF_ERROR(n.Axes(std::move(sorted), x.rank()).status());  // each at most once
  Shape shape = x.shape();
  std::vector<int64_t> all_starts = Zeros(x.rank()), all_steps = Ones(x.rank());
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = static_cast<size_t>(axes[i] < 0 ? axes[i] + x.rank() : axes[i]);
    const int64_t dim = shape[axis];
    if (steps[i] == 0) return absl::InvalidArgumentError("a step of 0");
    if (dim == 0) continue;
    // Steps beyond the dimension take one element; clamping keeps the arithmetic small.
    const int64_t step = std::clamp(steps[i], -dim, dim);
    auto from_end = [&](int64_t at) { return at < 0 ? at + dim : at; };
    // Backwards, an end before the first element means: down to and including it.
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1;
    const int64_t start = std::clamp(from_end(starts[i]), int64_t{0}, high);
    const int64_t end = std::clamp(from_end(ends[i]), low, high);
    const int64_t span = step > 0 ? end - start : start - end;
    const int64_t magnitude = step > 0 ? step : -step;
    shape[axis] = span <= 0 ? 0 : (span + magnitude - 1) / magnitude;
    all_starts[axis] = shape[axis] == 0 ? 0 : start;
    all_steps[axis] = step;
  }
  return Results{n.b.Slice(x, std::move(all_starts), std::move(all_steps), std::move(shape))};
}

absl::StatusOr<Results> ImportExpand(Node& n) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> target, n.ConstantInts(1, "the shape"));
  RETURN_IF_ERROR(CheckShape(n.In(0).element(), target));
  RETURN_IF_ERROR(n.RequireBroadcast(n.In(0).shape(), target));
  return Results{n.b.Broadcast(n.In(0), *BroadcastShape(n.In(0).shape(), target))};
}

// Each dimension d becomes [repeats, d]: reshape to [1, d], broadcast, reshape.
Value Repeat(Builder& b, const Value& x, const std::vector<int64_t>& repeats) {
  Shape split, repeated, merged;
  for (int64_t i = 0; i < x.rank(); ++i) {
    const int64_t count = repeats[static_cast<size_t>(i)];
    if (count != 1) {
      split.push_back(1);
      repeated.push_back(count);
    }
    split.push_back(x.dim(i));
    repeated.push_back(x.dim(i));
    merged.push_back(Elements({count, x.dim(i)}));
  }
  return b.Reshape(b.Broadcast(b.Reshape(x, split), repeated), merged);
}

absl::StatusOr<Results> ImportTile(Node& n) {
  const Value& x = n.In(0);
  std::vector<int64_t> repeats;
  if (n.version() < 6) {
    // One axis and how often.
    if (!n.Has(2)) return absl::InvalidArgumentError("tiles and axis are missing");
    ASSIGN_OR_RETURN(const int64_t tiles, n.ConstantInt(1, "the number of tiles"));
    ASSIGN_OR_RETURN(int64_t axis, n.ConstantInt(2, "the axis"));
    ASSIGN_OR_RETURN(axis, n.Axis(axis, x.rank()));
    repeats = Ones(x.rank());
    repeats[static_cast<size_t>(axis)] = tiles;
  } else {
    ASSIGN_OR_RETURN(repeats, n.ConstantInts(1, "the repeats"));
  }
  if (static_cast<int64_t>(repeats.size()) != x.rank()) {
    return absl::InvalidArgumentError(absl::StrCat(repeats.size(), " repeats for ", x.rank(), " dimensions"));
  }
  for (int64_t count : repeats) {
    if (count < 0) return absl::InvalidArgumentError(absl::StrCat("a repeat of ", count));
  }
  const int64_t extra = std::count_if(repeats.begin(), repeats.end(), [](int64_t count) { return count != 1; });
  if (x.rank() + extra > kHighestRank) {
    return Unsupported(absl::StrCat("repeats in ", extra, " of ", x.rank(), " dimensions"),
                       absl::StrCat("at most ", kHighestRank, " for both together"));
  }
  return Results{Repeat(n.b, x, repeats)};
}

absl::StatusOr<Results> ImportPad(Node& n) {
  const Value& x = n.In(0);
  std::vector<int64_t> pads, axes;
  Value value;
  if (n.version() < 11) {
    pads = n.Ints(n.version() < 2 ? "paddings" : "pads");
    value = n.b.Scalar(x.element(), n.Float("value", 0.0));
  } else {
    if (!n.Has(1)) return absl::InvalidArgumentError("the pads are missing");
    ASSIGN_OR_RETURN(pads, n.ConstantInts(1, "the padding"));
    value = n.Has(2) ? n.In(2) : n.b.Scalar(x.element(), 0.0);
    if (value.element() != x.element() || Elements(value.shape()) != 1) {
      return absl::InvalidArgumentError("the padding value must be a scalar of the input's type");
    }
    value = n.b.Reshape(value, {});
  }
  if (n.Has(3)) {
    ASSIGN_OR_RETURN(axes, n.ConstantInts(3, "the axes"));
  } else {
    axes.resize(static_cast<size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
  }
  std::vector<int64_t> sorted = axes;
  RETURN_IF_ERROR(n.Axes(std::move(sorted), x.rank()).status());
  if (pads.size() != 2 * axes.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(pads.size(), " pads for ", axes.size(), " axes; two each are expected"));
  }
  const std::string mode = n.String("mode", "constant");
  const bool wrap = mode == "wrap" && n.version() >= 19;
  if (mode != "constant" && mode != "reflect" && mode != "edge" && !wrap) {
    return absl::InvalidArgumentError(
        absl::StrCat("mode is ", Quoted(mode), "; it must be constant, reflect, edge or, from opset 19 on, wrap"));
  }
  Shape shape = x.shape();
  std::vector<int64_t> begins = Zeros(x.rank());
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = static_cast<size_t>(axes[i] < 0 ? axes[i] + x.rank() : axes[i]);
    const int64_t begin = pads[i], end = pads[axes.size() + i], dim = shape[axis];
    auto absurd = [](int64_t pad) { return pad > kMostTensorBytes || pad < -kMostTensorBytes; };
    if (absurd(begin) || absurd(end) || dim + begin + end < 0) {
      return absl::InvalidArgumentError(absl::StrCat("pads of ", begin, " and ", end, " for a dimension of ", dim));
    }
    if (mode != "constant" && dim == 0 && begin + end > 0) {
      return absl::InvalidArgumentError(absl::StrCat("mode ", mode, " has nothing to take from an empty dimension"));
    }
    if (mode == "reflect" && std::max(begin, end) > dim - 1 && std::max(begin, end) > 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("reflection by ", std::max(begin, end), " in a dimension of ", dim));
    }
    begins[axis] = begin;
    shape[axis] = dim + begin + end;
  }
  if (shape == x.shape() && begins == Zeros(x.rank())) return Results{x};
  return Results{n.b.Emit("pad", {{"begins", std::move(begins)}, {"mode", mode}},
                          {x, mode == "constant" ? value : Value()}, {x.element(), std::move(shape)})};
}

absl::StatusOr<Results> ImportDepthToSpace(Node& n) {
  const Value& x = n.In(0);
  RETURN_IF_ERROR(n.RequireRank(0, 4, 4));
  const int64_t block = n.Int("blocksize", 0);
  const std::string mode = n.String("mode", "DCR");
  if (block < 1 || block > (int64_t{1} << 20) || x.dim(1) % (block * block) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("blocksize ", block, " squared doesn't divide the ", x.dim(1), " channels"));
  }
  if (mode != "DCR" && mode != "CRD") return absl::InvalidArgumentError("mode must be DCR or CRD");
  const int64_t depth = x.dim(1) / (block * block), height = x.dim(2), width = x.dim(3);
  Value result;
  if (mode == "DCR") {
    result = n.b.Transpose(n.b.Reshape(x, {x.dim(0), block, block, depth, height, width}), {0, 3, 4, 1, 5, 2});
  } else {
    result = n.b.Transpose(n.b.Reshape(x, {x.dim(0), depth, block, block, height, width}), {0, 1, 4, 2, 5, 3});
  }
  return Results{n.b.Reshape(result, {x.dim(0), depth, height * block, width * block})};
}

absl::StatusOr<Results> ImportSpaceToDepth(Node& n) {
  const Value& x = n.In(0);
  RETURN_IF_ERROR(n.RequireRank(0, 4, 4));
  const int64_t block = n.Int("blocksize", 0);
  if (block < 1 || block > (int64_t{1} << 20) || x.dim(2) % block != 0 || x.dim(3) % block != 0) {
    return absl::InvalidArgumentError(absl::StrCat("blocksize ", block, " doesn't divide ", x.dim(2), "x", x.dim(3)));
  }
  const int64_t height = x.dim(2) / block, width = x.dim(3) / block;
  const Value split = n.b.Reshape(x, {x.dim(0), x.dim(1), height, block, width, block});
  return Results{
      n.b.Reshape(n.b.Transpose(split, {0, 3, 5, 1, 2, 4}), {x.dim(0), x.dim(1) * block * block, height, width})};
}

// Crops or pads around the centre; what doesn't halve goes to the end.
absl::StatusOr<Results> ImportCenterCropPad(Node& n) {
  Value x = n.In(0);
  ASSIGN_OR_RETURN(const std::vector<int64_t> target, n.ConstantInts(1, "the shape"));
  std::vector<int64_t> axes = n.Ints("axes");
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (axes.size() != target.size()) return absl::InvalidArgumentError("shape and axes must have the same length");
  std::vector<int64_t> sorted = axes;
  RETURN_IF_ERROR(n.Axes(std::move(sorted), x.rank()).status());
  std::vector<int64_t> starts = Zeros(x.rank()), begins = Zeros(x.rank());
  Shape cropped = x.shape(), padded = x.shape();
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = static_cast<size_t>(axes[i] < 0 ? axes[i] + x.rank() : axes[i]);
    const int64_t dim = padded[axis], want = target[i];
    if (want < 0) return absl::InvalidArgumentError(absl::StrCat("a dimension of ", want));
    cropped[axis] = std::min(dim, want);
    padded[axis] = want;
    if (want < dim) starts[axis] = (dim - want) / 2;
    if (want > dim) begins[axis] = (want - dim) / 2;
  }
  x = n.b.Slice(x, starts, Ones(x.rank()), cropped);
  if (x.shape() == padded) return Results{x};
  return Results{n.b.Emit("pad", {{"begins", begins}, {"mode", std::string("constant")}},
                          {x, n.b.Scalar(x.element(), 0)}, {x.element(), padded})};
}

}  // namespace

Family MovementFamily() {
  static const std::vector<Operator> operators = {
      {"CenterCropPad", {18}, 2, 2, ImportCenterCropPad},
      {"Concat", {1, 4, 11, 13}, 1, kVariadic, ImportConcat},
      {"DepthToSpace", {1, 11, 13}, 1, 1, ImportDepthToSpace},
      {"Expand", {8, 13}, 2, 2, ImportExpand},
      {"Pad", {1, 2, 11, 13, 18, 19, 21, 23, 24, 25}, 1, 4, ImportPad},
      {"Slice", {1, 10, 11, 13}, 1, 5, ImportSlice},
      {"SpaceToDepth", {1, 13}, 1, 1, ImportSpaceToDepth},
      {"Split", {1, 2, 11, 13, 18}, 1, 2, ImportSplit},
      {"Tile", {1, 6, 13}, 2, 3, ImportTile},
      {"Transpose", {1, 13, 21, 23, 24, 25}, 1, 1, ImportTranspose},
  };
  return {"data movement", operators};
}

}  // namespace aot::import::onnx
