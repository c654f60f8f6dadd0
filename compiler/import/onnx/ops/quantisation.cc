// Quantisation: conversions, and integer arithmetic on quantised tensors written out exactly.
#include "compiler/import/onnx/ops/quantisation.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/convolution.h"
#include "compiler/import/onnx/ops/matrix_product.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

// A scale or zero point in a shape that broadcasts against x: for the whole tensor, along an axis, or for blocks along
// an axis.
absl::StatusOr<Value> Spread(Node& n, const Value& x, const Value& factor, int64_t given_axis, int64_t block) {
  if (Elements(factor.shape()) == 1) return n.b.Reshape(factor, {});
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(given_axis, x.rank()));
  if (factor.rank() == 1 && factor.dim(0) == x.dim(axis)) {
    Shape shape(static_cast<size_t>(x.rank() - axis), 1);
    shape[0] = factor.dim(0);
    return n.b.Reshape(factor, std::move(shape));
  }
  bool fits = block > 0 && factor.rank() == x.rank();
  for (int64_t i = 0; fits && i < x.rank(); ++i) {
    const int64_t blocks = i == axis ? (x.dim(i) + block - 1) / block : x.dim(i);
    fits = factor.dim(i) == blocks;
  }
  if (!fits) {
    return absl::InvalidArgumentError(absl::StrCat("a scale or zero point of ", reference::ToString(factor.shape()),
                                                   " doesn't fit an input of ", reference::ToString(x.shape()),
                                                   " with axis ", axis, " and block_size ", block));
  }
  // Each element `block` times along the axis; the last block may be cut.
  Shape split = factor.shape(), repeated = factor.shape(), merged = factor.shape();
  split.insert(split.begin() + axis + 1, 1);
  repeated.insert(repeated.begin() + axis + 1, block);
  merged[static_cast<size_t>(axis)] = Elements({factor.dim(axis), block});
  const Value whole = n.b.Reshape(n.b.Broadcast(n.b.Reshape(factor, split), repeated), merged);
  const std::vector<int64_t> zeros(x.shape().size(), 0), ones(x.shape().size(), 1);
  return n.b.Slice(whole, zeros, ones, x.shape());
}

absl::StatusOr<int64_t> ReadBlock(Node& n) {
  const int64_t block = n.Int("block_size", 0);
  if (block >= 0 && block <= kMostTensorBytes) return block;
  return absl::InvalidArgumentError(absl::StrCat("block_size is ", block));
}

absl::StatusOr<Results> ImportDynamicQuantizeLinear(Node& n) {
  RETURN_IF_ERROR(n.RequireFloat(0));
  const Quantised q = QuantiseDynamically(n.b, n.In(0));
  return Results{q.value, q.scale, q.zero_point};
}

// The integer that a quantised value stands for, in int32, where differences of 8-bit numbers and sums of their
// products are exact.
absl::StatusOr<Value> Centre(Node& n, size_t x, size_t zero_point, int64_t axis) {
  const Value wide = n.b.Cast(n.In(x), ElementType::kInt32);
  if (!n.Has(zero_point)) return wide;
  RETURN_IF_ERROR(n.RequireSameElement(x, zero_point));
  // The zero points of matrices may already have the shape that broadcasts.
  const auto shape = BroadcastShape(n.In(x).shape(), n.In(zero_point).shape());
  if (n.In(zero_point).rank() > 1 && shape && *shape == n.In(x).shape()) {
    return n.b.Sub(wide, n.b.Cast(n.In(zero_point), ElementType::kInt32));
  }
  ASSIGN_OR_RETURN(const Value spread, Spread(n, n.In(x), n.In(zero_point), axis, 0));
  return n.b.Sub(wide, n.b.Cast(spread, ElementType::kInt32));
}

absl::Status RequireEightBits(Node& n, size_t input) {
  const ElementType element = n.In(input).element();
  if (element == ElementType::kInt8 || element == ElementType::kUint8) return absl::OkStatus();
  return Unsupported(absl::StrCat("input ", input, " of type ", reference::Name(element)), "int8 and uint8");
}

absl::StatusOr<Results> ImportMatMulInteger(Node& n) {
  RETURN_IF_ERROR(RequireEightBits(n, 0));
  RETURN_IF_ERROR(RequireEightBits(n, 1));
  // A's zero points are for rows, B's for columns.
  ASSIGN_OR_RETURN(const Value a, Centre(n, 0, 2, -2));
  ASSIGN_OR_RETURN(const Value c, Centre(n, 1, 3, -1));
  ASSIGN_OR_RETURN(Value product, MatrixProduct(n, a, c, ElementType::kInt32));
  return Results{product};
}

