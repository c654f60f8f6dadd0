// Groups without an anchor: each result element is a function of its index. A concat or constant pad at the root is
// written part by part, so that no element is selected at run time.
//
// A result may lie where an operand does if it depends on it element by element (schedule/state.h): whatever the order
// of the loops, all that depends on an element is evaluated before that element is written, results in their order.
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

// The transposes of a group in which everything else is elementwise, if they all bring the same dimension, contiguous
// in memory, elsewhere than last: read in result order, each lane would be a load of its own.
llvm::SmallVector<nn::TransposeOp> TransposesOf(KernelContext& context, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<nn::TransposeOp> transposes;
  for (mlir::Operation& op : context.group.getBody().front().without_terminator()) {
    if (auto transpose = llvm::dyn_cast<nn::TransposeOp>(op)) {
      if (!llvm::isa<mlir::BlockArgument>(transpose.getInput())) return {};
      if (!transposes.empty() && transposes.front().getPerm() != transpose.getPerm()) return {};
      transposes.push_back(transpose);
    } else if (!op.hasTrait<nn::Elementwise>() && !llvm::isa<nn::ConstantOp, nn::QuantizeOp, nn::DequantizeOp>(op)) {
      return {};
    }
  }
  for (nn::TransposeOp transpose : transposes)
    if (nn::TensorTypeOf(transpose.getResult()).getShape() != shape) return {};
  for (Value value : context.Yield().getValues())
    if (nn::TensorTypeOf(value).getShape() != shape) return {};
  if (transposes.empty() || transposes.front().getPerm().back() + 1 == static_cast<int64_t>(shape.size())) return {};
  return transposes;
}

// Writes all results of such a group tile by tile: rows of the input are loaded, turned in registers and written as
// rows of the result.
void EmitTransposed(KernelContext& context, llvm::ArrayRef<nn::TransposeOp> transposes, llvm::ArrayRef<int64_t> shape,
                    int lanes) {
  Emitter& e = context.emitter;
  auto perm = nn::TransposeOp(transposes.front()).getPerm();
  size_t rank = shape.size();
  // The result's dimension that is contiguous in the input.
  size_t contiguous = std::find(perm.begin(), perm.end(), static_cast<int64_t>(rank) - 1) - perm.begin();
  llvm::SmallVector<int64_t> outer;
  for (size_t d = 0; d + 1 < rank; ++d)
    if (d != contiguous) outer.push_back(shape[d]);

  auto write_tile = [&](llvm::ArrayRef<Value> at, Value first, int rows, Value start, int width) {
    Indices index;
    for (size_t d = 0, o = 0; d + 1 < rank; ++d) index.push_back({d == contiguous ? first : at[o++], 0});
    index.push_back({start, 0});
    llvm::SmallVector<llvm::SmallVector<Value>> turned;
    for (nn::TransposeOp transpose : transposes) {
      llvm::SmallVector<Value> loaded;
      for (int i = 0; i < width; ++i) {
        Indices from(rank);
        for (size_t d = 0; d < rank; ++d) from[perm[d]] = index[d];
        from[perm[rank - 1]].base = e.Add(start, i);
        from[perm[contiguous]].step = 1;
        loaded.push_back(context.evaluator.Evaluate(transpose.getInput(), from, rows));
      }
      turned.push_back(e.TransposeTile(loaded, rows));
    }
    index.back().step = 1;
    for (int row = 0; row < rows; ++row) {
      for (size_t t = 0; t < transposes.size(); ++t)
        context.evaluator.BindElement(nn::TransposeOp(transposes[t]).getResult(), turned[t][row]);
      index[contiguous].base = e.Add(first, row);
      context.StoreResults(index, width);
    }
    context.evaluator.UnbindElements();
  };
  e.Nest(outer, [&](llvm::ArrayRef<Value> at) {
    e.Vectors(shape[contiguous], lanes, [&](Value first, int rows) {
      e.Vectors(shape.back(), lanes, [&](Value start, int width) { write_tile(at, first, rows, start, width); });
    });
  });
}

