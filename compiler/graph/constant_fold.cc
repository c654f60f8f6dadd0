// nn-constant-fold: compiler/reference evaluates what is known at compile time. Deterministic, because reference/ is.
//
// Weights that are folded several times (a scale, then a layout) would otherwise be in memory once for each time:
// results are temporary constants, and go as soon as nothing uses them any more.
#include "compiler/graph/op_classes.h"
#include "compiler/graph/passes.h"
#include "compiler/ir/reference_bridge.h"
#include "compiler/ir/temporary_constant.h"

namespace aot::graph {

#define GEN_PASS_DEF_CONSTANTFOLD
#include "compiler/graph/Passes.h.inc"

namespace {

// Multiplications that one folded product may take: reference/ needs about a nanosecond or two for each.
constexpr int64_t kMaxProductWork = int64_t{1} << 28;
// Of one run of the pass: bytes by which results exceed their operands, multiplications, and bytes read and written
// beside a multiple of the constants' own. What is left over stays for run time. Thousands of nodes that each may be
// folded would otherwise add up to any time and memory.
constexpr int64_t kMaxGrowth = int64_t{128} << 20;
constexpr int64_t kMaxAllProductWork = int64_t{1} << 31;
constexpr int64_t kMaxTraffic = int64_t{1} << 30;
constexpr int64_t kTrafficOfConstants = 8;

int64_t Bytes(mlir::Type type) {
  auto tensor = llvm::cast<mlir::RankedTensorType>(type);
  unsigned bits = tensor.getElementType().isIntOrFloat() ? tensor.getElementTypeBitWidth() : 8;
  return tensor.getNumElements() * ((bits + 7) / 8);
}

struct ConstantFold : impl::ConstantFoldBase<ConstantFold> {
  using ConstantFoldBase::ConstantFoldBase;

  // A dequantised filter whose product may yet run on the bytes.
  static bool IsQuantisedFilter(mlir::Operation* op) {
    auto dequantize = llvm::dyn_cast<nn::DequantizeOp>(op);
    return dequantize && nn::TensorTypeOf(dequantize.getInput()).getElementType().isInteger(8) &&
           llvm::any_of(op->getUses(), [](mlir::OpOperand& use) {
             mlir::Operation* user = use.getOwner();
             return llvm::isa<nn::ConvOp, nn::MatMulOp>(user) && use.getOperandNumber() == 1 &&
                    user->getOperand(0).getDefiningOp<nn::DequantizeOp>();
           });
  }

  // Counts what is worth folding towards the limits.
  bool IsWorthFolding(mlir::Operation* op) {
    if (keep_quantised && IsQuantisedFilter(op)) return false;
    OpClass op_class = Classify(op);
    if (op_class == OpClass::kConstant || op_class == OpClass::kOther || op->getNumOperands() == 0) return false;
    int64_t in = 0, out = 0, work = 0;
    for (mlir::Value operand : op->getOperands()) {
      if (!nn::ConstantValue(operand)) return false;
      in += Bytes(operand.getType());
    }
    for (mlir::Type type : op->getResultTypes()) out += Bytes(type);
    if (llvm::isa<nn::MatMulOp, nn::ConvOp, nn::ConvTransposeOp>(op)) {
      // At most: each element of the result takes every element of the smaller operand once.
      int64_t lhs = nn::TensorTypeOf(op->getOperand(0)).getNumElements();
      int64_t rhs = nn::TensorTypeOf(op->getOperand(1)).getNumElements();
      if (llvm::MulOverflow(nn::TensorTypeOf(op->getResult(0)).getNumElements(), std::min(lhs, rhs), work))
        return false;
    }
    if ((out > max_growth_bytes && out > in) || work > kMaxProductWork) return false;
    const int64_t growth = std::max<int64_t>(0, out - in);
    if (growth > growth_left_ || work > work_left_ || in + out > traffic_left_) return false;
    growth_left_ -= growth;
    work_left_ -= work;
    traffic_left_ -= in + out;
    return true;
  }

