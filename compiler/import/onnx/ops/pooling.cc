// Pooling over windows and over all spatial dimensions.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/window.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::Attributes;
using reference::Shape;

// p was a float in version 1 of the Lp operators.
absl::StatusOr<int64_t> ReadP(Node& n) {
  int64_t p = 2;
  if (n.version() < 2) {
    const double value = n.Float("p", 2.0);
    if (value != std::floor(value) || value > 1e6) return Unsupported("a fractional p", "integers");
    p = static_cast<int64_t>(value);
  } else {
    p = n.Int("p", 2);
  }
  if (p < 1) return absl::InvalidArgumentError(absl::StrCat("p is ", p, ", it must be at least 1"));
  return p;
}

absl::StatusOr<Results> ImportPool(Node& n) {
  const Value& x = n.In(0);
  RETURN_IF_ERROR(n.RequireRank(0, 3));
  if (x.rank() > 5) {
    return Unsupported(absl::StrCat(x.rank() - 2, " spatial dimensions"), "1 to 3 spatial dimensions");
  }
  ASSIGN_OR_RETURN(Window window, ReadWindow(n, static_cast<size_t>(x.rank()) - 2, {}));
  ASSIGN_OR_RETURN(Shape sizes,
                   SlidingSizes(window, absl::MakeConstSpan(x.shape()).subspan(2), n.Flag("ceil_mode", false)));
  Shape shape{x.dim(0), x.dim(1)};
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  Attributes attributes = {
      {"kernel", window.kernel}, {"strides", window.strides}, {"pads", window.pads}, {"dilations", window.dilations}};
  std::string name = "max_pool";
  if (n.op() == "AveragePool") {
    name = "avg_pool";
    attributes["count_include_pad"] = n.Flag("count_include_pad", false);
  } else if (n.op() == "LpPool") {
    name = "lp_pool";
    ASSIGN_OR_RETURN(attributes["p"], ReadP(n));
  }
  return Results{n.b.Emit(std::move(name), std::move(attributes), {x}, {x.element(), std::move(shape)})};
}

absl::StatusOr<Results> ImportGlobalPool(Node& n) {
  const Value& x = n.In(0);
  RETURN_IF_ERROR(n.RequireRank(0, 2));
  std::vector<int64_t> spatial;
  for (int64_t i = 2; i < x.rank(); ++i) spatial.push_back(i);
  if (n.op() == "GlobalAveragePool") return Results{n.b.Reduce("reduce_mean", x, spatial)};
  if (n.op() == "GlobalMaxPool") return Results{n.b.Reduce("reduce_max", x, spatial)};
  // (sum |x|^p)^(1/p)
  ASSIGN_OR_RETURN(const int64_t p, ReadP(n));
  const Value magnitude = n.b.Unary("abs", x);
  if (p == 1) return Results{n.b.Reduce("reduce_sum", magnitude, spatial)};
  const Value exponent = n.b.Scalar(x.element(), static_cast<double>(p));
  const Value inverse = n.b.Scalar(x.element(), 1.0 / static_cast<double>(p));
  const Value powers = p == 2 ? n.b.Mul(x, x) : n.b.Binary("pow", magnitude, exponent);
  const Value sum = n.b.Reduce("reduce_sum", powers, spatial);
  return Results{p == 2 ? n.b.Unary("sqrt", sum) : n.b.Binary("pow", sum, inverse)};
}

}  // namespace

Family PoolingFamily() {
  static const std::vector<Operator> operators = {
      {"AveragePool", {1, 7, 10, 11, 19, 22}, 1, 1, ImportPool}, {"GlobalAveragePool", {1, 22}, 1, 1, ImportGlobalPool},
      {"GlobalLpPool", {1, 2, 22}, 1, 1, ImportGlobalPool},      {"GlobalMaxPool", {1, 22}, 1, 1, ImportGlobalPool},
      {"LpPool", {1, 2, 11, 18, 22}, 1, 1, ImportPool},          {"MaxPool", {1, 8, 10, 11, 12, 22}, 1, 1, ImportPool},
  };
  return {"pooling", operators};
}

}  // namespace aot::import::onnx
