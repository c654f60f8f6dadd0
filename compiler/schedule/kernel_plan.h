// How one group runs on one target: register tile, weight packing, scratch memory. A pure function of the group, of
// which operands are constants and of the target, so that packing (before) and code generation (after) agree.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/NnDialect.h"
#include "compiler/target/target.h"
#include "llvm/ADT/SmallVector.h"

namespace aot::schedule {

// Rows x vectors of accumulators that one pass over the reduction keeps in registers.
struct Tile {
  int rows = 1;
  int vectors = 1;
  int lanes = 1;
  int width() const { return vectors * lanes; }
  // Panels are visited outermost when all of them don't fit the second-level cache, so that one stays in the first.
  bool panel_outer = false;
};

// A matrix operand in panels: [groups][cols / width][K][width], the last panel as narrow as the rest of cols. K runs
// over k_sizes in row-major order. Source element (g, k..., n) lies at g * group_stride + sum k_i * k_strides[i] + n *
// col_stride.
//
// With `products` > 1, for dot product instructions, the last dimension of K goes in words of 32 bits that hold that
// many neighbours of one column, filled up with zeros: [groups][cols / width][1 + words][width]. Each panel begins with
// a row of 32-bit sums that its columns start from: -zero_point times the sum of the column.
struct PanelPacking {
  int64_t groups = 1, group_stride = 0;
  llvm::SmallVector<int64_t, 4> k_sizes, k_strides;
  int64_t cols = 1, col_stride = 1;
  int64_t width = 1;
  int64_t products = 1, zero_point = 0;
  // The filter [3, 3, K, cols] of a convolution goes transformed, as 32-bit floats, a group for each position
  // (winograd.h): the number of results along a tile's side, or 0.
  int winograd = 0;

  int64_t depth() const;     // K
  int64_t elements() const;  // of the packed operand
  int64_t words() const;     // of one column, without what it starts from
  // Of the packed operand, whose elements have this size.
  int64_t bytes(int64_t element_bytes) const;
};

// A product of 8-bit integers by the target's dot product instruction.
struct DotPlan {
  // Bytes of the left operand that the instruction takes with the other sign: their top bit is flipped as they are
  // loaded, and the zero point with them.
  bool flip_sign = false;
  // The left operand is copied as 16-bit integers without its zero point.
  bool widen = false;
};

struct KernelPlan {
  // A convolution of each channel by itself that reads its input where it lies; tile.rows pixels of a row at a time.
  bool depthwise = false;
  Tile tile;
  std::optional<DotPlan> dot;
  // Results along the side of a tile of minimal filtering (winograd.h), or 0; tile rows that are worked on at once, and
  // where their transformed inputs and products lie.
  int winograd = 0;
  int64_t block_rows = 0, transformed_offset = 0, products_offset = 0;
  // Packing of the operand with this number in the group's operand list, done at compile time.
  std::optional<unsigned> packed_operand;
  // The same packing, done at run time into scratch, for an operand that is not constant.
  bool pack_at_run_time = false;
  PanelPacking packing;
  // The left operand (or the input image with its halo) is copied into scratch first.
  bool copy_input = false;
  llvm::SmallVector<int64_t, 6> padded_shape;  // of that image: spatial dimensions and channels
  // Results, and what is added to them, come from beyond the nearest caches: they are asked for before the sums are
  // made.
  bool prefetch = false;
  // Elements of one row of the left operand (of one pixel of the image) as the product reads it.
  int64_t input_pitch = 0;
  // Byte offsets of the parts of scratch, and its size.
  int64_t input_offset = 0, pack_offset = 0, scratch_bytes = 0;
  // Of recurrent layers, whose first state is at input_offset.
  int64_t second_state_offset = 0, gates_offset = 0;
  // Lists of element numbers (unique, non_max_suppression).
  llvm::SmallVector<int64_t, 3> list_offsets;
};

// The operation of the group that is no elementwise or data movement operation, or null.
mlir::Operation* AnchorOf(nn::GroupOp group);

// `is_constant` has one entry for each operand of the group.
KernelPlan PlanKernel(nn::GroupOp group, llvm::ArrayRef<bool> is_constant, const target::Description& target);

// Chooses the register tile for a product of rows x cols with accumulators of `bits`.
Tile ChooseTile(const target::Description& target, int64_t rows, int64_t cols, int64_t depth, int bits);

// Bytes of one stored element: booleans and integers below 8 bits take one.
int64_t StorageBytes(mlir::Type element);

}  // namespace aot::schedule
