// Determinants of matrices, by elimination with partial pivoting, one step written out after the other.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

constexpr int64_t kLargestMatrix = 256;  // rows: each is a dozen operations

absl::StatusOr<Results> ImportDet(Node& n) {
  Builder& b = n.b;
  const Value& x = n.In(0);
  RETURN_IF_ERROR(n.RequireFloat(0));
  RETURN_IF_ERROR(n.RequireRank(0, 2));
  const int64_t size = x.dim(x.rank() - 1);
  if (x.dim(x.rank() - 2) != size) {
    return absl::InvalidArgumentError(absl::StrCat("matrices of ", reference::ToString(x.shape()), " aren't square"));
  }
  if (size > kLargestMatrix) {
    return Unsupported(absl::StrCat("matrices of ", size, " rows"), absl::StrCat("up to ", kLargestMatrix, " rows"));
  }
  const ElementType element = x.element() == ElementType::kFloat64 ? ElementType::kFloat64 : ElementType::kFloat32;
  const Shape batch(x.shape().begin(), x.shape().end() - 2);
  const int64_t count = Elements(batch);
  auto number = [&](double value) { return b.Scalar(element, value); };
  Value rest = b.Reshape(b.Cast(x, element), {count, size, size});
  Value product = b.Broadcast(number(1), {count, 1, 1});
  for (int64_t left = size; left > 0; --left) {
    auto part = [&](const Value& m, int64_t row, int64_t column, int64_t rows, int64_t columns) {
      return b.Slice(m, {0, row, column}, {1, 1, 1}, {count, rows, columns});
    };
    if (left == 1) {
      product = b.Mul(product, rest);
      break;
    }
    // The largest element of the first column, and its row.
    const Value best = b.Emit("arg_max", {{"axis", int64_t{1}}, {"select_last", false}},
                              {b.Unary("abs", part(rest, 0, 0, left, 1))}, {ElementType::kInt64, {count, 1, 1}});
    const Value row = b.Emit("gather_elements", {{"axis", int64_t{1}}}, {rest, b.Broadcast(best, {count, 1, left})},
                             {element, {count, 1, left}});
    // The first row takes its place; an exchange of rows turns the sign.
    std::vector<int64_t> places;
    for (int64_t i = 1; i < left; ++i) places.push_back(i);
    const Value is_place = b.Compare("equal", b.Reshape(b.Int64s(places), {1, left - 1, 1}), best);
    const Value others = b.Where(is_place, part(rest, 0, 0, 1, left), part(rest, 1, 0, left - 1, left));
    const Value stays = b.Compare("equal", best, b.Scalar(ElementType::kInt64, 0));
    const Value pivot = part(row, 0, 0, 1, 1);
    product = b.Mul(product, b.Where(stays, pivot, b.Unary("neg", pivot)));
    // A column of zeros makes the product 0; what is subtracted then doesn't matter, if only it is finite.
    const Value divisor = b.Where(b.Compare("equal", pivot, number(0)), number(1), pivot);
    const Value factors = b.Div(part(others, 0, 0, left - 1, 1), divisor);
    rest = b.Sub(part(others, 0, 1, left - 1, left - 1), b.Mul(factors, part(row, 0, 1, 1, left - 1)));
  }
  return Results{b.Cast(b.Reshape(product, batch), x.element())};
}

}  // namespace

Family DeterminantFamily() {
  static const std::vector<Operator> operators = {{"Det", {11, 22}, 1, 1, ImportDet}};
  return {"determinants", operators};
}

}  // namespace aot::import::onnx
