// Matrix products.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/matrix_product.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/shape_error.h"

namespace aot::import::onnx {

using reference::Shape;

absl::StatusOr<Value> MatrixProduct(Node& n, const Value& lhs, const Value& rhs, reference::ElementType result) {
  if (lhs.rank() == 0 || rhs.rank() == 0) return absl::InvalidArgumentError("scalars can't be multiplied as matrices");
  // A vector is a row on the left, a column on the right; its dimension of 1 goes away in the end.
  Value a = lhs, b = rhs;
  if (lhs.rank() == 1) a = n.b.Reshape(lhs, {1, lhs.dim(0)});
  if (rhs.rank() == 1) b = n.b.Reshape(rhs, {rhs.dim(0), 1});
  if (a.dim(a.rank() - 1) != b.dim(b.rank() - 2)) {
    return ShapeError(absl::StrCat("shapes ", reference::ToString(lhs.shape()), " and ",
                                   reference::ToString(rhs.shape()), " don't multiply"));
  }
  RETURN_IF_ERROR(n.RequireBroadcast(absl::MakeConstSpan(a.shape()).first(a.shape().size() - 2),
                                     absl::MakeConstSpan(b.shape()).first(b.shape().size() - 2)));
  const Value product = n.b.MatMul(a, b, false, false, result);
  Shape shape = product.shape();
  if (rhs.rank() == 1) shape.pop_back();
  if (lhs.rank() == 1) shape.erase(shape.end() - (rhs.rank() == 1 ? 1 : 2));
  return n.b.Reshape(product, std::move(shape));
}

namespace {

absl::StatusOr<Results> ImportMatMul(Node& n) {
  RETURN_IF_ERROR(n.RequireSameElement(0, 1));
  ASSIGN_OR_RETURN(Value result, MatrixProduct(n, n.In(0), n.In(1), n.In(0).element()));
  return Results{result};
}

absl::StatusOr<Results> ImportGemm(Node& n) {
  ASSIGN_OR_RETURN(Value result, Gemm(n));
  return Results{result};
}

}  // namespace

absl::StatusOr<Value> Gemm(Node& n) {
  const Value& a = n.In(0);
  const Value& c = n.In(1);
  RETURN_IF_ERROR(n.RequireSameElement(0, 1));
  RETURN_IF_ERROR(n.RequireRank(0, 2, 2));
  RETURN_IF_ERROR(n.RequireRank(1, 2, 2));
  const bool trans_a = n.Flag("transA", false), trans_b = n.Flag("transB", false);
  const double alpha = n.Float("alpha", 1.0), beta = n.Float("beta", 1.0);
  if (a.dim(trans_a ? 0 : 1) != c.dim(trans_b ? 1 : 0)) {
    return ShapeError(absl::StrCat("shapes ", reference::ToString(a.shape()), " and ", reference::ToString(c.shape()),
                                   " don't multiply"));
  }
  if (!reference::IsFloat(a.element()) && (alpha != std::trunc(alpha) || beta != std::trunc(beta))) {
    return Unsupported(absl::StrCat("alpha ", alpha, " and beta ", beta, " with integers"), "integers for both");
  }
  Value result = n.b.MatMul(a, c, trans_a, trans_b);
  auto scaled = [&](const Value& x, double factor) {
    return factor == 1.0 ? x : n.b.Mul(x, n.b.Scalar(x.element(), factor));
  };
  result = scaled(result, alpha);
  if (!n.Has(2) || beta == 0.0) return result;
  RETURN_IF_ERROR(n.RequireSameElement(0, 2));
  const auto shape = BroadcastShape(result.shape(), n.In(2).shape());
  if (!shape || *shape != result.shape()) {
    return absl::InvalidArgumentError(absl::StrCat("the shape ", reference::ToString(n.In(2).shape()),
                                                   " of C doesn't broadcast to ", reference::ToString(result.shape())));
  }
  return n.b.Add(result, scaled(n.In(2), beta));
}

Family MatMulFamily() {
  static const std::vector<Operator> operators = {
      {"Einsum", {12}, 1, 26, ImportEinsum},
      {"Gemm", {1, 6, 7, 9, 11, 13}, 2, 3, ImportGemm},
      {"MatMul", {1, 9, 13}, 2, 2, ImportMatMul},
  };
  return {"matrix product", operators};
}

}  // namespace aot::import::onnx