absl::StatusOr<Results> ImportConvInteger(Node& n) {
  RETURN_IF_ERROR(RequireEightBits(n, 0));
  RETURN_IF_ERROR(RequireEightBits(n, 1));
  ASSIGN_OR_RETURN(const Value x, Centre(n, 0, 2, 1));
  ASSIGN_OR_RETURN(const Value filter, Centre(n, 1, 3, 0));
  ASSIGN_OR_RETURN(Value sum, Convolve(n, x, filter, Value(), ElementType::kInt32));
  return Results{sum};
}

// From an exact sum to the result's quantisation: one multiplication by the ratio of the scales, one rounding. In
// float32 whatever the scales' type is: a sum of products soon leaves the range and the precision of 16 bits.
Value Requantise(Builder& b, const Value& sum, const Value& input_scale, const Value& weight_scale, const Value& scale,
                 const Value& zero_point) {
  auto wide = [&](const Value& x) { return b.Cast(x, ElementType::kFloat32); };
  const Value ratio = b.Div(b.Mul(wide(input_scale), wide(weight_scale)), wide(scale));
  const Value real = b.Mul(wide(sum), ratio);
  return b.Emit("quantize", {}, {real, b.Scalar(ElementType::kFloat32, 1.0), zero_point},
                {zero_point.element(), sum.shape()});
}

absl::StatusOr<Results> ImportQLinearMatMul(Node& n) {
  RETURN_IF_ERROR(RequireEightBits(n, 0));
  RETURN_IF_ERROR(RequireEightBits(n, 3));
  for (size_t i : {size_t{4}, size_t{6}}) RETURN_IF_ERROR(n.RequireSameElement(1, i));
  RETURN_IF_ERROR(n.RequireFloat(1));
  ASSIGN_OR_RETURN(const Value a, Centre(n, 0, 2, -2));
  ASSIGN_OR_RETURN(const Value c, Centre(n, 3, 5, -1));
  ASSIGN_OR_RETURN(const Value sum, MatrixProduct(n, a, c, ElementType::kInt32));
  if (Elements(n.In(6).shape()) != 1 || Elements(n.In(7).shape()) != 1) {
    return Unsupported("a result scale for each row", "one result scale and zero point");
  }
  auto spread = [&](size_t x, size_t scale, int64_t axis) -> absl::StatusOr<Value> {
    const auto shape = BroadcastShape(n.In(x).shape(), n.In(scale).shape());
    if (n.In(scale).rank() > 1 && shape && *shape == n.In(x).shape()) return n.In(scale);
    return Spread(n, n.In(x), n.In(scale), axis, 0);
  };
  ASSIGN_OR_RETURN(const Value row_scale, spread(0, 1, -2));
  ASSIGN_OR_RETURN(const Value column_scale, spread(3, 4, -1));
  return Results{Requantise(n.b, sum, row_scale, column_scale, n.b.Reshape(n.In(6), {}), n.b.Reshape(n.In(7), {}))};
}

absl::StatusOr<Results> ImportQLinearConv(Node& n) {
  RETURN_IF_ERROR(RequireEightBits(n, 0));
  RETURN_IF_ERROR(RequireEightBits(n, 3));
  for (size_t i : {size_t{4}, size_t{6}}) RETURN_IF_ERROR(n.RequireSameElement(1, i));
  RETURN_IF_ERROR(n.RequireFloat(1));
  for (size_t i : {1, 6, 7}) {
    if (Elements(n.In(i).shape()) != 1)
      return absl::InvalidArgumentError(absl::StrCat("input ", i, " must be a scalar"));
  }
  ASSIGN_OR_RETURN(const Value x, Centre(n, 0, 2, 1));
  ASSIGN_OR_RETURN(const Value filter, Centre(n, 3, 5, 0));
  // The bias is quantised with the product of the scales, so it adds to the exact sum.
  ASSIGN_OR_RETURN(const Value sum, Convolve(n, x, filter, n.In(8), ElementType::kInt32));
  Value weight_scale = n.b.Reshape(n.In(4), {Elements(n.In(4).shape())});
  if (weight_scale.dim(0) != 1) {
    if (weight_scale.dim(0) != sum.dim(1)) {
      return absl::InvalidArgumentError("the filter needs one scale, or one for each output channel");
    }
    Shape shape(static_cast<size_t>(sum.rank()) - 1, 1);
    shape[0] = sum.dim(1);
    weight_scale = n.b.Reshape(weight_scale, std::move(shape));
  }
  return Results{
      Requantise(n.b, sum, n.b.Reshape(n.In(1), {}), weight_scale, n.b.Reshape(n.In(6), {}), n.b.Reshape(n.In(7), {}))};
}

}  // namespace

