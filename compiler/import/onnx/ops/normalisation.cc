// Normalisation over batches, layers, instances, groups and neighbourhoods.
#include <numeric>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

absl::Status RequireShape(Node& n, size_t input, const Shape& shape) {
  if (n.In(input).shape() == shape) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("input ", input, " is ", reference::ToString(n.In(input).shape()),
                                                 ", ", reference::ToString(shape), " is expected"));
}

// Statistics of single elements instead of channels (spatial=0, until opset 8), written out.
Value NormaliseElements(Node& n, double epsilon) {
  Builder& b = n.b;
  const Value deviation = b.Unary("sqrt", b.Add(n.In(4), b.Scalar(n.In(4).element(), epsilon)));
  return b.Add(b.Mul(b.Div(b.Sub(n.In(0), n.In(3)), deviation), n.In(1)), n.In(2));
}

// Training: the batch's own mean and variance (population variance), over all dimensions but the channels', or but all
// but the batch. Gives what inference would take from then on too, and (until opset 13) the statistics themselves.
absl::StatusOr<Results> TrainBatch(Node& n, double epsilon, bool per_element) {
  Builder& b = n.b;
  if (Elements(n.In(0).shape()) == 0) return Unsupported("training on a batch without elements", "other batches");
  // The statistics may have a wider type than the data.
  const ElementType element = n.In(3).element(), data = n.In(0).element();
  const Value x = b.Cast(n.In(0), element);
  std::vector<int64_t> axes;
  Shape along(x.shape().size(), 1);
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (i == 0 || (i > 1 && !per_element)) {
      axes.push_back(i);
    } else {
      along[static_cast<size_t>(i)] = x.dim(i);
    }
  }
  const Value mean = b.Reduce("reduce_mean", x, axes);
  const Value centered = b.Sub(x, mean);
  const Value variance = b.Reduce("reduce_mean", b.Mul(centered, centered), axes);
  const Value deviation = b.Unary("sqrt", b.Add(variance, b.Scalar(element, epsilon)));
  auto factor = [&](size_t input) { return b.Reshape(b.Cast(n.In(input), element), along); };
  const Value y = b.Add(b.Mul(b.Div(centered, deviation), factor(1)), factor(2));
  const double momentum = n.Float("momentum", 0.9);
  auto running = [&](size_t input, const Value& current) {
    const Value kept = b.Mul(n.In(input), b.Scalar(element, momentum));
    return b.Add(kept, b.Mul(b.Reshape(current, n.In(input).shape()), b.Scalar(element, 1 - momentum)));
  };
  Results results{b.Cast(y, data), running(3, mean), running(4, variance)};
  for (const Value& current : {mean, variance}) results.push_back(b.Reshape(current, n.In(3).shape()));
  return results;
}

absl::StatusOr<Results> ImportBatchNormalization(Node& n) {
  const Value& x = n.In(0);
  const double epsilon = n.Float("epsilon", 1e-5);
  RETURN_IF_ERROR(n.RequireRank(0, 1));
  const bool per_element = n.version() < 9 && !n.Flag("spatial", true);
  Shape expected{x.rank() > 1 ? x.dim(1) : 1};
  if (per_element) expected.assign(x.shape().begin() + 1, x.shape().end());
  for (size_t i = 1; i <= 4; ++i) RETURN_IF_ERROR(RequireShape(n, i, expected));
  // Until opset 13 a node that names the outputs of training trained.
  bool training = n.Flag("training_mode", false);
  for (int i = 1; i < 5 && n.version() < 14; ++i) training = training || n.Wants(i);
  if (training) return TrainBatch(n, epsilon, per_element);
  if (per_element) return Results{NormaliseElements(n, epsilon)};
  // A batch alone has one channel.
  const Value with_channels = x.rank() > 1 ? x : n.b.Reshape(x, {x.dim(0), 1});
  const Value normal = n.b.Emit("batch_norm", {{"epsilon", epsilon}},
                                {with_channels, n.In(1), n.In(2), n.In(3), n.In(4)}, with_channels.type());
  return Results{n.b.Reshape(normal, x.shape())};
}

