#include "compiler/graph/product_scale.h"

#include <cmath>
#include <limits>

#include "compiler/graph/matchers.h"
#include "compiler/ir/reference_bridge.h"
#include "compiler/ir/temporary_constant.h"

namespace aot::graph {
namespace {

using mlir::Value;
using nn::TensorTypeOf;

bool HasChannelsLast(mlir::Operation* op) {
  if (auto conv = llvm::dyn_cast<nn::ConvOp>(op)) return conv.getChannelsLast();
  if (auto conv = llvm::dyn_cast<nn::ConvTransposeOp>(op)) return conv.getChannelsLast();
  return true;  // matmul: columns
}

Value BiasOf(mlir::Operation* op) {
  if (auto conv = llvm::dyn_cast<nn::ConvOp>(op)) return conv.getBias();
  if (auto conv = llvm::dyn_cast<nn::ConvTransposeOp>(op)) return conv.getBias();
  return Value();
}

// Which result channel each element of a product's filter contributes to.
class FilterChannels {
 public:
  explicit FilterChannels(mlir::Operation* op)
      : shape_(TensorTypeOf(op->getOperand(1)).getShape()), stride_(shape_.size(), 1) {
    int64_t rank = static_cast<int64_t>(shape_.size());
    for (int64_t i = rank - 2; i >= 0; --i) stride_[i] = stride_[i + 1] * shape_[i + 1];
    if (auto matmul = llvm::dyn_cast<nn::MatMulOp>(op)) {
      axis_ = matmul.getTransB() ? 0 : 1;
    } else if (llvm::isa<nn::ConvOp>(op)) {
      axis_ = HasChannelsLast(op) ? rank - 1 : 0;
    } else {
      // [C, M/group, ...]: input channel c belongs to group c / (C/group), which makes M/group result channels.
      input_axis_ = HasChannelsLast(op) ? rank - 2 : 0;
      axis_ = HasChannelsLast(op) ? rank - 1 : 1;
      inputs_per_group_ = shape_[input_axis_] / static_cast<int64_t>(llvm::cast<nn::ConvTransposeOp>(op).getGroup());
    }
  }

  int64_t Of(int64_t element) const {
    int64_t channel = Index(element, axis_);
    return input_axis_ < 0 ? channel : Index(element, input_axis_) / inputs_per_group_ * shape_[axis_] + channel;
  }

 private:
  int64_t Index(int64_t element, int64_t dimension) const { return element / stride_[dimension] % shape_[dimension]; }

