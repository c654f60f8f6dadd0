#include "compiler/import/onnx/extents.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using Extents = std::vector<Extent>;

constexpr absl::string_view kSupported =
    "elementwise operators, Cast, Concat, Flatten, Gather, GatherElements, GatherND, Gemm and MatMul (of rows), "
    "reductions and Softmax along other dimensions, Reshape, Shape, Size, Slice, Split, Squeeze, Transpose, Unsqueeze";

absl::Status RefuseValue(const Value& value, absl::string_view what, absl::string_view why) {
  const Extent& extent = value.extents().front();
  return Unsupported(absl::StrCat(what, " has a dimension, number ", extent.axis, ", of at most ",
                                  value.dim(extent.axis), " elements, whose size only run time decides; ", why),
                     absl::StrCat(kSupported));
}

const Value* SizeAt(const Value& value, int64_t axis) {
  for (const Extent& extent : value.extents()) {
    if (extent.axis == axis) return &extent.size;
  }
  return nullptr;
}

// The extents of one node's results, from those of its inputs. Each rule is for a kind of operator.
class Rules {
 public:
  explicit Rules(Node& n) : n_(n), b_(n.b) {}

  // Null: there is no rule for the operator.
  using Rule = absl::StatusOr<Extents> (Rules::*)();
  static Rule Find(absl::string_view op);

 private:
  absl::Status Refuse(size_t input, absl::string_view why) const {
    return RefuseValue(n_.In(input), absl::StrCat("input ", input), why);
  }
  absl::Status RequireOnlyFirst() const {
    for (size_t i = 1; i < n_.inputs().size(); ++i) {
      if (n_.Has(i) && !n_.In(i).extents().empty()) return Refuse(i, "the operator takes such a value as input 0 only");
    }
    return absl::OkStatus();
  }

  // One result dimension of operands that broadcast: their sizes must be known to be equal.
  absl::Status Join(size_t input, int64_t axis, int64_t result_axis, std::map<int64_t, Value>& joined) const {
    const Value* size = SizeAt(n_.In(input), axis);
    if (!size) return absl::OkStatus();
    for (size_t i = 0; i < n_.inputs().size(); ++i) {
      if (!n_.Has(i)) continue;
      const Value& other = n_.In(i);
      const int64_t aligned = axis - n_.In(input).rank() + other.rank();
      if (aligned < 0) continue;
      const Value* same = SizeAt(other, aligned);
      if (same ? *same == *size : other.dim(aligned) == 1) continue;
      return Refuse(input, absl::StrCat("input ", i, " isn't known to have as many"));
    }
    joined.emplace(result_axis, *size);
    return absl::OkStatus();
  }

  absl::StatusOr<Extents> Elementwise() {
    int64_t rank = 0;
    for (const Value& input : n_.inputs()) rank = std::max(rank, input ? input.rank() : 0);
    std::map<int64_t, Value> joined;
    for (size_t i = 0; i < n_.inputs().size(); ++i) {
      if (!n_.Has(i)) continue;
      for (const Extent& extent : n_.In(i).extents()) {
        RETURN_IF_ERROR(Join(i, extent.axis, extent.axis + rank - n_.In(i).rank(), joined));
      }
    }
    Extents result;
    for (auto& [axis, size] : joined) result.push_back({axis, size});
    return result;
  }

  // The first input's elements, each by itself; the others are parameters.
  absl::StatusOr<Extents> First() {
    RETURN_IF_ERROR(RequireOnlyFirst());
    return n_.In(0).extents();
  }

  // The same with parameters that must be scalars, as others may lie along any dimension.
  absl::StatusOr<Extents> Quantisation() {
    for (size_t i = 1; i < n_.inputs().size(); ++i) {
      if (n_.Has(i) && Elements(n_.In(i).shape()) != 1) return Refuse(0, "scale and zero point must be scalars");
    }
    return First();
  }

  absl::StatusOr<Extents> Transpose() {
    const Value& x = n_.In(0);
    std::vector<int64_t> perm = n_.Ints("perm");
    Extents result;
    for (int64_t i = 0; i < x.rank(); ++i) {
      const int64_t from = perm.empty() ? x.rank() - 1 - i : perm[static_cast<size_t>(i)];
      if (const Value* size = SizeAt(x, from)) result.push_back({i, *size});
    }
    return result;
  }

