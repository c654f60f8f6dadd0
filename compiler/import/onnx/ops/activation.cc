// Activation functions, clipping, and what inference makes the identity.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;

absl::StatusOr<Results> ImportPlain(Node& n) {
  std::string name;
  if (n.op() == "Sigmoid") name = "sigmoid";
  if (n.op() == "Relu") name = "relu";
  if (n.op() == "Tanh") name = "tanh";
  if (n.op() == "Softplus") name = "softplus";
  if (n.op() == "Softsign") name = "softsign";
  if (n.op() == "Mish") name = "mish";
  if (n.op() == "HardSwish") name = "hard_swish";
  return Results{n.b.Unary(std::move(name), n.In(0))};
}

absl::StatusOr<Results> ImportLeakyRelu(Node& n) {
  return Results{n.b.Unary("leaky_relu", n.In(0), {{"alpha", n.Float("alpha", 0.01)}})};
}

absl::StatusOr<Results> ImportElu(Node& n) {
  return Results{n.b.Unary("elu", n.In(0), {{"alpha", n.Float("alpha", 1.0)}})};
}

absl::StatusOr<Results> ImportCelu(Node& n) {
  const double alpha = n.Float("alpha", 1.0);
  if (alpha == 0) return absl::InvalidArgumentError("alpha must not be 0");
  return Results{n.b.Unary("celu", n.In(0), {{"alpha", alpha}})};
}

absl::StatusOr<Results> ImportSelu(Node& n) {
  // Version 1 had the constants rounded to four decimals.
  const bool rounded = n.version() < 6;
  const double alpha = n.Float("alpha", rounded ? 1.6732 : 1.67326319217681884765625);
  const double gamma = n.Float("gamma", rounded ? 1.0507 : 1.05070102214813232421875);
  return Results{n.b.Unary("selu", n.In(0), {{"alpha", alpha}, {"gamma", gamma}})};
}

absl::StatusOr<Results> ImportHardSigmoid(Node& n) {
  return Results{
      n.b.Unary("hard_sigmoid", n.In(0), {{"alpha", n.Float("alpha", 0.2)}, {"beta", n.Float("beta", 0.5)}})};
}

absl::StatusOr<Results> ImportThresholdedRelu(Node& n) {
  return Results{n.b.Unary("thresholded_relu", n.In(0), {{"alpha", n.Float("alpha", 1.0)}})};
}

absl::StatusOr<Results> ImportShrink(Node& n) {
  // Bias and lambd are floats whatever the input is; of integers, only the result is cut off.
  const Value& x = n.In(0);
  const Value real = reference::IsFloat(x.element()) ? x : n.b.Cast(x, ElementType::kFloat64);
  const Value shrunk = n.b.Unary("shrink", real, {{"bias", n.Float("bias", 0.0)}, {"lambd", n.Float("lambd", 0.5)}});
  return Results{n.b.Cast(shrunk, x.element())};
}

absl::StatusOr<Results> ImportGelu(Node& n) {
  const std::string approximate = n.String("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    return absl::InvalidArgumentError("the attribute approximate must be none or tanh");
  }
  return Results{n.b.Unary("gelu", n.In(0), {{"approximate", approximate == "tanh"}})};
}

absl::StatusOr<Results> ImportSwish(Node& n) {
  const Value& x = n.In(0);
  const double alpha = n.Float("alpha", 1.0);
  const Value scaled = alpha == 1.0 ? x : n.b.Mul(x, n.b.Scalar(x.element(), alpha));
  return Results{n.b.Mul(x, n.b.Unary("sigmoid", scaled))};
}

absl::StatusOr<Results> ImportPRelu(Node& n) {
  const Value& x = n.In(0);
  Value slope = n.In(1);
  RETURN_IF_ERROR(n.RequireSameElement(0, 1));
  if (n.version() < 7 && slope.rank() == 1 && slope.dim(0) != 1 && x.rank() > 1) {
    // One slope for each channel.
    reference::Shape shape(static_cast<size_t>(x.rank()) - 1, 1);
    shape[0] = slope.dim(0);
    slope = n.b.Reshape(slope, std::move(shape));
  }
  const auto shape = BroadcastShape(x.shape(), slope.shape());
  if (!shape || *shape != x.shape()) {
    return absl::InvalidArgumentError(absl::StrCat("the slope's shape ", reference::ToString(slope.shape()),
                                                   " doesn't broadcast to ", reference::ToString(x.shape())));
  }
  return Results{n.b.Binary("prelu", x, slope)};
}

absl::StatusOr<Results> ImportClip(Node& n) {
  Value x = n.In(0);
  Value low, high;
  if (n.version() < 11) {
    if (n.HasAttribute("min")) low = n.b.Scalar(x.element(), n.Float("min", 0));
    if (n.HasAttribute("max")) high = n.b.Scalar(x.element(), n.Float("max", 0));
  } else {
    low = n.In(1);
    high = n.In(2);
  }
  // The upper bound comes last, so that it wins where the bounds cross.
  for (const auto& [bound, name] : {std::pair(low, "max"), std::pair(high, "min")}) {
    if (!bound) continue;
    if (*reference::ElementCount(bound.shape()) != 1 || bound.element() != x.element()) {
      return absl::InvalidArgumentError("bounds must be scalars of the input's type");
    }
    x = n.b.Binary(name, x, n.b.Reshape(bound, {}));
  }
  return Results{x};
}

absl::StatusOr<Results> ImportIdentity(Node& n) { return Results{n.In(0)}; }

}  // namespace

Family ActivationFamily() {
  static const std::vector<Operator> operators = {
      {"Celu", {12}, 1, 1, ImportCelu},
      {"Clip", {1, 6, 11, 12, 13}, 1, 3, ImportClip},
      {"Elu", {1, 6, 22}, 1, 1, ImportElu},
      {"Gelu", {20}, 1, 1, ImportGelu},
      {"HardSigmoid", {1, 6, 22}, 1, 1, ImportHardSigmoid},
      {"HardSwish", {14, 22}, 1, 1, ImportPlain},
      {"Identity", {1, 13, 14, 16, 19, 21, 23, 24, 25}, 1, 1, ImportIdentity, true},
      {"LeakyRelu", {1, 6, 16}, 1, 1, ImportLeakyRelu},
      {"Mish", {18, 22}, 1, 1, ImportPlain},
      {"PRelu", {1, 6, 7, 9, 16}, 2, 2, ImportPRelu},
      {"Relu", {1, 6, 13, 14}, 1, 1, ImportPlain},
      {"Selu", {1, 6, 22}, 1, 1, ImportSelu},
      {"Shrink", {9}, 1, 1, ImportShrink},
      {"Sigmoid", {1, 6, 13}, 1, 1, ImportPlain},
      {"Softplus", {1, 22}, 1, 1, ImportPlain},
      {"Softsign", {1, 22}, 1, 1, ImportPlain},
      {"Swish", {24}, 1, 1, ImportSwish},
      {"Tanh", {1, 6, 13}, 1, 1, ImportPlain},
      {"ThresholdedRelu", {10, 22}, 1, 1, ImportThresholdedRelu},
  };
  return {"activation", operators};
}

}  // namespace aot::import::onnx