  // A result may share an operand's bytes, whose memory goes with the operand.
  static reference::Tensor WithOwnBytes(const reference::Tensor& tensor, llvm::ArrayRef<reference::Tensor> operands) {
    const uint8_t* data = tensor.bytes().data();
    const bool shares = llvm::any_of(operands, [&](const reference::Tensor& operand) {
      return data >= operand.bytes().data() && data < operand.bytes().data() + operand.bytes().size();
    });
    if (!shares) return tensor;
    reference::Tensor copy(tensor.type());
    llvm::copy(tensor.bytes(), copy.mutable_bytes().begin());
    return copy;
  }

  void Fold(mlir::Operation* op) {
    std::vector<reference::Tensor> tensors;
    std::vector<mlir::Value> operands = nn::ReferenceOperands(op);
    tensors.reserve(operands.size());  // pointers into it must stay
    std::vector<const reference::Tensor*> pointers;
    for (mlir::Value operand : operands) {
      pointers.push_back(nullptr);
      if (!operand) continue;
      auto tensor = nn::ToTensor(nn::ConstantValue(operand));
      if (!tensor.ok()) return;
      tensors.push_back(*std::move(tensor));
      pointers.back() = &tensors.back();
    }
    // What reference/ doesn't know is left to run time.
    auto results = reference::Evaluate(nn::ToReference(op), pointers);
    if (!results.ok() || results->size() != op->getNumResults()) return;
    mlir::OpBuilder builder(op);
    for (auto [value, tensor] : llvm::zip(op->getResults(), *results)) {
      mlir::ElementsAttr attribute = nn::FromTemporaryTensor(WithOwnBytes(tensor, tensors), &getContext());
      if (!attribute || attribute.getType() != value.getType()) return;
      auto constant = nn::ConstantOp::create(builder, op->getLoc(), value.getType(), attribute);
      uses_.Add(attribute);
      value.replaceAllUsesWith(constant);
    }
    llvm::SmallVector<nn::ConstantOp> constants;
    for (mlir::Value operand : op->getOperands())
      if (auto constant = operand.getDefiningOp<nn::ConstantOp>()) constants.push_back(constant);
    op->erase();
    // An operand may be there twice.
    llvm::sort(constants, [](nn::ConstantOp a, nn::ConstantOp b) { return a.getOperation() < b.getOperation(); });
    constants.erase(std::unique(constants.begin(), constants.end()), constants.end());
    for (nn::ConstantOp constant : constants)
      if (constant.use_empty()) EraseConstant(constant);
  }

  void EraseConstant(nn::ConstantOp constant) {
    mlir::ElementsAttr value = constant.getValue();
    constant.erase();
    uses_.Remove(value);
  }

  void runOnOperation() override {
    uses_ = nn::TemporaryUses();
    growth_left_ = kMaxGrowth;
    work_left_ = kMaxAllProductWork;
    traffic_left_ = kMaxTraffic;
    getOperation().walk([this](nn::ConstantOp constant) {
      uses_.Add(constant.getValue());
      // One value over any number of elements takes no memory yet.
      if (!llvm::isa<mlir::SplatElementsAttr>(constant.getValue()))
        traffic_left_ += kTrafficOfConstants * Bytes(constant.getType());
    });
    // In program order, so that one walk folds whole chains.
    for (mlir::Block& block : getOperation().getBody())
      for (mlir::Operation& op : llvm::make_early_inc_range(block))
        if (IsWorthFolding(&op)) Fold(&op);
    // Weights that only a folded operation used.
    for (mlir::Block& block : getOperation().getBody())
      for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (auto constant = llvm::dyn_cast<nn::ConstantOp>(op); constant && op.use_empty()) EraseConstant(constant);
  }

  nn::TemporaryUses uses_;  // by the constants of the function
  int64_t growth_left_ = 0, work_left_ = 0, traffic_left_ = 0;
};

}  // namespace
}  // namespace aot::graph
