// Reductions over axes, positions of extremes, running sums.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

Value DropAxes(Builder& b, const Value& reduced, const std::vector<int64_t>& axes, bool keepdims) {
  if (keepdims) return reduced;
  Shape shape;
  for (int64_t i = 0, next = 0; i < reduced.rank(); ++i) {
    if (next < static_cast<int64_t>(axes.size()) && axes[static_cast<size_t>(next)] == i) {
      ++next;
    } else {
      shape.push_back(reduced.dim(i));
    }
  }
  return b.Reshape(reduced, std::move(shape));
}

// log(sum(e^x)) without overflow: the largest element is taken out first, unless it is infinite.
Value LogSumExp(Builder& b, const Value& x, const std::vector<int64_t>& axes) {
  const Value largest = b.Reduce("reduce_max", x, axes);
  const Value infinite = b.Emit("is_inf", {{"detect_negative", true}, {"detect_positive", true}}, {largest},
                                {ElementType::kBool, largest.shape()});
  const Value shift = b.Where(infinite, b.Scalar(x.element(), 0), largest);
  const Value sum = b.Reduce("reduce_sum", b.Unary("exp", b.Sub(x, shift)), axes);
  return b.Add(b.Unary("log", sum), shift);
}

Value ReduceOver(Builder& b, absl::string_view op, const Value& x, const std::vector<int64_t>& axes) {
  if (op == "ReduceSum") return b.Reduce("reduce_sum", x, axes);
  if (op == "ReduceMean") return b.Reduce("reduce_mean", x, axes);
  if (op == "ReduceProd") return b.Reduce("reduce_prod", x, axes);
  if (op == "ReduceMax") return b.Reduce("reduce_max", x, axes);
  if (op == "ReduceMin") return b.Reduce("reduce_min", x, axes);
  if (op == "ReduceL1") return b.Reduce("reduce_sum", b.Unary("abs", x), axes);
  if (op == "ReduceSumSquare") return b.Reduce("reduce_sum", b.Mul(x, x), axes);
  // Integers go through float64, and only the result is cut off.
  const Value real = reference::IsFloat(x.element()) ? x : b.Cast(x, ElementType::kFloat64);
  Value result;
  if (op == "ReduceLogSum") {
    result = b.Unary("log", b.Reduce("reduce_sum", real, axes));
  } else if (op == "ReduceLogSumExp") {
    result = LogSumExp(b, real, axes);
  } else {  // ReduceL2
    result = b.Unary("sqrt", b.Reduce("reduce_sum", b.Mul(real, real), axes));
  }
  return b.Cast(result, x.element());
}