  absl::StatusOr<std::vector<int64_t>> AxesAttributeOrInput(int input_since) const {
    if (n_.version() < input_since) return n_.Ints("axes");
    if (!n_.Has(1)) return std::vector<int64_t>();
    return n_.ConstantInts(1, "the axes");
  }

  absl::StatusOr<Extents> Squeeze() {
    const Value& x = n_.In(0);
    ASSIGN_OR_RETURN(std::vector<int64_t> axes, AxesAttributeOrInput(13));
    if (axes.empty()) return Refuse(0, "without axes, only run time knows which dimensions go");
    return Without(x, std::move(axes));
  }

  // The extents that are left when `axes` go, or stay as 1.
  absl::StatusOr<Extents> Without(const Value& x, std::vector<int64_t> axes, bool keep = false) {
    ASSIGN_OR_RETURN(axes, n_.Axes(std::move(axes), x.rank()));
    Extents result;
    for (const Extent& extent : x.extents()) {
      const auto before = std::lower_bound(axes.begin(), axes.end(), extent.axis);
      if (before != axes.end() && *before == extent.axis) return Refuse(0, "the operator works along that dimension");
      result.push_back({keep ? extent.axis : extent.axis - (before - axes.begin()), extent.size});
    }
    return result;
  }

  absl::StatusOr<Extents> Unsqueeze() {
    const Value& x = n_.In(0);
    ASSIGN_OR_RETURN(std::vector<int64_t> axes, AxesAttributeOrInput(13));
    const int64_t rank = x.rank() + static_cast<int64_t>(axes.size());
    ASSIGN_OR_RETURN(axes, n_.Axes(std::move(axes), rank));
    Extents result;
    for (Extent extent : x.extents()) {
      for (int64_t axis : axes) extent.axis += axis <= extent.axis ? 1 : 0;
      result.push_back(std::move(extent));
    }
    return result;
  }

  // The dimension `axis` of x becomes dimension `to` of a result whose dimensions before that have `before` elements
  // and those behind it `behind`. The elements stay where they are if as many lie before the dimension in both.
  absl::StatusOr<Extents> Regroup(int64_t to, int64_t before, int64_t behind) {
    const Value& x = n_.In(0);
    if (x.extents().size() != 1) return Refuse(0, "another dimension is like that too");
    const Extent& extent = x.extents().front();
    const auto dims = absl::MakeConstSpan(x.shape());
    const auto axis = static_cast<size_t>(extent.axis);
    const int64_t inner = Elements(dims.subspan(axis + 1));
    if (Elements(dims.first(axis)) != before) return Refuse(0, "it doesn't stay whole");
    if (inner == behind) return Extents{{to, extent.size}};
    // Elements of other dimensions move in or out: c * inner / behind of them, at most bound * inner / behind.
    if (behind <= 0 || x.dim(extent.axis) * inner % behind != 0) return Refuse(0, "it doesn't stay whole");
    Value size = extent.size;
    if (inner != 1) size = b_.Mul(size, b_.Int64s({inner}));
    if (behind != 1) size = b_.Div(size, b_.Int64s({behind}));
    return Extents{{to, size}};
  }

