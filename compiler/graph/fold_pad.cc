// nn-fold-pad: exporters of frameworks with asymmetric padding put an nn.pad before convolutions and poolings.
#include "compiler/graph/matchers.h"
#include "compiler/graph/passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace aot::graph {

#define GEN_PASS_DEF_FOLDPAD
#include "compiler/graph/Passes.h.inc"

namespace {

using llvm::SmallVector;
using mlir::failure;
using mlir::LogicalResult;
using mlir::PatternRewriter;
using mlir::success;
using nn::TensorTypeOf;

// The pads of an operation that reads zero-padded input through `pad`, or nullopt if the padding is of another kind.
std::optional<SmallVector<int64_t>> MergedPads(nn::PadOp pad, llvm::ArrayRef<int64_t> pads, bool channels_last) {
  if (!pad || pad.getMode() != "constant" || (pad.getValue() && !IsSplat(pad.getValue(), 0))) return std::nullopt;
  auto from = TensorTypeOf(pad.getInput()), to = TensorTypeOf(pad);
  int64_t spatial = from.getRank() - 2, first = channels_last ? 1 : 2;
  SmallVector<int64_t> merged(pads);
  for (int64_t i = 0; i < from.getRank(); ++i) {
    int64_t begin = pad.getBegins()[i], end = to.getDimSize(i) - from.getDimSize(i) - begin;
    bool is_spatial = i >= first && i < first + spatial;
    if (begin < 0 || end < 0 || (!is_spatial && begin + end != 0)) return std::nullopt;
    if (!is_spatial) continue;
    merged[i - first] += begin;
    merged[i - first + spatial] += end;
  }
  return merged;
}

struct PadIntoConv : mlir::OpRewritePattern<nn::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::ConvOp op, PatternRewriter& rewriter) const override {
    auto pad = op.getInput().getDefiningOp<nn::PadOp>();
    auto pads = MergedPads(pad, op.getPads(), op.getChannelsLast());
    if (!pads) return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(pad.getInput());
      op.setPads(*pads);
    });
    return success();
  }
};

// Padding counts as cells of value 0 in a mean, as it does after nn.pad; without pads of its own a pooling counts all
// cells anyway.
struct PadIntoAvgPool : mlir::OpRewritePattern<nn::AvgPoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::AvgPoolOp op, PatternRewriter& rewriter) const override {
    auto pad = op.getInput().getDefiningOp<nn::PadOp>();
    auto pads = MergedPads(pad, op.getPads(), op.getChannelsLast());
    if (!pads || (!op.getCountIncludePad() && !StaysInside(op))) return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(pad.getInput());
      op.setPads(*pads);
      op.setCountIncludePad(true);
    });
    return success();
  }

  // Whether no window reaches beyond the input (rounding the result's size up can make one).
  static bool StaysInside(nn::AvgPoolOp op) {
    int64_t first = op.getChannelsLast() ? 1 : 2;
    if (llvm::any_of(op.getPads(), [](int64_t pad) { return pad != 0; })) return false;
    for (size_t i = 0; i < op.getKernel().size(); ++i) {
      int64_t last = (TensorTypeOf(op).getDimSize(first + i) - 1) * op.getStrides()[i];
      if (last + (op.getKernel()[i] - 1) * op.getDilations()[i] >= TensorTypeOf(op.getInput()).getDimSize(first + i))
        return false;
    }
    return true;
  }
};

struct FoldPad : impl::FoldPadBase<FoldPad> {
  using FoldPadBase::FoldPadBase;
  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    patterns.add<PadIntoConv, PadIntoAvgPool>(&getContext());
    (void)mlir::applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

}  // namespace
}  // namespace aot::graph