// Axes are an attribute until opset 12 for ReduceSum and 17 for the others, an input afterwards.
absl::StatusOr<Results> ImportReduce(Node& n) {
  const Value& x = n.In(0);
  const bool by_input = n.version() >= (n.op() == "ReduceSum" ? 13 : 18);
  std::vector<int64_t> axes;
  if (!by_input) {
    axes = n.Ints("axes");
  } else if (n.Has(1)) {
    ASSIGN_OR_RETURN(axes, n.ConstantInts(1, "the axes"));
  }
  // Without axes: all of them, unless the node says that it then does nothing (but what it does to each element).
  const bool nothing = axes.empty() && by_input && n.Flag("noop_with_empty_axes", false);
  if (axes.empty() && !nothing) {
    axes.resize(static_cast<size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
  }
  ASSIGN_OR_RETURN(axes, n.Axes(std::move(axes), x.rank()));
  if (x.element() == ElementType::kBool) {
    // Only ReduceMax and ReduceMin take booleans: any and all.
    const Value wide = n.b.Cast(x, ElementType::kUint8);
    return Results{DropAxes(n.b, n.b.Cast(ReduceOver(n.b, n.op(), wide, axes), ElementType::kBool), axes,
                            n.Flag("keepdims", true))};
  }
  return Results{DropAxes(n.b, ReduceOver(n.b, n.op(), x, axes), axes, n.Flag("keepdims", true))};
}

absl::StatusOr<Results> ImportArg(Node& n) {
  const Value& x = n.In(0);
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", 0), x.rank()));
  if (x.dim(axis) == 0) return absl::InvalidArgumentError("there is no largest or smallest element of none");
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = 1;
  const Value position = n.b.Emit(n.op() == "ArgMax" ? "arg_max" : "arg_min",
                                  {{"axis", axis}, {"select_last", n.Flag("select_last_index", false)}}, {x},
                                  {ElementType::kInt64, std::move(shape)});
  return Results{DropAxes(n.b, position, {axis}, n.Flag("keepdims", true))};
}

Value RunningSum(Node& n, int64_t axis) {
  return n.b.Unary("cumsum", n.In(0),
                   {{"axis", axis}, {"exclusive", n.Flag("exclusive", false)}, {"reverse", n.Flag("reverse", false)}});
}

// The values of x from `shift` elements before along the axis (behind, if negative), and ones where there are none.
Value Shifted(Builder& b, const Value& x, int64_t axis, int64_t shift) {
  Shape kept = x.shape(), gap = x.shape();
  const int64_t count = std::min(std::abs(shift), x.dim(axis));
  kept[static_cast<size_t>(axis)] -= count;
  gap[static_cast<size_t>(axis)] = count;
  std::vector<int64_t> starts(x.shape().size(), 0);
  if (shift < 0) starts[static_cast<size_t>(axis)] = count;
  const Value rest = b.Slice(x, std::move(starts), std::vector<int64_t>(x.shape().size(), 1), std::move(kept));
  const Value ones = b.Broadcast(b.Scalar(x.element(), 1), std::move(gap));
  return b.Concat(shift < 0 ? std::vector<Value>{rest, ones} : std::vector<Value>{ones, rest}, axis);
}

// Products of 1, 2, 4, ... neighbours: as many steps as the dimension's size has bits.
Value RunningProduct(Node& n, int64_t axis) {
  const int64_t direction = n.Flag("reverse", false) ? -1 : 1;
  Value x = n.In(0);
  if (n.Flag("exclusive", false)) x = Shifted(n.b, x, axis, direction);
  for (int64_t span = 1; span < x.dim(axis); span *= 2) x = n.b.Mul(x, Shifted(n.b, x, axis, direction * span));
  return x;
}

absl::StatusOr<Results> ImportRunning(Node& n) {
  const int64_t rank = n.In(0).rank();
  auto along = [&](int64_t axis) { return n.op() == "CumSum" ? RunningSum(n, axis) : RunningProduct(n, axis); };
  if (Elements(n.In(1).shape()) != 1 || reference::IsFloat(n.In(1).element())) {
    return absl::InvalidArgumentError("the axis must be one integer");
  }
  if (rank == 0) return absl::InvalidArgumentError("a scalar has no axis");
  if (n.In(1).constant()) {
    ASSIGN_OR_RETURN(int64_t axis, n.ConstantInt(1, "the axis"));
    ASSIGN_OR_RETURN(axis, n.Axis(axis, rank));
    return Results{along(axis)};
  }
  // An axis that comes at run time chooses between the results for all of them; one out of range means the last.
  const Value axis = n.b.Cast(n.b.Reshape(n.In(1), {}), ElementType::kInt64);
  auto is = [&](int64_t i) {
    return n.b.Compare("equal", axis, n.b.Scalar(ElementType::kInt64, static_cast<double>(i)));
  };
  Value result = along(rank - 1);
  for (int64_t i = 0; i < rank - 1; ++i) {
    const Value other = along(i);
    result = n.b.Where(is(i), other, n.b.Where(is(i - rank), other, result));
  }
  return Results{result};
}

}  // namespace

Family ReductionFamily() {
  static const std::vector<Operator> operators = {
      {"ArgMax", {1, 11, 12, 13}, 1, 1, ImportArg},
      {"ArgMin", {1, 11, 12, 13}, 1, 1, ImportArg},
      {"CumProd", {26}, 2, 2, ImportRunning},
      {"CumSum", {11, 14}, 2, 2, ImportRunning},
      {"ReduceL1", {1, 11, 13, 18}, 1, 2, ImportReduce},
      {"ReduceL2", {1, 11, 13, 18}, 1, 2, ImportReduce},
      {"ReduceLogSum", {1, 11, 13, 18}, 1, 2, ImportReduce},
      {"ReduceLogSumExp", {1, 11, 13, 18}, 1, 2, ImportReduce},
      {"ReduceMax", {1, 11, 12, 13, 18, 20}, 1, 2, ImportReduce},
      {"ReduceMean", {1, 11, 13, 18}, 1, 2, ImportReduce},
      {"ReduceMin", {1, 11, 12, 13, 18, 20}, 1, 2, ImportReduce},
      {"ReduceProd", {1, 11, 13, 18}, 1, 2, ImportReduce},
      {"ReduceSum", {1, 11, 13}, 1, 2, ImportReduce},
      {"ReduceSumSquare", {1, 11, 13, 18}, 1, 2, ImportReduce},
  };
  return {"reduction", operators};
}

}  // namespace aot::import::onnx