absl::StatusOr<Results> ImportInstanceNormalization(Node& n) {
  const Value& x = n.In(0);
  RETURN_IF_ERROR(n.RequireRank(0, 3));
  for (size_t i = 1; i <= 2; ++i) RETURN_IF_ERROR(RequireShape(n, i, {x.dim(1)}));
  return Results{n.b.Emit("instance_norm", {{"epsilon", n.Float("epsilon", 1e-5)}}, {x, n.In(1), n.In(2)}, x.type())};
}

absl::StatusOr<Results> ImportGroupNormalization(Node& n) {
  const Value& x = n.In(0);
  RETURN_IF_ERROR(n.RequireRank(0, 2));
  const int64_t groups = n.Int("num_groups", 0), channels = x.dim(1);
  if (groups < 1 || channels % groups != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("num_groups ", groups, " doesn't divide the ", channels, " channels"));
  }
  // Before opset 21 scale and bias had one element a group.
  const bool per_group = n.version() < 21;
  std::vector<Value> factors;
  for (size_t i = 1; i <= 2; ++i) {
    RETURN_IF_ERROR(RequireShape(n, i, {per_group ? groups : channels}));
    Value factor = n.In(i);
    if (per_group && groups != channels) {
      factor = n.b.Broadcast(n.b.Reshape(factor, {groups, 1}), {groups, channels / groups});
    }
    factors.push_back(n.b.Reshape(factor, {channels}));
  }
  return Results{n.b.Emit("group_norm", {{"groups", groups}, {"epsilon", n.Float("epsilon", 1e-5)}},
                          {x, factors[0], factors[1]}, x.type())};
}

absl::Status RequireFactor(Node& n, size_t input) {
  if (!n.Has(input)) return absl::OkStatus();
  const auto shape = BroadcastShape(n.In(0).shape(), n.In(input).shape());
  if (shape && *shape == n.In(0).shape()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("input ", input, " is ", reference::ToString(n.In(input).shape()),
                                                 ", which doesn't broadcast to ",
                                                 reference::ToString(n.In(0).shape())));
}

absl::StatusOr<Results> ImportLayerNormalization(Node& n) {
  const Value& x = n.In(0);
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", -1), x.rank()));
  const double epsilon = n.Float("epsilon", 1e-5);
  RETURN_IF_ERROR(RequireFactor(n, 1));
  RETURN_IF_ERROR(RequireFactor(n, 2));
  Results results{n.b.Emit("layer_norm", {{"axis", axis}, {"epsilon", epsilon}}, {x, n.In(1), n.In(2)}, x.type())};
  if (!n.Wants(1) && !n.Wants(2)) return results;
  // Mean and inverse deviation, in the type in which they are computed.
  std::vector<int64_t> axes(static_cast<size_t>(x.rank() - axis));
  std::iota(axes.begin(), axes.end(), axis);
  ASSIGN_OR_RETURN(const ElementType stash, ToElementType(n.Int("stash_type", TensorProto::FLOAT)));
  const Value wide = n.b.Cast(x, stash);
  const Value mean = n.b.Reduce("reduce_mean", wide, axes);
  const Value centred = n.b.Sub(wide, mean);
  const Value variance = n.b.Reduce("reduce_mean", n.b.Mul(centred, centred), axes);
  results.push_back(mean);
  results.push_back(n.b.Unary("reciprocal", n.b.Unary("sqrt", n.b.Add(variance, n.b.Scalar(stash, epsilon)))));
  return results;
}

absl::StatusOr<Results> ImportRmsNormalization(Node& n) {
  const Value& x = n.In(0);
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", -1), x.rank()));
  RETURN_IF_ERROR(RequireFactor(n, 1));
  const Value scale = n.b.Cast(n.In(1), x.element());
  return Results{n.b.Emit("rms_norm", {{"axis", axis}, {"epsilon", n.Float("epsilon", 1e-5)}}, {x, scale}, x.type())};
}