// Whether a group gives pixels of a few channels from planes: its results have one shape [..., W, C], and transposes
// bring the planes' contiguous dimension to W.
bool TurnsFewChannels(KernelContext& context, llvm::ArrayRef<int64_t> shape, int lanes) {
  int64_t rank = static_cast<int64_t>(shape.size());
  if (rank < 2 || shape.back() >= lanes || shape.back() < 2 || shape[rank - 2] < 4) return false;
  bool turns = false;
  for (mlir::Operation& op : context.group.getBody().front().without_terminator()) {
    auto transpose = llvm::dyn_cast<nn::TransposeOp>(op);
    if (!transpose) {
      // What else may be there without reading each lane by itself.
      auto concat = llvm::dyn_cast<nn::ConcatOp>(op);
      if (concat ? concat.getAxis() + 1 == rank
                 : op.hasTrait<nn::Elementwise>() ||
                       llvm::isa<nn::ConstantOp, nn::SliceOp, nn::QuantizeOp, nn::DequantizeOp>(op))
        continue;
      return false;
    }
    auto perm = transpose.getPerm();
    if (static_cast<int64_t>(perm.size()) != rank || perm[rank - 2] != rank - 1) return false;
    turns = true;
  }
  for (Value value : context.Yield().getValues())
    if (nn::TensorTypeOf(value).getShape() != shape) return false;
  return turns;
}

// Evaluates each channel of such a group along W, where its elements lie side by side, and stores them pixel by pixel.
void EmitFewChannels(KernelContext& context, llvm::ArrayRef<int64_t> shape, int lanes) {
  Emitter& e = context.emitter;
  int64_t channels = shape.back();
  e.Nest(shape.drop_back(2), [&](llvm::ArrayRef<Value> outer) {
    e.Vectors(shape[shape.size() - 2], lanes, [&](Value first, int width) {
      for (auto [value, buffer] : llvm::zip(context.Yield().getValues(), context.results)) {
        Indices index;
        for (Value iv : outer) index.push_back({iv, 0});
        index.append({{first, 1}, {}});
        llvm::SmallVector<Value> planes;
        for (int64_t c = 0; c < channels; ++c) {
          index.back() = {e.Constant(c), 0};
          planes.push_back(context.evaluator.Evaluate(value, index, width));
        }
        index.back() = {e.Constant(0), 0};
        Value start = context.evaluator.Position(shape, index).base;
        if (width > 1 && channels <= 4) {
          for (auto [i, part] : llvm::enumerate(e.Interleave(planes, width)))
            e.Store(part, buffer, e.Add(start, static_cast<int64_t>(i) * width), 1, width);
          continue;
        }
        // Powers of two of the channels at once.
        int64_t done = 0;
        for (int piece = lanes; piece >= 1; piece /= 2) {
          for (; done + piece <= channels; done += piece) {
            auto turned = e.TransposeTile(llvm::ArrayRef(planes).slice(done, piece), width);
            for (auto [row, pixel] : llvm::enumerate(turned))
              e.Store(pixel, buffer, e.Add(start, static_cast<int64_t>(row) * channels + done), 1, piece);
          }
        }
      }
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
  auto first_shape = nn::TensorTypeOf(values.front()).getShape();
  if (!llvm::is_contained(first_shape, 0) && TurnsFewChannels(context, first_shape, std::min(lanes, 16))) {
    EmitFewChannels(context, first_shape, std::min(lanes, 16));
    return absl::OkStatus();
  }
  if (auto transposes = TransposesOf(context, first_shape);
      !transposes.empty() && !llvm::is_contained(first_shape, 0)) {
    EmitTransposed(context, transposes, first_shape, std::min(lanes, 16));
    return absl::OkStatus();
  }
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