  absl::StatusOr<Extents> Reshape() {
    const Value& x = n_.In(0);
    RETURN_IF_ERROR(RequireOnlyFirst());
    std::vector<int64_t> shape;
    if (n_.version() < 5) {
      shape = n_.Ints("shape");
    } else {
      if (!n_.Has(1)) return absl::InvalidArgumentError("input 1 is missing; the operator needs 2");
      ASSIGN_OR_RETURN(shape, n_.ConstantInts(1, "the shape"));
    }
    // What takes the size over: a copied dimension (0), else the inferred one (-1).
    const bool copies = !n_.Flag("allowzero", false);
    std::optional<size_t> to;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 0 && copies && static_cast<int64_t>(i) < x.rank()) {
        if (SizeAt(x, static_cast<int64_t>(i))) to = i;
        shape[i] = x.dim(static_cast<int64_t>(i));
      }
    }
    for (size_t i = 0; i < shape.size() && !to; ++i) {
      if (shape[i] == -1) to = i;
    }
    if (!to) return Refuse(0, "the new shape has no -1 or 0 in its place");
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] >= 0 || i == *to) continue;
      // A copied dimension took the size over, so that the inferred one follows from the others.
      int64_t others = 1;
      for (size_t k = 0; k < shape.size(); ++k) others *= k == i ? 1 : std::max<int64_t>(shape[k], 1);
      shape[i] = Elements(x.shape()) / others;
    }
    const auto dims = absl::MakeConstSpan(shape);
    return Regroup(static_cast<int64_t>(*to), Elements(dims.first(*to)), Elements(dims.subspan(*to + 1)));
  }

  absl::StatusOr<Extents> Flatten() {
    const Value& x = n_.In(0);
    const int64_t given = n_.Int("axis", 1);
    ASSIGN_OR_RETURN(const int64_t axis, n_.Axis(given, x.rank() + (given == x.rank() ? 1 : 0)));
    const auto dims = absl::MakeConstSpan(x.shape());
    const int64_t outer = Elements(dims.first(static_cast<size_t>(axis)));
    const int64_t inner = Elements(dims.subspan(static_cast<size_t>(axis)));
    return x.extents().front().axis < axis ? Regroup(0, 1, inner) : Regroup(1, outer, 1);
  }

  absl::StatusOr<Extents> Gather() {
    const Value &x = n_.In(0), &indices = n_.In(1);
    ASSIGN_OR_RETURN(const int64_t axis, n_.Axis(n_.Int("axis", 0), x.rank()));
    Extents result;
    for (const Extent& extent : x.extents()) {
      if (extent.axis == axis) return Refuse(0, "the operator takes elements along that dimension");
      result.push_back({extent.axis + (extent.axis > axis ? indices.rank() - 1 : 0), extent.size});
    }
    for (const Extent& extent : indices.extents()) result.push_back({axis + extent.axis, extent.size});
    return result;
  }

  absl::StatusOr<Extents> GatherNd() {
    const Value &x = n_.In(0), &indices = n_.In(1);
    const int64_t batch = n_.Int("batch_dims", 0), last = indices.rank() - 1;
    Extents result;
    for (const Extent& extent : indices.extents()) {
      if (extent.axis >= last || extent.axis < batch) return Refuse(1, "it must count index tuples");
      result.push_back(extent);
    }
    for (const Extent& extent : x.extents()) {
      const int64_t indexed = batch + indices.dim(last);
      if (extent.axis < indexed) return Refuse(0, "the operator takes elements along that dimension");
      result.push_back({last + extent.axis - indexed, extent.size});
    }
    return result;
  }

  absl::StatusOr<Extents> GatherElements() {
    if (!n_.In(0).extents().empty()) return Refuse(0, "the operator takes elements along a dimension");
    return n_.In(1).extents();
  }

  absl::StatusOr<Extents> Concat() {
    ASSIGN_OR_RETURN(const int64_t axis, n_.Axis(n_.Int("axis", 0), n_.In(0).rank()));
    std::map<int64_t, Value> joined;
    for (size_t i = 0; i < n_.inputs().size(); ++i) {
      for (const Extent& extent : n_.In(i).extents()) {
        if (extent.axis == axis) return Refuse(i, "more would follow along that dimension");
        // A dimension of 1 broadcasts elsewhere; here it is one element.
        for (const Value& other : n_.inputs()) {
          const Value* same = SizeAt(other, extent.axis);
          if (!same || !(*same == extent.size)) return Refuse(i, "another input isn't known to have as many");
        }
        joined.emplace(extent.axis, extent.size);
      }
    }
    Extents result;
    for (auto& [at, size] : joined) result.push_back({at, size});
    return result;
  }

  // Along the dimension itself: from a start to an end that don't count from its end, in steps of 1.
  absl::StatusOr<Extents> Slice() {
    const Value& x = n_.In(0);
    RETURN_IF_ERROR(RequireOnlyFirst());
    std::vector<int64_t> starts = n_.Ints("starts"), ends = n_.Ints("ends"), axes = n_.Ints("axes"), steps;
    if (n_.version() >= 10) {
      ASSIGN_OR_RETURN(starts, n_.ConstantInts(1, "the starts"));
      ASSIGN_OR_RETURN(ends, n_.ConstantInts(2, "the ends"));
      if (n_.Has(3)) {
        ASSIGN_OR_RETURN(axes, n_.ConstantInts(3, "the axes"));
      }
      if (n_.Has(4)) {
        ASSIGN_OR_RETURN(steps, n_.ConstantInts(4, "the steps"));
      }
    }
    Extents result = x.extents();
    for (size_t i = 0; i < starts.size() && i < ends.size(); ++i) {
      int64_t axis = i < axes.size() ? axes[i] : static_cast<int64_t>(i);
      if (axis < 0) axis += x.rank();
      for (Extent& extent : result) {
        if (extent.axis != axis) continue;
        if (starts[i] < 0 || ends[i] < 0 || (i < steps.size() && steps[i] != 1)) {
          return Refuse(0, "a slice of it must go forwards and count from its start");
        }
        if (ends[i] < x.dim(axis)) extent.size = b_.Binary("min", extent.size, b_.Int64s({ends[i]}));
        if (starts[i] == 0) continue;
        const Value rest = b_.Sub(extent.size, b_.Int64s({std::min(starts[i], x.dim(axis))}));
        extent.size = b_.Binary("max", rest, b_.Int64s({0}));
      }
    }
    return result;
  }

  absl::StatusOr<Extents> AlongAxis(int64_t otherwise, bool keep) {
    RETURN_IF_ERROR(RequireOnlyFirst());
    return Without(n_.In(0), {n_.Int("axis", otherwise)}, keep);
  }
  absl::StatusOr<Extents> Split() { return AlongAxis(0, true); }
  absl::StatusOr<Extents> Arg() { return AlongAxis(0, n_.Flag("keepdims", true)); }
  absl::StatusOr<Extents> Softmax() {
    // Until opset 12 it worked along all dimensions from an axis on.
    if (n_.version() < 13) return Refuse(0, "before opset 13 the operator works along several dimensions");
    return AlongAxis(-1, true);
  }

  absl::StatusOr<Extents> Reduce() {
    RETURN_IF_ERROR(RequireOnlyFirst());
    ASSIGN_OR_RETURN(const std::vector<int64_t> axes, AxesAttributeOrInput(n_.op() == "ReduceSum" ? 13 : 18));
    if (axes.empty() && !n_.Flag("noop_with_empty_axes", false)) return Refuse(0, "all dimensions are reduced");
    return Without(n_.In(0), axes, n_.Flag("keepdims", true));
  }

  // Rows (or batch entries) of the left operand; each gives one of the result.
  absl::StatusOr<Extents> MatMul() {
    const Value &x = n_.In(0), &y = n_.In(1);
    RETURN_IF_ERROR(RequireOnlyFirst());
    Extents result;
    for (const Extent& extent : x.extents()) {
      if (extent.axis == x.rank() - 1) return Refuse(0, "the product sums along that dimension");
      const int64_t in_y = extent.axis - x.rank() + y.rank();
      if (extent.axis < x.rank() - 2 && in_y >= 0 && y.dim(in_y) != 1) return Refuse(0, "input 1 has as many");
      const int64_t shift = y.rank() > x.rank() ? y.rank() - x.rank() : 0;
      result.push_back({extent.axis + shift, extent.size});
    }
    return result;
  }

  absl::StatusOr<Extents> Gemm() {
    RETURN_IF_ERROR(RequireOnlyFirst());
    const int64_t rows = n_.Flag("transA", false) ? 1 : 0;
    if (n_.In(0).extents().size() != 1 || n_.In(0).extents().front().axis != rows) {
      return Refuse(0, "the product sums along that dimension");
    }
    if (n_.Has(2) && n_.In(2).rank() == 2 && n_.In(2).dim(0) != 1) return Refuse(0, "input 2 has as many");
    return Extents{{0, n_.In(0).extents().front().size}};
  }

  Node& n_;
  Builder& b_;
};