// ONNX Runtime's own operator in ONNX's domain: RMSNormalization with the inverse deviation as its second output.
absl::StatusOr<Results> ImportSimplifiedLayerNormalization(Node& n) {
  ASSIGN_OR_RETURN(Results results, ImportRmsNormalization(n));
  if (!n.Wants(1)) return results;
  const Value& x = n.In(0);
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", -1), x.rank()));
  std::vector<int64_t> axes(static_cast<size_t>(x.rank() - axis));
  std::iota(axes.begin(), axes.end(), axis);
  ASSIGN_OR_RETURN(const ElementType stash, ToElementType(n.Int("stash_type", TensorProto::FLOAT)));
  const Value wide = n.b.Cast(x, stash);
  const Value mean = n.b.Reduce("reduce_mean", n.b.Mul(wide, wide), axes);
  const Value deviation = n.b.Unary("sqrt", n.b.Add(mean, n.b.Scalar(stash, n.Float("epsilon", 1e-5))));
  results.push_back(n.b.Unary("reciprocal", deviation));
  return results;
}

absl::StatusOr<Results> ImportLpNormalization(Node& n) {
  const Value& x = n.In(0);
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(n.Int("axis", -1), x.rank()));
  const int64_t p = n.Int("p", 2);
  if (p != 1 && p != 2) return absl::InvalidArgumentError(absl::StrCat("p is ", p, ", it must be 1 or 2"));
  const Value norm = p == 1 ? n.b.Reduce("reduce_sum", n.b.Unary("abs", x), {axis})
                            : n.b.Unary("sqrt", n.b.Reduce("reduce_sum", n.b.Mul(x, x), {axis}));
  // Vectors of zeros stay as they are.
  const Value zero = n.b.Scalar(x.element(), 0);
  return Results{n.b.Where(n.b.Compare("equal", norm, zero), zero, n.b.Div(x, norm))};
}

absl::StatusOr<Results> ImportMeanVarianceNormalization(Node& n) {
  const Value& x = n.In(0);
  std::vector<int64_t> axes;
  bool scale = true;
  if (n.version() < 9) {
    for (int64_t axis : {0, 2, 3}) axes.push_back(axis);
    if (n.Flag("across_channels", false)) axes = {0, 1, 2, 3};
    scale = n.Flag("normalize_variance", true);
  } else {
    axes = n.Ints("axes", {0, 2, 3});
  }
  ASSIGN_OR_RETURN(axes, n.Axes(std::move(axes), x.rank()));
  const Value mean = n.b.Reduce("reduce_mean", x, axes);
  const Value centred = n.b.Sub(x, mean);
  if (!scale) return Results{centred};
  const Value variance = n.b.Reduce("reduce_mean", n.b.Mul(centred, centred), axes);
  const Value deviation = n.b.Add(n.b.Unary("sqrt", variance), n.b.Scalar(x.element(), 1e-9));
  return Results{n.b.Div(centred, deviation)};
}

absl::StatusOr<Results> ImportLrn(Node& n) {
  const int64_t size = n.Int("size", 0);
  if (size < 1 || size > (int64_t{1} << 30)) return absl::InvalidArgumentError("the attribute size must be at least 1");
  RETURN_IF_ERROR(n.RequireRank(0, 2));
  return Results{n.b.Unary("lrn", n.In(0),
                           {{"size", size},
                            {"alpha", n.Float("alpha", 0.0001)},
                            {"beta", n.Float("beta", 0.75)},
                            {"bias", n.Float("bias", 1.0)}})};
}

}  // namespace

Family NormalisationFamily() {
  static const std::vector<Operator> operators = {
      {"BatchNormalization", {1, 6, 7, 9, 14, 15}, 5, 5, ImportBatchNormalization},
      {"GroupNormalization", {18, 21}, 3, 3, ImportGroupNormalization},
      {"InstanceNormalization", {1, 6, 22}, 3, 3, ImportInstanceNormalization},
      {"LRN", {1, 13}, 1, 1, ImportLrn},
      {"LayerNormalization", {1, 17}, 2, 3, ImportLayerNormalization},
      {"LpNormalization", {1, 22}, 1, 1, ImportLpNormalization},
      {"MeanVarianceNormalization", {1, 9, 13}, 1, 1, ImportMeanVarianceNormalization},
      {"RMSNormalization", {23}, 2, 2, ImportRmsNormalization},
      {"SimplifiedLayerNormalization", {1}, 2, 2, ImportSimplifiedLayerNormalization},
  };
  return {"normalisation", operators};
}

}  // namespace aot::import::onnx
