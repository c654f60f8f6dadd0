// com.microsoft: operators on quantised tensors, computed on the real numbers that these stand for.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/pooling.h"
#include "compiler/import/onnx/ops/quantisation.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

absl::StatusOr<Value> ScalarInput(Node& n, size_t input) {
  if (Elements(n.In(input).shape()) == 1) return n.b.Reshape(n.In(input), {});
  return absl::InvalidArgumentError(
      absl::StrCat("input ", input, " is ", reference::ToString(n.In(input).shape()), ", one element is expected"));
}

// The real numbers of input x, with the scale in the next input and the zero point, which may be absent, behind that.
absl::StatusOr<Value> Real(Node& n, size_t x) {
  const ElementType element = n.In(x).element();
  if (element != ElementType::kInt8 && element != ElementType::kUint8) {
    return Unsupported(absl::StrCat("input ", x, " of type ", reference::Name(element)), "int8 and uint8");
  }
  if (!n.Has(x + 1)) return absl::InvalidArgumentError(absl::StrCat("the scale, input ", x + 1, ", is missing"));
  RETURN_IF_ERROR(n.RequireFloat(x + 1));
  ASSIGN_OR_RETURN(const Value scale, ScalarInput(n, x + 1));
  Value zero_point;
  if (n.Has(x + 2)) {
    RETURN_IF_ERROR(n.RequireSameElement(x, x + 2));
    ASSIGN_OR_RETURN(zero_point, ScalarInput(n, x + 2));
  }
  return n.b.Emit("dequantize", {}, {n.In(x), scale, zero_point}, {scale.element(), n.In(x).shape()});
}

// Back to the type of input 0 or of the zero point, with the scale in input `scale` and the zero point behind it.
absl::StatusOr<Value> Back(Node& n, const Value& real, size_t scale_input, ElementType element) {
  if (!n.Has(scale_input)) {
    return absl::InvalidArgumentError(absl::StrCat("the result's scale, input ", scale_input, ", is missing"));
  }
  RETURN_IF_ERROR(n.RequireFloat(scale_input));
  ASSIGN_OR_RETURN(const Value scale, ScalarInput(n, scale_input));
  Value zero_point;
  if (n.Has(scale_input + 1)) {
    ASSIGN_OR_RETURN(zero_point, ScalarInput(n, scale_input + 1));
    if (zero_point.element() != element) {
      return absl::InvalidArgumentError(absl::StrCat("the result's zero point is ",
                                                     reference::Name(zero_point.element()), ", ",
                                                     reference::Name(element), " is expected"));
    }
  }
  return n.b.Emit("quantize", {}, {real, scale, zero_point}, {element, real.shape()});
}

absl::StatusOr<Results> ImportBinary(Node& n) {
  RETURN_IF_ERROR(n.RequireSameElement(0, 3));
  ASSIGN_OR_RETURN(const Value a, Real(n, 0));
  ASSIGN_OR_RETURN(const Value c, Real(n, 3));
  ASSIGN_OR_RETURN(const Value real, n.Broadcasting(n.op() == "QLinearAdd" ? "add" : "mul", a, c));
  ASSIGN_OR_RETURN(Value result, Back(n, real, 6, n.In(0).element()));
  return Results{result};
}

absl::StatusOr<Results> ImportUnary(Node& n) {
  ASSIGN_OR_RETURN(const Value x, Real(n, 0));
  const Value real = n.op() == "QLinearSigmoid" ? n.b.Unary("sigmoid", x)
                                                : n.b.Unary("leaky_relu", x, {{"alpha", n.Float("alpha", 0.01)}});
  ASSIGN_OR_RETURN(Value result, Back(n, real, 3, n.In(0).element()));
  return Results{result};
}

