// nn-integer-products: products of dequantised 8-bit operands run on the integers themselves, and integer products
// whose operands were widened first run on the bytes.
//
//   conv(dequantize(x, sx, zx), dequantize(w, sw, zw)) + b  ->  cast(conv(x - zx, w - zw)) * (sx * sw) + b
//
// The sum of products is exact, so the result differs from the float product by rounding only.
#include <cmath>

#include "compiler/graph/matchers.h"
#include "compiler/graph/passes.h"
#include "compiler/graph/product_scale.h"
#include "compiler/ir/reference_bridge.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace aot::graph {

#define GEN_PASS_DEF_INTEGERPRODUCTS
#include "compiler/graph/Passes.h.inc"

namespace {

using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;
using mlir::Value;
using nn::TensorTypeOf;

// A longer sum of products of bytes may leave 32 bits: 2^31 / (255 * 128).
constexpr int64_t kMaxDepth = 65536;

bool IsByte(Value value) { return TensorTypeOf(value).getElementType().isInteger(8); }

// A tensor of bytes and what each is larger than the number that it stands for.
struct Bytes {
  Value value;
  int64_t zero_point = 0;
  double scale = 1;
};

std::optional<int64_t> IntegerSplat(Value value) {
  std::optional<double> splat = SplatValue(value);
  if (!splat || *splat != std::trunc(*splat)) return std::nullopt;
  return static_cast<int64_t>(*splat);
}

// dequantize(x, scale, zero_point), with one scale and one zero point for the whole tensor.
std::optional<Bytes> Dequantised(Value value) {
  auto op = value.getDefiningOp<nn::DequantizeOp>();
  if (!op || !IsByte(op.getInput()) || IsConstant(op.getInput())) return std::nullopt;
  auto scale = SplatValue(op.getScale());
  auto zero = op.getZeroPoint() ? IntegerSplat(op.getZeroPoint()) : std::optional<int64_t>(0);
  if (!scale || !zero) return std::nullopt;
  return Bytes{op.getInput(), *zero, *scale};
}

// cast(x) or cast(x) - constant, in 32 bits.
std::optional<Bytes> Widened(Value value) {
  int64_t zero_point = 0;
  if (auto sub = value.getDefiningOp<nn::SubOp>()) {
    auto zero = IntegerSplat(sub.getRhs());
    if (!zero || std::abs(*zero) > 255 || sub.getLhs().getType() != value.getType()) return std::nullopt;
    zero_point = *zero;
    value = sub.getLhs();
  }
  auto cast = value.getDefiningOp<nn::CastOp>();
  if (!cast || !IsByte(cast.getInput()) || IsConstant(cast.getInput())) return std::nullopt;
  return Bytes{cast.getInput(), zero_point};
}

// Numbers of one product's filter, each with the result channel that it contributes to.
struct Filter {
  reference::Tensor elements;
  size_t axis = 0;  // of the result's channels
  int64_t channels = 1, channel_stride = 1;
  int64_t ChannelOf(int64_t element) const { return element / channel_stride % channels; }
};

std::optional<Filter> FilterOf(mlir::Operation* product, Value constant) {
  auto shape = TensorTypeOf(constant).getShape();
  size_t axis = 0;
  if (auto conv = llvm::dyn_cast<nn::ConvOp>(product)) {
    axis = conv.getChannelsLast() ? shape.size() - 1 : 0;
  } else {
    auto matmul = llvm::cast<nn::MatMulOp>(product);
    if (shape.size() != 2 || matmul.getTransA()) return std::nullopt;
    axis = matmul.getTransB() ? 0 : 1;
  }
  auto tensor = nn::ToTensor(nn::ConstantValue(constant));
  if (!tensor.ok()) return std::nullopt;
  Filter filter{*std::move(tensor), axis, shape[axis]};
  for (size_t d = axis + 1; d < shape.size(); ++d) filter.channel_stride *= shape[d];
  if (filter.channels == 0 || filter.elements.size() / filter.channels > kMaxDepth) return std::nullopt;
  return filter;
}

// Signed bytes `element - zero_points[channel]`, or null if one doesn't fit.
Value SignedBytes(PatternRewriter& rewriter, Value constant, const Filter& filter,
                  llvm::ArrayRef<int64_t> zero_points) {
  mlir::Type element = TensorTypeOf(constant).getElementType();
  bool unchanged = element.isInteger(8) && !element.isUnsignedInteger() &&
                   llvm::all_of(zero_points, [](int64_t zero) { return zero == 0; });
  if (unchanged) return constant;
  auto type = mlir::RankedTensorType::get(TensorTypeOf(constant).getShape(), rewriter.getI8Type());
  reference::Tensor bytes(*nn::ToTensorType(type));
  for (int64_t i = 0; i < bytes.size(); ++i) {
    int64_t value = filter.elements.GetInt(i) - zero_points[static_cast<size_t>(filter.ChannelOf(i))];
    if (value < -128 || value > 127) return {};
    bytes.SetInt(i, value);
  }
  return nn::ConstantOp::create(rewriter, constant.getLoc(), type, nn::FromTensor(bytes, rewriter.getContext()));
}

// The product on bytes with a 32-bit result; a convolution keeps an integer bias.
Value IntegerProduct(PatternRewriter& rewriter, mlir::Operation* product, const Bytes& input, Value filter,
                     Value bias) {
  auto type = mlir::RankedTensorType::get(TensorTypeOf(product->getResult(0)).getShape(), rewriter.getI32Type());
  if (auto conv = llvm::dyn_cast<nn::ConvOp>(product))
    return nn::ConvOp::create(rewriter, conv.getLoc(), type, input.value, filter, bias, conv.getStrides(),
                              conv.getPads(), conv.getDilations(), conv.getGroup(), conv.getChannelsLast(),
                              input.zero_point);
  auto matmul = llvm::cast<nn::MatMulOp>(product);
  return nn::MatMulOp::create(rewriter, matmul.getLoc(), type, input.value, filter, false, matmul.getTransB(),
                              input.zero_point);
}

// One number, or one for each channel, in the shape that broadcasts against the product's result.
Value ChannelConstant(PatternRewriter& rewriter, mlir::Operation* product, llvm::ArrayRef<double> values) {
  int64_t rank = TensorTypeOf(product->getResult(0)).getRank();
  llvm::SmallVector<int64_t> shape(rank - ChannelAxis(product), 1);
  shape[0] = static_cast<int64_t>(values.size());
  return MakeFloatConstant(rewriter, product->getLoc(), rewriter.getF32Type(), shape, values);
}

// A filter in 32 bits: a constant, or, where folding would have made a large constant larger, still cast(constant) or
// cast(constant) - zero_points. Each number is an element less its channel's zero point.
struct WidenedFilter {
  Value constant;
  Filter filter;
  std::vector<int64_t> zero_points;
};

std::optional<WidenedFilter> ConstantFilter(mlir::Operation* product, Value value) {
  Value zero;
  if (auto sub = value.getDefiningOp<nn::SubOp>(); sub && sub.getLhs().getType() == value.getType()) {
    zero = sub.getRhs();
    value = sub.getLhs();
  }
  // The numbers of bytes stay what they are in 32 bits.
  if (auto cast = value.getDefiningOp<nn::CastOp>(); cast && IsByte(cast.getInput())) value = cast.getInput();
  if (!IsConstant(value)) return std::nullopt;
  auto filter = FilterOf(product, value);
  if (!filter) return std::nullopt;
  std::vector<int64_t> zero_points(filter->channels, 0);
  if (zero) {
    // One number, or one for each channel along the filter's axis.
    auto shape = TensorTypeOf(zero).getShape();
    const size_t missing = TensorTypeOf(value).getShape().size() - shape.size();
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] != 1 && d + missing != filter->axis) return std::nullopt;
    mlir::ElementsAttr attribute = nn::ConstantValue(zero);
    auto numbers = attribute ? nn::ToTensor(attribute) : absl::InvalidArgumentError("not a constant");
    if (!numbers.ok() || (numbers->size() != 1 && numbers->size() != filter->channels)) return std::nullopt;
    for (size_t i = 0; i < zero_points.size(); ++i)
      zero_points[i] = numbers->GetInt(numbers->size() == 1 ? 0 : static_cast<int64_t>(i));
  }
  return WidenedFilter{value, *std::move(filter), std::move(zero_points)};
}