Rules::Rule Rules::Find(absl::string_view op) {
  static const auto* const rules = [] {
    auto* table = new std::map<absl::string_view, Rule>{
        {"Cast", &Rules::First},
        {"CastLike", &Rules::First},
        {"Clip", &Rules::First},
        {"Concat", &Rules::Concat},
        {"DequantizeLinear", &Rules::Quantisation},
        {"Dropout", &Rules::First},
        {"Flatten", &Rules::Flatten},
        {"Gather", &Rules::Gather},
        {"GatherElements", &Rules::GatherElements},
        {"GatherND", &Rules::GatherNd},
        {"Gemm", &Rules::Gemm},
        {"MatMul", &Rules::MatMul},
        {"QuantizeLinear", &Rules::Quantisation},
        {"Reshape", &Rules::Reshape},
        {"Slice", &Rules::Slice},
        {"Split", &Rules::Split},
        {"Squeeze", &Rules::Squeeze},
        {"Transpose", &Rules::Transpose},
        {"Unsqueeze", &Rules::Unsqueeze},
    };
    for (absl::string_view op : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
                                 "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"})
      table->emplace(op, &Rules::Reduce);
    for (absl::string_view op : {"ArgMax", "ArgMin"}) table->emplace(op, &Rules::Arg);
    for (absl::string_view op : {"Softmax", "LogSoftmax", "Hardmax"}) table->emplace(op, &Rules::Softmax);
    for (absl::string_view op : {"Abs",
                                 "Acos",
                                 "Acosh",
                                 "Add",
                                 "And",
                                 "Asin",
                                 "Asinh",
                                 "Atan",
                                 "Atanh",
                                 "BitShift",
                                 "BitwiseAnd",
                                 "BitwiseNot",
                                 "BitwiseOr",
                                 "BitwiseXor",
                                 "Ceil",
                                 "Celu",
                                 "Cos",
                                 "Cosh",
                                 "Div",
                                 "Elu",
                                 "Equal",
                                 "Erf",
                                 "Exp",
                                 "Floor",
                                 "Gelu",
                                 "Greater",
                                 "HardSigmoid",
                                 "GreaterOrEqual",
                                 "HardSwish",
                                 "Identity",
                                 "IsInf",
                                 "IsNaN",
                                 "LeakyRelu",
                                 "Less",
                                 "LessOrEqual",
                                 "Log",
                                 "Max",
                                 "Mean",
                                 "Min",
                                 "Mish",
                                 "Mod",
                                 "Mul",
                                 "Neg",
                                 "Not",
                                 "Or",
                                 "PRelu",
                                 "Pow",
                                 "Reciprocal",
                                 "Relu",
                                 "Round",
                                 "Selu",
                                 "Shrink",
                                 "Sigmoid",
                                 "Sign",
                                 "Sin",
                                 "Sinh",
                                 "Softplus",
                                 "Softsign",
                                 "Sqrt",
                                 "Sub",
                                 "Sum",
                                 "Swish",
                                 "Tan",
                                 "Tanh",
                                 "ThresholdedRelu",
                                 "Where",
                                 "Xor"})
      table->emplace(op, &Rules::Elementwise);
    return table;
  }();
  const auto found = rules->find(op);
  return found == rules->end() ? nullptr : found->second;
}

