// Groups without an anchor: each result element is a function of its index. A concat or constant pad at the root is
// written part by part, so that no element is selected at run time.
#include "compiler/codegen/kernel_context.h"

namespace aot::codegen {
namespace {

// Writes the box [begin, begin + size) of a result whose elements come from `value` at (index - begin).
void EmitBox(KernelContext& context, Value value, const Buffer& buffer, llvm::ArrayRef<int64_t> shape,
             llvm::ArrayRef<int64_t> begin, llvm::ArrayRef<int64_t> size, int lanes) {
  Emitter& e = context.emitter;
  if (llvm::is_contained(size, 0)) return;
  int64_t inner = shape.empty() ? 1 : size.back();
  e.Nest(shape.empty() ? size : size.drop_back(), [&](llvm::ArrayRef<Value> outer) {
    e.Vectors(inner, lanes, [&](Value start, int width) {
      Indices from, to;
      for (size_t d = 0; d < outer.size(); ++d) {
        from.push_back({outer[d], 0});
        to.push_back({e.Add(outer[d], begin[d]), 0});
      }
      if (!shape.empty()) {
        from.push_back({start, 1});
        to.push_back({e.Add(start, begin.back()), 1});
      }
      Value element = context.evaluator.Evaluate(value, from, width);
      e.Store(element, buffer, context.evaluator.Position(shape, to).base, 1, width);
    });
  });
}

// Lanes for a group: native width of its widest element, fewer where an operation reads each lane by itself anyway.
int GroupLanes(KernelContext& context) {
  Emitter& e = context.emitter;
  int lanes = 64;
  for (Value result : context.Yield().getValues())
    lanes = std::min(lanes, e.Lanes(nn::TensorTypeOf(result).getElementType()));
  for (mlir::Operation& op : context.group.getBody().front().without_terminator())
    for (Value operand : op.getOperands()) lanes = std::min(lanes, e.Lanes(nn::TensorTypeOf(operand).getElementType()));
  return lanes;
}

}  // namespace

absl::Status EmitMap(KernelContext& context) {
  Emitter& e = context.emitter;
  auto values = context.Yield().getValues();
  int lanes = GroupLanes(context);
  // Results of one shape share a loop nest (and what they have in common); others get their own.
  llvm::SmallVector<bool> done(values.size(), false);
  for (size_t i = 0; i < values.size(); ++i) {
    if (done[i]) continue;
    auto shape = nn::TensorTypeOf(values[i]).getShape();
    if (auto concat = values[i].getDefiningOp<nn::ConcatOp>()) {
      llvm::SmallVector<int64_t> begin(shape.size(), 0);
      for (Value part : concat.getInputs()) {
        auto size = nn::TensorTypeOf(part).getShape();
        EmitBox(context, part, context.results[i], shape, begin, size, lanes);
        begin[concat.getAxis()] += size[concat.getAxis()];
      }
      continue;
    }
    auto pad = values[i].getDefiningOp<nn::PadOp>();
    if (pad && pad.getMode() == "constant" && llvm::all_of(pad.getBegins(), [](int64_t b) { return b >= 0; })) {
      auto size = nn::TensorTypeOf(pad.getInput()).getShape();
      bool crops = false;
      for (size_t d = 0; d < size.size(); ++d) crops |= pad.getBegins()[d] + size[d] > shape[d];
      if (!crops) {
        mlir::Type element = nn::TensorTypeOf(values[i]).getElementType();
        Value padding = e.Zero(e.ComputeType(element), 1);
        if (Value given = pad.getValue())
          padding = context.evaluator.Evaluate(
              given, Indices(nn::TensorTypeOf(given).getRank(), LaneIndex{e.Constant(0), 0}), 1);
        e.Fill(context.results[i], e.Constant(0), nn::TensorTypeOf(values[i]).getNumElements(), padding);
        EmitBox(context, pad.getInput(), context.results[i], shape, pad.getBegins(), size, lanes);
        continue;
      }
    }
    if (llvm::is_contained(shape, 0)) continue;
    int64_t inner = shape.empty() ? 1 : shape.back();
    e.Nest(shape.empty() ? shape : shape.drop_back(), [&](llvm::ArrayRef<Value> outer) {
      e.Vectors(inner, lanes, [&](Value start, int width) {
        Indices index;
        for (Value iv : outer) index.push_back({iv, 0});
        if (!shape.empty()) index.push_back({start, 1});
        Value position = context.evaluator.Position(shape, index).base;
        for (size_t j = i; j < values.size(); ++j) {
          if (nn::TensorTypeOf(values[j]).getShape() != shape) continue;
          if (j != i && llvm::isa_and_nonnull<nn::ConcatOp, nn::PadOp>(values[j].getDefiningOp())) continue;
          done[j] = true;
          e.Store(context.evaluator.Evaluate(values[j], index, width), context.results[j], position, 1, width);
        }
      });
    });
  }
  return absl::OkStatus();
}

}  // namespace aot::codegen
