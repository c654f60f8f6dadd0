// The register-tiled product under matrix products and convolutions: rows x panels of accumulators, a loop over one
// long reduction, then the epilogue on each accumulator and a store.
#pragma once

#include <functional>

#include "compiler/codegen/evaluator.h"
#include "compiler/schedule/kernel_plan.h"

namespace aot::codegen {

// result[outer..., row, col] = initial + sum over k of lhs[outer..., row, k(, col)] * rhs[outer..., k, col].
// Positions are element indices; strides are static.
struct Contraction {
  llvm::SmallVector<int64_t> outer;  // sizes of the loops around
  int64_t rows = 1, cols = 1;
  schedule::Tile tile;

  Buffer lhs;
  std::function<Value(llvm::ArrayRef<Value> outer)> lhs_base;
  int64_t lhs_row_stride = 0;
  int64_t lhs_col_stride = 0;  // not 0 for depthwise: the lhs is a vector along cols as well

  Buffer rhs;
  std::function<Value(llvm::ArrayRef<Value> outer)> rhs_base;
  bool rhs_packed = false;     // panels of tile.width()
  int64_t rhs_col_stride = 1;  // if not packed

  llvm::SmallVector<int64_t> k_sizes, lhs_k_strides, rhs_k_strides;  // rhs strides: if not packed
  mlir::Type accumulator;                                            // compute type of the result

  // Of an integer lhs: what each element is larger than the number that it stands for.
  int64_t lhs_zero_point = 0;
  // By dot product instructions (schedule::DotPlan): the rhs is packed in 32-bit words, of which the first row of each
  // panel is what the sums start from; the lhs is bytes, its strides count bytes, the last k dimension counts words.
  std::optional<schedule::DotPlan> dot;

  Value result;  // the anchor's value, bound for the epilogue
  // Added before the first product; null for none. Index of the value along cols.
  Value bias;
  std::function<Indices(llvm::ArrayRef<Value> outer, Value row, Value col, int64_t lane_step)> result_index;
  // If set: a guard and the lhs position for each step of all but the last k dimension (transposed convolution).
  std::function<std::pair<Value, Value>(llvm::ArrayRef<Value> outer, Value row, llvm::ArrayRef<Value> k)> guarded_lhs;
  // Brings the panel that is read next into the second cache while this one is worked on, for weights that the caches
  // don't hold: its distance in elements (0: none is asked for), and how many outer loops choose the panel. All row
  // tiles of the loops within ask for their share.
  int64_t rhs_ahead = 0;
  size_t rhs_ahead_depth = 0;
  // If set: asks for the memory that storing the result at an index touches, so that it arrives while the sums are
  // made.
  std::function<void(const Indices& index)> prefetch;
  // Runs before the loops below the outer loops, e.g. to pack an operand.
  std::function<void(llvm::ArrayRef<Value> outer)> prepare;
  size_t prepare_depth = 0;  // number of outer loops around `prepare`
  size_t panel_depth = 0;    // number of outer loops around the loop over panels, if that is outermost
  // Run before and after the loops of one panel, if its loop is outermost.
  std::function<void(Value start)> panel_begin;
  std::function<void(Value start, int64_t width)> panel_end;
};

// Stores what a group yields at one index, given the anchor's elements there.
using StoreResults = std::function<void(const Indices& index, int lanes)>;

void EmitContraction(Evaluator& evaluator, const Contraction& contraction, const StoreResults& store);

// Copies an operand into panels at run time: one group of the packing, read through the evaluator at index(k..., n).
void EmitPacking(Evaluator& evaluator, const schedule::PanelPacking& packing, Value operand, const Buffer& panels,
                 const std::function<Indices(llvm::ArrayRef<Value> k, Value col, int64_t lane_step)>& index, int lanes);

}  // namespace aot::codegen