absl::StatusOr<Results> ImportQuantizeLinear(Node& n) {
  Value x = n.In(0);
  const int64_t axis = n.Int("axis", 1);
  ASSIGN_OR_RETURN(const int64_t block, ReadBlock(n));
  ElementType element = n.Has(2) ? n.In(2).element() : ElementType::kUint8;
  if (const int64_t dtype = n.Int("output_dtype", 0); dtype != 0) {
    ASSIGN_OR_RETURN(const ElementType wanted, ToElementType(dtype));
    if (n.Has(2) && wanted != element)
      return absl::InvalidArgumentError("output_dtype differs from the zero point's type");
    element = wanted;
  }
  if (!n.Flag("saturate", true)) return Unsupported("saturate=0", "saturate=1");
  RETURN_IF_ERROR(n.RequireFloat(1));
  ASSIGN_OR_RETURN(const Value scale, Spread(n, x, n.In(1), axis, block));
  Value zero_point;
  if (n.Has(2)) {
    ASSIGN_OR_RETURN(zero_point, Spread(n, x, n.In(2), axis, block));
  }
  x = n.b.Cast(x, scale.element());
  return Results{n.b.Emit("quantize", {}, {x, scale, zero_point}, {element, x.shape()})};
}

absl::StatusOr<Results> ImportDequantizeLinear(Node& n) {
  const Value& x = n.In(0);
  const int64_t axis = n.Int("axis", 1);
  ASSIGN_OR_RETURN(const int64_t block, ReadBlock(n));
  RETURN_IF_ERROR(n.RequireFloat(1));
  ASSIGN_OR_RETURN(const Value scale, Spread(n, x, n.In(1), axis, block));
  Value zero_point;
  if (n.Has(2)) {
    RETURN_IF_ERROR(n.RequireSameElement(0, 2));
    ASSIGN_OR_RETURN(zero_point, Spread(n, x, n.In(2), axis, block));
  }
  const Value result = n.b.Emit("dequantize", {}, {x, scale, zero_point}, {scale.element(), x.shape()});
  ElementType element = scale.element();
  if (const int64_t dtype = n.Int("output_dtype", 0); dtype != 0) {
    ASSIGN_OR_RETURN(element, ToElementType(dtype));
  }
  return Results{n.b.Cast(result, element)};
}

Quantised QuantiseDynamically(Builder& b, const Value& x) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  const ElementType element = x.element();
  const Value zero = b.Scalar(element, 0), one = b.Scalar(element, 1), levels = b.Scalar(element, 255);
  const Value high = b.Binary("max", b.Reshape(b.Reduce("reduce_max", x, axes), {}), zero);
  const Value low = b.Binary("min", b.Reshape(b.Reduce("reduce_min", x, axes), {}), zero);
  const Value range = b.Sub(high, low);
  // A tensor of zeros has no range; any scale represents it.
  const Value scale = b.Where(b.Compare("equal", range, zero), one, b.Div(range, levels));
  const Value from_zero = b.Binary("min", b.Binary("max", b.Div(b.Unary("neg", low), scale), zero), levels);
  const Value zero_point = b.Cast(b.Unary("round", from_zero), ElementType::kUint8);
  return {b.Emit("quantize", {}, {x, scale, zero_point}, {ElementType::kUint8, x.shape()}), scale, zero_point};
}

Family QuantisationFamily() {
  static const std::vector<Operator> operators = {
      {"ConvInteger", {10}, 2, 4, ImportConvInteger},
      {"DequantizeLinear", {10, 13, 19, 21, 23, 24, 25}, 2, 3, ImportDequantizeLinear},
      {"DynamicQuantizeLinear", {11}, 1, 1, ImportDynamicQuantizeLinear},
      {"MatMulInteger", {10}, 2, 4, ImportMatMulInteger},
      {"QLinearConv", {10}, 8, 9, ImportQLinearConv},
      {"QLinearMatMul", {10, 21}, 8, 8, ImportQLinearMatMul},
      {"QuantizeLinear", {10, 13, 19, 21, 23, 24, 25}, 2, 3, ImportQuantizeLinear},
  };
  return {"quantisation", operators};
}

}  // namespace aot::import::onnx