// Inputs: the result's scale and zero point, then value, scale and zero point of each part.
absl::StatusOr<Results> ImportConcat(Node& n) {
  if ((n.input_count() - 2) % 3 != 0) return absl::InvalidArgumentError("each part needs a scale and a zero point");
  std::vector<Value> parts;
  int64_t axis = 0;
  for (size_t i = 2; i < static_cast<size_t>(n.input_count()); i += 3) {
    if (!n.Has(i)) return absl::InvalidArgumentError(absl::StrCat("input ", i, " is missing"));
    RETURN_IF_ERROR(n.RequireSameElement(2, i));
    ASSIGN_OR_RETURN(const Value part, Real(n, i));
    ASSIGN_OR_RETURN(axis, n.Axis(n.Int("axis", 0), part.rank()));
    Shape expected = n.In(2).shape(), shape = part.shape();
    if (shape.size() == expected.size()) shape[static_cast<size_t>(axis)] = expected[static_cast<size_t>(axis)];
    if (shape != expected) {
      return absl::InvalidArgumentError(absl::StrCat("parts of ", reference::ToString(n.In(2).shape()), " and ",
                                                     reference::ToString(part.shape()), " along axis ", axis));
    }
    parts.push_back(part);
  }
  ASSIGN_OR_RETURN(Value result, Back(n, n.b.Concat(parts, axis), 0, n.In(2).element()));
  return Results{result};
}

// [N, spatial..., C] to [N, C, spatial...] and back.
Value ChannelsFirst(Builder& b, const Value& x) {
  std::vector<int64_t> perm = {0, x.rank() - 1};
  for (int64_t i = 1; i + 1 < x.rank(); ++i) perm.push_back(i);
  return b.Transpose(x, std::move(perm));
}
Value ChannelsLast(Builder& b, const Value& x) {
  std::vector<int64_t> perm = {0};
  for (int64_t i = 2; i < x.rank(); ++i) perm.push_back(i);
  perm.push_back(1);
  return b.Transpose(x, std::move(perm));
}

absl::StatusOr<Results> ImportAveragePool(Node& n) {
  RETURN_IF_ERROR(n.RequireRank(0, 3));
  const bool last = n.Flag("channels_last", false);
  ASSIGN_OR_RETURN(Value x, Real(n, 0));
  if (last) x = ChannelsFirst(n.b, x);
  Value real;
  if (n.op() == "QLinearGlobalAveragePool") {
    std::vector<int64_t> spatial;
    for (int64_t i = 2; i < x.rank(); ++i) spatial.push_back(i);
    real = n.b.Reduce("reduce_mean", x, spatial);
  } else {
    ASSIGN_OR_RETURN(real, Pool(n, x, "avg_pool"));
  }
  if (last) real = ChannelsLast(n.b, real);
  ASSIGN_OR_RETURN(Value result, Back(n, real, 3, n.In(0).element()));
  return Results{result};
}

absl::StatusOr<Results> ImportNhwcMaxPool(Node& n) {
  RETURN_IF_ERROR(n.RequireRank(0, 3));
  ASSIGN_OR_RETURN(const Value result, Pool(n, ChannelsFirst(n.b, n.In(0)), "max_pool"));
  return Results{ChannelsLast(n.b, result)};
}

}  // namespace

Family MicrosoftQuantisationFamily() {
  static const std::vector<Operator> operators = {
      {"DequantizeLinear", {1}, 2, 3, ImportDequantizeLinear},
      {"NhwcMaxPool", {1}, 1, 1, ImportNhwcMaxPool},
      {"QLinearAdd", {1}, 7, 8, ImportBinary},
      {"QLinearAveragePool", {1}, 4, 5, ImportAveragePool},
      {"QLinearConcat", {1}, 5, kVariadic, ImportConcat},
      {"QLinearGlobalAveragePool", {1}, 4, 5, ImportAveragePool},
      {"QLinearLeakyRelu", {1}, 4, 5, ImportUnary},
      {"QLinearMul", {1}, 7, 8, ImportBinary},
      {"QLinearSigmoid", {1}, 4, 5, ImportUnary},
      {"QuantizeLinear", {1}, 2, 3, ImportQuantizeLinear},
  };
  return {"quantised arithmetic of ONNX Runtime", operators, kMicrosoftDomain};
}

}  // namespace aot::import::onnx
