// com.microsoft: products and convolutions with what was fused into them, and GELU in its forms.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/convolution.h"
#include "compiler/import/onnx/ops/matrix_product.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::Shape;

// The attribute `activation`, with parameters by position; missing ones are those of ONNX's operator of that name.
absl::StatusOr<Value> Activate(Node& n, const Value& x, const std::vector<double>& parameters) {
  Builder& b = n.b;
  const std::string name = n.String("activation", "");
  auto parameter = [&](size_t i, double otherwise) { return i < parameters.size() ? parameters[i] : otherwise; };
  if (name.empty()) return x;
  if (name == "Relu") return b.Unary("relu", x);
  if (name == "Sigmoid") return b.Unary("sigmoid", x);
  if (name == "Tanh") return b.Unary("tanh", x);
  if (name == "Softplus") return b.Unary("softplus", x);
  if (name == "Softsign") return b.Unary("softsign", x);
  if (name == "HardSwish") return b.Unary("hard_swish", x);
  if (name == "LeakyRelu") return b.Unary("leaky_relu", x, {{"alpha", parameter(0, 0.01)}});
  if (name == "Elu") return b.Unary("elu", x, {{"alpha", parameter(0, 1.0)}});
  if (name == "ThresholdedRelu") return b.Unary("thresholded_relu", x, {{"alpha", parameter(0, 1.0)}});
  if (name == "HardSigmoid") {
    return b.Unary("hard_sigmoid", x, {{"alpha", parameter(0, 0.2)}, {"beta", parameter(1, 0.5)}});
  }
  if (name == "Clip" && parameters.size() == 2) {
    return b.Binary("min", b.Binary("max", x, b.Scalar(x.element(), parameters[0])),
                    b.Scalar(x.element(), parameters[1]));
  }
  return Unsupported(
      absl::StrCat("activation ", Quoted(name), " with ", parameters.size(), " parameters"),
      "Relu, Sigmoid, Tanh, Softplus, Softsign, HardSwish, LeakyRelu, Elu, ThresholdedRelu, HardSigmoid, "
      "and Clip with two bounds");
}

// A convolution, plus input 3 of the result's shape, then the activation.
absl::StatusOr<Results> ImportFusedConv(Node& n) {
  RETURN_IF_ERROR(n.RequireSameElement(0, 1));
  ASSIGN_OR_RETURN(Value sum, Convolve(n, n.In(0), n.In(1), n.In(2), n.In(0).element()));
  if (n.Has(3)) {
    RETURN_IF_ERROR(n.RequireSameElement(0, 3));
    if (n.In(3).shape() != sum.shape()) {
      return absl::InvalidArgumentError(absl::StrCat("input 3 is ", reference::ToString(n.In(3).shape()), ", ",
                                                     reference::ToString(sum.shape()), " is expected"));
    }
    sum = n.b.Add(sum, n.In(3));
  }
  ASSIGN_OR_RETURN(Value result, Activate(n, sum, n.Floats("activation_params")));
  return Results{result};
}

absl::StatusOr<Results> ImportFusedGemm(Node& n) {
  ASSIGN_OR_RETURN(const Value sum, Gemm(n));
  std::vector<double> parameters;
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    if (!n.HasAttribute(name)) break;
    parameters.push_back(n.Float(name, 0.0));
  }
  if (n.HasAttribute("activation_gamma")) return Unsupported("activation_gamma", "activations without it");
  ASSIGN_OR_RETURN(Value result, Activate(n, sum, parameters));
  return Results{result};
}

// The first dimension behind the ones of the batch: [M, batch..., K] to [batch..., M, K].
Value BatchToFront(Builder& b, const Value& x) {
  std::vector<int64_t> perm;
  for (int64_t i = 1; i + 1 < x.rank(); ++i) perm.push_back(i);
  perm.push_back(0);
  perm.push_back(x.rank() - 1);
  return b.Transpose(x, std::move(perm));
}

// alpha A' B', where each may be transposed; vectors never are.
absl::StatusOr<Results> ImportFusedMatMul(Node& n) {
  RETURN_IF_ERROR(n.RequireSameElement(0, 1));
  RETURN_IF_ERROR(n.RequireFloat(0));
  auto operand = [&](size_t i, const char* trans, const char* trans_batch) {
    Value x = n.In(i);
    if (n.Flag(trans_batch, false) && x.rank() > 2) x = BatchToFront(n.b, x);
    if (!n.Flag(trans, false) || x.rank() < 2) return x;
    std::vector<int64_t> perm;
    for (int64_t d = 0; d < x.rank(); ++d) perm.push_back(d);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return n.b.Transpose(x, std::move(perm));
  };
  ASSIGN_OR_RETURN(const Value product, MatrixProduct(n, operand(0, "transA", "transBatchA"),
                                                      operand(1, "transB", "transBatchB"), n.In(0).element()));
  const double alpha = n.Float("alpha", 1.0);
  return Results{alpha == 1.0 ? product : n.b.Mul(product, n.b.Scalar(product.element(), alpha))};
}

// Gelu, BiasGelu and FastGelu; the bias is added before.
absl::StatusOr<Results> ImportGelu(Node& n) {
  RETURN_IF_ERROR(n.RequireFloat(0));
  Value x = n.In(0);
  if (n.Has(1)) {
    RETURN_IF_ERROR(n.RequireSameElement(0, 1));
    if (x.rank() < 1 || n.In(1).shape() != Shape{x.dim(x.rank() - 1)}) {
      return absl::InvalidArgumentError(absl::StrCat("a bias of ", reference::ToString(n.In(1).shape()),
                                                     " doesn't fit an input of ", reference::ToString(x.shape())));
    }
    x = n.b.Add(x, n.In(1));
  }
  return Results{n.b.Unary("gelu", x, {{"approximate", n.op() == "FastGelu"}})};
}

absl::StatusOr<Results> ImportQuickGelu(Node& n) {
  RETURN_IF_ERROR(n.RequireFloat(0));
  const Value& x = n.In(0);
  const Value scaled = n.b.Mul(x, n.b.Scalar(x.element(), n.Float("alpha", 1.702)));
  return Results{n.b.Mul(x, n.b.Unary("sigmoid", scaled))};
}

}  // namespace

Family MicrosoftFusedFamily() {
  static const std::vector<Operator> operators = {
      {"BiasGelu", {1}, 2, 2, ImportGelu},           {"FastGelu", {1}, 1, 2, ImportGelu},
      {"FusedConv", {1}, 2, 4, ImportFusedConv},     {"FusedGemm", {1}, 2, 3, ImportFusedGemm},
      {"FusedMatMul", {1}, 2, 2, ImportFusedMatMul}, {"Gelu", {1}, 1, 1, ImportGelu},
      {"QuickGelu", {1}, 1, 1, ImportQuickGelu},     {"TransposeMatMul", {1}, 2, 2, ImportFusedMatMul},
  };
  return {"fused products", operators, kMicrosoftDomain};
}

}  // namespace aot::import::onnx
