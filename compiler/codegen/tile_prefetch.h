// What a register-tiled product asks the caches for while it works on a tile: the memory that its results go to, the
// rows of the next tile and its share of the panel that is read next. All of it is spread over the steps of the
// reduction, for a processor waits for no more than some lines at once.
#pragma once

#include "compiler/codegen/contraction.h"

namespace aot::codegen {

class TilePrefetch {
 public:
  // `depth`: steps of the reduction. Keeps references to both.
  TilePrefetch(Emitter& emitter, const Contraction& contraction, int64_t depth);

  // Before the reduction of a tile of rows x width, whose operands begin at `lhs` (null if unknown) and `rhs`.
  void Begin(llvm::ArrayRef<Value> outer, Value row, int64_t rows, Value col, int64_t width, Value lhs, Value rhs);
  // In each step of it; `k` is the position in the dimensions of the reduction.
  void Step(llvm::ArrayRef<Value> k);

 private:
  // A run of elements of a buffer: each step of the reduction asks for the next `step` of them. Null: nothing is.
  struct Share {
    Value start;
    int64_t step = 0;
  };
  Share OfNextPanel(Value rhs);
  Share OfNextRows(Value lhs);
  // The share that begins at `start`, moved to the front where it would reach over the buffer's end.
  Share Within(const Buffer& buffer, Value start, int64_t step);
  void AskForResults(Value step);

  Emitter& e_;
  const Contraction& c_;
  int64_t depth_;
  int64_t panel_step_ = 0;  // of the next panel, for each row tile that reads this one
  // Of the tile at hand.
  llvm::SmallVector<Value> outer_;
  Value row_, col_;
  int64_t rows_ = 0, width_ = 0;
  Share panel_, rows_ahead_;
};

}  // namespace aot::codegen