// A constant of integers as one for each channel: a splat, or along the filter's channel axis.
std::optional<std::vector<int64_t>> ZeroPoints(nn::DequantizeOp op, const Filter& filter) {
  if (!op.getZeroPoint()) return std::vector<int64_t>(filter.channels, 0);
  mlir::ElementsAttr attribute = nn::ConstantValue(op.getZeroPoint());
  if (!attribute) return std::nullopt;
  auto tensor = nn::ToTensor(attribute);
  if (!tensor.ok()) return std::nullopt;
  if (tensor->size() == 1) return std::vector<int64_t>(filter.channels, tensor->GetInt(0));
  auto scales = TensorTypeOf(op.getScale()).getShape(), zeros = TensorTypeOf(op.getZeroPoint()).getShape();
  if (zeros != scales || tensor->size() != filter.channels) return std::nullopt;  // along the scales' axis
  std::vector<int64_t> values(tensor->size());
  for (int64_t i = 0; i < tensor->size(); ++i) values[i] = tensor->GetInt(i);
  return values;
}

template <typename Op>
struct DequantisedProduct : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter& rewriter) const override {
    if (!TensorTypeOf(op.getResult()).getElementType().isF32()) return failure();
    auto input = Dequantised(op->getOperand(0));
    auto weights = op->getOperand(1).template getDefiningOp<nn::DequantizeOp>();
    if (!input || !weights || !IsByte(weights.getInput()) || !IsConstant(weights.getInput())) return failure();
    auto filter = FilterOf(op, weights.getInput());
    if (!filter) return failure();
    int64_t rank = TensorTypeOf(weights.getInput()).getRank();
    auto scales = PerChannel(weights.getScale(), rank, static_cast<int64_t>(filter->axis), filter->channels);
    auto zero_points = ZeroPoints(weights, *filter);
    Value bias;
    if (auto conv = llvm::dyn_cast<nn::ConvOp>(op.getOperation())) bias = conv.getBias();
    auto offsets = bias ? FloatElements(bias) : std::vector<double>();
    if (!scales || !zero_points || !offsets) return failure();
    Value bytes = SignedBytes(rewriter, weights.getInput(), *filter, *zero_points);
    if (!bytes) return failure();