  llvm::ArrayRef<int64_t> shape_;
  llvm::SmallVector<int64_t> stride_;
  int64_t axis_ = 0, input_axis_ = -1, inputs_per_group_ = 1;
};

// The constant filter with each element times its channel's factor; null if an element would leave the type's normal
// range, where the product of the unscaled one may well be inside. Element by element: filters may be most of a model.
Value ScaleFilter(mlir::PatternRewriter& rewriter, mlir::Operation* op, llvm::ArrayRef<double> factors) {
  FilterChannels channels(op);
  reference::Tensor filter = *nn::ToTensor(nn::ConstantValue(op->getOperand(1)));
  reference::Tensor scaled(filter.type());
  const bool is_double = filter.element() == reference::ElementType::kFloat64;
  const double least = is_double ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  const double most = is_double ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  for (int64_t e = 0; e < filter.size(); ++e) {
    const double before = filter.GetFloat(e), after = before * factors[channels.Of(e)];
    if (!(std::fabs(after) <= most) || (std::fabs(after) < least && before != 0 && factors[channels.Of(e)] != 0))
      return Value();
    scaled.SetFloat(e, after);
  }
  return nn::ConstantOp::create(rewriter, op->getLoc(), op->getOperand(1).getType(),
                                nn::FromTemporaryTensor(scaled, rewriter.getContext()));
}

// A copy of the convolution or product with another filter, and, for convolutions, another bias.
Value Rebuild(mlir::PatternRewriter& rewriter, mlir::Operation* op, Value filter, Value bias) {
  if (auto conv = llvm::dyn_cast<nn::ConvOp>(op))
    return nn::ConvOp::create(rewriter, op->getLoc(), conv.getType(), conv.getInput(), filter, bias,
                              conv.getStridesAttr(), conv.getPadsAttr(), conv.getDilationsAttr(), conv.getGroupAttr(),
                              conv.getChannelsLastAttr(), conv.getInputZeroPointAttr());
  if (auto conv = llvm::dyn_cast<nn::ConvTransposeOp>(op))
    return nn::ConvTransposeOp::create(rewriter, op->getLoc(), conv.getType(), conv.getInput(), filter, bias,
                                       conv.getStridesAttr(), conv.getPadsAttr(), conv.getDilationsAttr(),
                                       conv.getGroupAttr(), conv.getChannelsLastAttr());
  auto matmul = llvm::cast<nn::MatMulOp>(op);
  return nn::MatMulOp::create(rewriter, op->getLoc(), matmul.getType(), matmul.getLhs(), filter, matmul.getTransAAttr(),
                              matmul.getTransBAttr(), matmul.getLhsZeroPointAttr());
}

mlir::Type ElementOf(Value value) { return TensorTypeOf(value).getElementType(); }

}  // namespace

int64_t ChannelAxis(mlir::Operation* op) {
  return HasChannelsLast(op) ? TensorTypeOf(op->getResult(0)).getRank() - 1 : 1;
}

int64_t ChannelCount(mlir::Operation* op) { return TensorTypeOf(op->getResult(0)).getDimSize(ChannelAxis(op)); }

bool CanScaleProduct(mlir::Operation* op) {
  if (!op || !llvm::isa<nn::ConvOp, nn::ConvTransposeOp, nn::MatMulOp>(op) || !op->getResult(0).hasOneUse())
    return false;
  if (!IsConstant(op->getOperand(1)) || !HasFloatElements(op->getOperand(1)) || !HasFloatElements(op->getResult(0)))
    return false;
  // A scaled filter is rounded once more: 16 bits have no digits and no range to spare for that.
  if (ElementOf(op->getOperand(1)).getIntOrFloatBitWidth() < 32) return false;
  if (llvm::isa<nn::MatMulOp>(op) && TensorTypeOf(op->getOperand(1)).getRank() != 2) return false;
  return (!BiasOf(op) || IsConstant(BiasOf(op))) && nn::ToTensor(nn::ConstantValue(op->getOperand(1))).ok();
}

Value ScaleProduct(mlir::PatternRewriter& rewriter, mlir::Operation* op, llvm::ArrayRef<double> factors,
                   llvm::ArrayRef<double> offsets) {
  std::vector<double> bias(offsets.begin(), offsets.end());
  if (Value old = BiasOf(op)) {
    std::vector<double> values = *FloatElements(old);
    for (size_t c = 0; c < bias.size(); ++c) bias[c] += values[c] * factors[c];
  }
  mlir::Type result = ElementOf(op->getResult(0));
  double most = result.isF64() ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  if (llvm::any_of(bias, [&](double b) { return !(std::fabs(b) <= most); })) return Value();
  Value scaled = ScaleFilter(rewriter, op, factors);
  if (!scaled) return Value();
  int64_t count = static_cast<int64_t>(bias.size());
  bool is_zero = llvm::all_of(bias, [](double b) { return b == 0; });
  if (llvm::isa<nn::MatMulOp>(op)) {
    Value product = Rebuild(rewriter, op, scaled, Value());
    if (is_zero) return product;
    Value offset = MakeFloatConstant(rewriter, op->getLoc(), result, {count}, bias);
    return nn::AddOp::create(rewriter, op->getLoc(), product.getType(), product, offset);
  }
  Value new_bias = is_zero ? Value() : MakeFloatConstant(rewriter, op->getLoc(), result, {count}, bias);
  return Rebuild(rewriter, op, scaled, new_bias);
}

Value AddToBias(mlir::PatternRewriter& rewriter, mlir::Operation* op, llvm::ArrayRef<double> offsets) {
  std::vector<double> bias(offsets.begin(), offsets.end());
  if (Value old = BiasOf(op)) {
    std::vector<double> values = *FloatElements(old);
    for (size_t c = 0; c < bias.size(); ++c) bias[c] += values[c];
  }
  Value constant =
      MakeFloatConstant(rewriter, op->getLoc(), ElementOf(op->getResult(0)), {static_cast<int64_t>(bias.size())}, bias);
  return Rebuild(rewriter, op, op->getOperand(1), constant);
}

}  // namespace aot::graph
