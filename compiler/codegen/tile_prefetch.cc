#include "compiler/codegen/tile_prefetch.h"

namespace aot::codegen {
namespace {

constexpr int64_t kLine = 16;  // elements of a cache line: of 4 bytes

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

TilePrefetch::TilePrefetch(Emitter& emitter, const Contraction& contraction, int64_t depth)
    : e_(emitter), c_(contraction), depth_(depth) {
  if (c_.rhs_ahead == 0) return;
  int64_t tiles = CeilDiv(c_.rows, c_.tile.rows);
  for (size_t d = c_.rhs_ahead_depth; d < c_.outer.size(); ++d) tiles *= c_.outer[d];
  panel_step_ = CeilDiv(c_.tile.width(), tiles);
}

void TilePrefetch::Begin(llvm::ArrayRef<Value> outer, Value row, int64_t rows, Value col, int64_t width, Value lhs,
                         Value rhs) {
  outer_.assign(outer.begin(), outer.end());
  row_ = row, col_ = col;
  rows_ = rows, width_ = width;
  panel_ = OfNextPanel(rhs);
  rows_ahead_ = OfNextRows(lhs);
}

void TilePrefetch::Step(llvm::ArrayRef<Value> k) {
  Value step = e_.Constant(0);
  for (size_t i = 0; i < k.size(); ++i) step = e_.Add(e_.Mul(step, c_.k_sizes[i]), k[i]);
  auto ask = [&](const Buffer& buffer, const Share& share) {
    if (!share.start) return;
    for (int64_t line = 0; line < share.step; line += kLine)
      e_.Prefetch(buffer, e_.Add(e_.Add(share.start, e_.Mul(step, share.step)), line), /*far=*/true);
  };
  ask(c_.rhs, panel_);
  ask(c_.lhs, rows_ahead_);
  if (c_.prefetch) AskForResults(step);
}

TilePrefetch::Share TilePrefetch::Within(const Buffer& buffer, Value start, int64_t step) {
  int64_t last = llvm::cast<mlir::MemRefType>(buffer.memref.getType()).getDimSize(0) - depth_ * step;
  if (last < 0) return {};
  return {e_.Min(start, e_.Constant(last)), step};
}

TilePrefetch::Share TilePrefetch::OfNextPanel(Value rhs) {
  if (panel_step_ == 0) return {};
  Value tile = e_.Constant(0);
  for (size_t d = c_.rhs_ahead_depth; d < c_.outer.size(); ++d) tile = e_.Add(e_.Mul(tile, c_.outer[d]), outer_[d]);
  tile = e_.Add(e_.Mul(tile, CeilDiv(c_.rows, c_.tile.rows)), e_.Div(row_, c_.tile.rows));
  return Within(c_.rhs, e_.Add(e_.Add(rhs, c_.rhs_ahead), e_.Mul(tile, depth_ * panel_step_)), panel_step_);
}

TilePrefetch::Share TilePrefetch::OfNextRows(Value lhs) {
  // Only of a matrix whose rows follow each other, and where all its panels are done before the next rows.
  if (!lhs || !c_.prefetch || c_.tile.panel_outer || c_.lhs_row_stride != depth_ || rows_ == 1) return {};
  int64_t step = CeilDiv(rows_, CeilDiv(c_.cols, c_.tile.width()));
  Value next = e_.Add(lhs, rows_ * c_.lhs_row_stride);
  return Within(c_.lhs, e_.Add(next, e_.Mul(e_.Div(col_, c_.tile.width()), depth_ * step)), step);
}

void TilePrefetch::AskForResults(Value step) {
  int64_t across = CeilDiv(width_, c_.tile.lanes), lines = rows_ * across, share = CeilDiv(lines, depth_);
  for (int64_t i = 0; i < share; ++i) {
    Value line = e_.Min(e_.Add(e_.Mul(step, share), i), e_.Constant(lines - 1));
    Value at = e_.Add(col_, e_.Mul(e_.Rem(line, across), c_.tile.lanes));
    c_.prefetch(c_.result_index(outer_, e_.Add(row_, e_.Div(line, across)), at, 1));
  }
}

}  // namespace aot::codegen
