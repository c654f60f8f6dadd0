#include "compiler/graph/product_scale.h"

#include "compiler/graph/matchers.h"

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

// The result channel that each element of the filter contributes to.
std::vector<int64_t> ChannelOfElements(mlir::Operation* op) {
  auto filter = TensorTypeOf(op->getOperand(1));
  llvm::ArrayRef<int64_t> shape = filter.getShape();
  int64_t rank = filter.getRank();
  llvm::SmallVector<int64_t> stride(rank, 1);
  for (int64_t i = rank - 2; i >= 0; --i) stride[i] = stride[i + 1] * shape[i + 1];
  auto index = [&](int64_t element, int64_t dimension) { return element / stride[dimension] % shape[dimension]; };

  std::vector<int64_t> channels(filter.getNumElements());
  for (int64_t e = 0; e < filter.getNumElements(); ++e) {
    if (auto matmul = llvm::dyn_cast<nn::MatMulOp>(op)) {
      channels[e] = index(e, matmul.getTransB() ? 0 : 1);
    } else if (llvm::isa<nn::ConvOp>(op)) {
      channels[e] = index(e, HasChannelsLast(op) ? rank - 1 : 0);
    } else {
      // [C, M/group, ...]: input channel c belongs to group c / (C/group), which makes M/group result channels.
      auto conv = llvm::cast<nn::ConvTransposeOp>(op);
      int64_t input_axis = HasChannelsLast(op) ? rank - 2 : 0, result_axis = HasChannelsLast(op) ? rank - 1 : 1;
      int64_t group = index(e, input_axis) / (shape[input_axis] / static_cast<int64_t>(conv.getGroup()));
      channels[e] = group * shape[result_axis] + index(e, result_axis);
    }
  }
  return channels;
}

// A copy of the convolution or product with another filter, and, for convolutions, another bias.
Value Rebuild(mlir::PatternRewriter& rewriter, mlir::Operation* op, Value filter, Value bias) {
  if (auto conv = llvm::dyn_cast<nn::ConvOp>(op))
    return nn::ConvOp::create(rewriter, op->getLoc(), conv.getType(), conv.getInput(), filter, bias,
                              conv.getStridesAttr(), conv.getPadsAttr(), conv.getDilationsAttr(), conv.getGroupAttr(),
                              conv.getChannelsLastAttr());
  if (auto conv = llvm::dyn_cast<nn::ConvTransposeOp>(op))
    return nn::ConvTransposeOp::create(rewriter, op->getLoc(), conv.getType(), conv.getInput(), filter, bias,
                                       conv.getStridesAttr(), conv.getPadsAttr(), conv.getDilationsAttr(),
                                       conv.getGroupAttr(), conv.getChannelsLastAttr());
  auto matmul = llvm::cast<nn::MatMulOp>(op);
  return nn::MatMulOp::create(rewriter, op->getLoc(), matmul.getType(), matmul.getLhs(), filter, matmul.getTransAAttr(),
                              matmul.getTransBAttr());
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
  if (llvm::isa<nn::MatMulOp>(op) && TensorTypeOf(op->getOperand(1)).getRank() != 2) return false;
  return !BiasOf(op) || IsConstant(BiasOf(op));
}

Value ScaleProduct(mlir::PatternRewriter& rewriter, mlir::Operation* op, llvm::ArrayRef<double> factors,
                   llvm::ArrayRef<double> offsets) {
  auto filter = TensorTypeOf(op->getOperand(1));
  std::vector<double> weights = *FloatElements(op->getOperand(1));
  std::vector<int64_t> channels = ChannelOfElements(op);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] *= factors[channels[i]];
  Value scaled = MakeFloatConstant(rewriter, op->getLoc(), filter.getElementType(), filter.getShape(), weights);

  std::vector<double> bias(offsets.begin(), offsets.end());
  if (Value old = BiasOf(op)) {
    std::vector<double> values = *FloatElements(old);
    for (size_t c = 0; c < bias.size(); ++c) bias[c] += values[c] * factors[c];
  }
  int64_t count = static_cast<int64_t>(bias.size());
  bool is_zero = llvm::all_of(bias, [](double b) { return b == 0; });
  if (llvm::isa<nn::MatMulOp>(op)) {
    Value product = Rebuild(rewriter, op, scaled, Value());
    if (is_zero) return product;
    Value offset = MakeFloatConstant(rewriter, op->getLoc(), ElementOf(product), {count}, bias);
    return nn::AddOp::create(rewriter, op->getLoc(), product.getType(), product, offset);
  }
  Value new_bias =
      is_zero ? Value() : MakeFloatConstant(rewriter, op->getLoc(), ElementOf(op->getResult(0)), {count}, bias);
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