// Shape and Size give the sizes themselves.
Results SizesOf(Node& n, const Results& bounds) {
  Builder& b = n.b;
  const Value& x = n.In(0);
  const Value dims = b.Dims(x);
  if (n.op() == "Size") return {b.Reshape(b.Reduce("reduce_prod", dims, {0}), {})};
  int64_t start = n.Int("start", 0);
  start = std::clamp<int64_t>(start < 0 ? start + x.rank() : start, 0, x.rank());
  return {b.Slice(dims, {start}, {1}, bounds[0].shape())};
}

}  // namespace

bool HasExtents(const std::vector<Value>& values) {
  return std::any_of(values.begin(), values.end(),
                     [](const Value& value) { return value && value.known() && !value.extents().empty(); });
}

absl::Status RequireNoExtents(const std::vector<Value>& values, absl::string_view what) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i] || !values[i].known() || values[i].extents().empty()) continue;
    return RefuseValue(values[i], absl::StrCat(what, " ", i), "the operator can't keep what is beyond it apart");
  }
  return absl::OkStatus();
}

absl::StatusOr<Results> ImportWithExtents(Node& n, Handler handler) {
  if (n.op() == "Shape" || n.op() == "Size") {
    ASSIGN_OR_RETURN(const Results bounds, handler(n));
    return SizesOf(n, bounds);
  }
  const Rules::Rule rule = Rules::Find(n.op());
  if (!rule) return RequireNoExtents(n.inputs(), "input");
  Rules rules(n);
  ASSIGN_OR_RETURN(const Extents extents, (rules.*rule)());
  ASSIGN_OR_RETURN(Results results, handler(n));
  for (Value& result : results) result = n.b.WithExtents(result, extents);
  return results;
}

}  // namespace aot::import::onnx
