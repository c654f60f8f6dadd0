// Builds the body of one kernel function: index arithmetic, loops, loads and stores of native-width vectors.
//
// Kernels address flat one-dimensional memrefs with computed element indices. Index arithmetic is folded and shared as
// it is built (by scope), so that the LLVM IR needs no loop optimisation. Not thread-safe: one emitter a kernel.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "compiler/target/target.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

namespace aot::codegen {

using mlir::Value;

// Memory that a kernel reads or writes: a flat memref whose elements have the storage type of `element`.
struct Buffer {
  Value memref;
  mlir::Type element;  // nn element type (ui8, i1, f16...), which decides how a stored element is read
};

// The index of one dimension in each lane of a vector: base + step * lane.
struct LaneIndex {
  Value base;
  int64_t step = 0;
};
using Indices = llvm::SmallVector<LaneIndex, 6>;

class Emitter {
 public:
  // Inserts at the end of `entry`, which stays the block of constants.
  Emitter(mlir::OpBuilder builder, mlir::Location location, mlir::Block* entry, const target::Description& target);

  mlir::OpBuilder& builder() { return builder_; }
  mlir::Location location() const { return location_; }
  const target::Description& target() const { return target_; }

  //===-- Index arithmetic ----------------------------------------------------===//
  Value Constant(int64_t value);
  std::optional<int64_t> ConstantOf(Value index) const;
  Value Add(Value a, Value b);
  Value Add(Value a, int64_t b) { return Add(a, Constant(b)); }
  Value Sub(Value a, Value b);
  Value Mul(Value a, int64_t b);
  Value Div(Value a, int64_t b);  // operands are not negative
  Value Rem(Value a, int64_t b);
  Value Min(Value a, Value b);
  Value Max(Value a, Value b);
  Value Select(Value condition, Value a, Value b);
  Value Less(Value a, Value b);  // signed; an i1
  Value Equal(Value a, Value b);
  Value And(Value a, Value b);  // of two i1
  // base + step * lane as a vector<lanes x index>.
  Value LaneVector(LaneIndex index, int lanes);

  //===-- Control flow ----------------------------------------------------------===//
  // body runs once for each index from lower up to upper (exclusive); a single static iteration needs no loop.
  void For(Value lower, Value upper, int64_t step, llvm::function_ref<void(Value)> body);
  void For(int64_t count, llvm::function_ref<void(Value)> body) { For(Constant(0), Constant(count), 1, body); }
  // A loop that carries values. Unrolled if the trip count is static and at most `unroll`.
  llvm::SmallVector<Value> Fold(Value lower, Value upper, mlir::ValueRange initial,
                                llvm::function_ref<llvm::SmallVector<Value>(Value, mlir::ValueRange)> body,
                                int64_t unroll = 1, int64_t step = 1);
  // Values of the first branch if the i1 holds, else of the second.
  llvm::SmallVector<Value> If(Value condition, mlir::TypeRange types,
                              llvm::function_ref<llvm::SmallVector<Value>()> then,
                              llvm::function_ref<llvm::SmallVector<Value>()> otherwise);
  // Splits [0, size) into blocks of `block` (a loop) and one rest: body(start, count).
  void Blocks(int64_t size, int64_t block, llvm::function_ref<void(Value, int64_t)> body);
  // Splits [0, size) into vectors: a loop of native width, then narrower ones: body(start, lanes).
  void Vectors(int64_t size, int lanes, llvm::function_ref<void(Value, int)> body);
  // Nested loops over a shape.
  void Nest(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(llvm::ArrayRef<Value>)> body);

  //===-- Memory ----------------------------------------------------------------===//
  // The type in which elements are computed: floats below 32 bits as f32, integers signless.
  mlir::Type ComputeType(mlir::Type element) const;
  // How an element lies in memory: what is narrower than a byte takes one, and 8-bit floats are their bit patterns.
  mlir::Type StorageType(mlir::Type element) const;
  mlir::Type VectorOf(mlir::Type scalar, int lanes) const;  // the scalar itself for one lane
  // Elements at index + lane * lane_step, widened to the compute type.
  Value Load(const Buffer& buffer, Value index, int64_t lane_step, int lanes);
  void Store(Value value, const Buffer& buffer, Value index, int64_t lane_step, int lanes);
  // Asks for the cache line at an index, which will be read or written soon; `far` not before the second cache matters.
  void Prefetch(const Buffer& buffer, Value index, bool far = false);
  // A float rounded to a type below 32 bits as it is stored, without calls into a support library. `saturate` rules
  // what is beyond the 8-bit floats.
  Value Narrow(Value value, mlir::Type to, int lanes, bool saturate = true);
  // A stored float below 32 bits as f32.
  Value Widen(Value value, mlir::Type from, int lanes);
  Value Splat(Value scalar, int lanes);
  Value FloatConstant(mlir::Type scalar, double value, int lanes);
  Value IntConstant(mlir::Type scalar, int64_t value, int lanes);
  Value Zero(mlir::Type scalar, int lanes);
  Value FromLanes(llvm::ArrayRef<Value> scalars);  // one vector of scalars, or the scalar itself
  Value Lane(Value vector, int lane);
  Value Part(Value vector, int first, int lanes);  // some of its lanes
  // `rows` vectors whose lane i is lane r of tile[i]. The tile's vectors have `rows` lanes; both counts are powers of
  // two.
  llvm::SmallVector<Value> TransposeTile(llvm::ArrayRef<Value> tile, int rows);
  // Vectors of equal length element by element in turn: as many vectors, to be stored side by side.
  llvm::SmallVector<Value> Interleave(llvm::ArrayRef<Value> vectors, int lanes);
  // a * b + c, fused where the target has it.
  Value MulAdd(Value a, Value b, Value c);
  // Copies or fills `count` consecutive elements.
  void Fill(const Buffer& buffer, Value start, int64_t count, Value scalar);

  // Native vector width for elements of this type.
  int Lanes(mlir::Type element) const;

  // Scopes share index arithmetic and evaluated elements; a value made in an inner scope is not visible outside.
  class Scope {
   public:
    explicit Scope(Emitter& emitter) : emitter_(emitter) { emitter_.Push(); }
    ~Scope() { emitter_.Pop(); }

   private:
    Emitter& emitter_;
  };
  // Key: an operation or value, indices, lanes. Used by the evaluator.
  using MemoKey = std::vector<int64_t>;
  Value Recall(const MemoKey& key) const;
  void Remember(const MemoKey& key, Value value) { memo_.back()[key] = value; }

 private:
  void Push() { memo_.emplace_back(); }
  void Pop() { memo_.pop_back(); }
  // Stored elements 2, 3 or 4 apart, from whole vectors.
  Value LoadStrided(const Buffer& buffer, Value index, int64_t lane_step, int lanes);
  template <typename Op>
  Value Binary(int tag, Value a, Value b, bool commutes);

  mlir::OpBuilder builder_;
  mlir::Location location_;
  mlir::Block* entry_;
  const target::Description& target_;
  std::map<int64_t, Value> constants_;
  mlir::Operation* last_constant_ = nullptr;
  std::vector<std::map<MemoKey, Value>> memo_;
};

}  // namespace aot::codegen