    Value sum = IntegerProduct(rewriter, op, *input, bytes, Value());
    for (double& scale : *scales) scale *= input->scale;
    if (SplatValue(weights.getScale())) scales->resize(1);
    mlir::Type type = op.getType();
    Value real = nn::CastOp::create(rewriter, op.getLoc(), type, sum);
    real = nn::MulOp::create(rewriter, op.getLoc(), type, real, ChannelConstant(rewriter, op, *scales));
    if (bias) real = nn::AddOp::create(rewriter, op.getLoc(), type, real, ChannelConstant(rewriter, op, *offsets));
    rewriter.replaceOp(op, real);
    return success();
  }
};

// Products of ConvInteger, MatMulInteger and QLinear operators, which the importer writes out in 32 bits.
template <typename Op>
struct WidenedProduct : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter& rewriter) const override {
    if (!TensorTypeOf(op.getResult()).getElementType().isInteger(32)) return failure();
    if (!TensorTypeOf(op->getOperand(0)).getElementType().isInteger(32)) return failure();
    auto weights = ConstantFilter(op, op->getOperand(1));
    if (!weights) return failure();
    Value lhs = op->getOperand(0), zero_point;
    auto input = Widened(lhs);
    // A zero point of run time leaves a product behind that the columns' sums give: there is no padding to mind.
    if (auto sub = lhs.getDefiningOp<nn::SubOp>(); !input && sub && llvm::isa<nn::MatMulOp>(op.getOperation())) {
      if (TensorTypeOf(sub.getRhs()).getNumElements() != 1 || sub.getLhs().getType() != lhs.getType()) return failure();
      input = Widened(sub.getLhs());
      zero_point = sub.getRhs();
    }
    if (!input) return failure();
    Value bytes = SignedBytes(rewriter, weights->constant, weights->filter, weights->zero_points);
    if (!bytes) return failure();
    Value bias;
    if (auto conv = llvm::dyn_cast<nn::ConvOp>(op.getOperation())) bias = conv.getBias();
    Value product = IntegerProduct(rewriter, op, *input, bytes, bias);
    if (zero_point) product = Subtract(rewriter, op, product, zero_point, *weights);
    rewriter.replaceOp(op, product);
    return success();
  }

  // product - zero_point * (sum of each column)
  static Value Subtract(PatternRewriter& rewriter, Op op, Value product, Value zero_point,
                        const WidenedFilter& weights) {
    const Filter& filter = weights.filter;
    auto type = mlir::RankedTensorType::get({filter.channels}, rewriter.getI32Type());
    reference::Tensor sums(*nn::ToTensorType(type));
    std::vector<int64_t> totals(filter.channels, 0);
    for (int64_t i = 0; i < filter.elements.size(); ++i) {
      const int64_t channel = filter.ChannelOf(i);
      totals[channel] += filter.elements.GetInt(i) - weights.zero_points[channel];
    }
    for (int64_t c = 0; c < filter.channels; ++c) sums.SetInt(c, totals[c]);
    mlir::Location at = op.getLoc();
    Value columns = nn::ConstantOp::create(rewriter, at, type, nn::FromTensor(sums, rewriter.getContext()));
    Value scalar =
        nn::ReshapeOp::create(rewriter, at, mlir::RankedTensorType::get({1}, rewriter.getI32Type()), zero_point);
    Value share = nn::MulOp::create(rewriter, at, type, scalar, columns);
    return nn::SubOp::create(rewriter, at, product.getType(), product, share);
  }
};

struct IntegerProducts : impl::IntegerProductsBase<IntegerProducts> {
  using IntegerProductsBase::IntegerProductsBase;
  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    patterns.add<WidenedProduct<nn::ConvOp>, WidenedProduct<nn::MatMulOp>>(&getContext());
    if (!strict_math) patterns.add<DequantisedProduct<nn::ConvOp>, DequantisedProduct<nn::MatMulOp>>(&getContext());
    (void)mlir::applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

}  // namespace
}  // namespace aot::graph
