// Evaluates the values of one group at any index: elementwise operations by their scalar function, data movement by
// index arithmetic, group inputs by loads, anchors by what the kernel template bound to them.
#pragma once

#include "compiler/codegen/emitter.h"
#include "compiler/ir/NnDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace aot::codegen {

class Evaluator {
 public:
  explicit Evaluator(Emitter& emitter) : e_(emitter) {}

  // Ties a block argument (or a value kept in scratch) to memory in row-major order.
  void BindBuffer(Value value, Buffer buffer) { buffers_[value] = buffer; }
  const Buffer& BufferOf(Value value) const { return buffers_.find(value)->second; }
  // Ties an anchor's result to elements that the template has just computed; holds until bound again. Users evaluate it
  // at that one index only.
  void BindElement(Value value, Value element);
  void UnbindElements() { elements_.clear(); }

  // The elements of `value` at index (lanes > 1: at each lane of it), in its compute type.
  Value Evaluate(Value value, const Indices& index, int lanes);
  // Asks for what Evaluate will load there, as far as it is read element by element; small operands that are
  // broadcast stay in the cache anyway. `seen`: values that were asked for already, whatever led there.
  void Prefetch(Value value, const Indices& index, llvm::DenseSet<Value>& seen);
  // Row-major position of an index, and the distance between the positions of two lanes.
  LaneIndex Position(llvm::ArrayRef<int64_t> shape, const Indices& index);
  // Whether operations only reach group inputs and constants through the evaluator (no anchor).
  static bool IsMap(mlir::Operation* op);

  Emitter& emitter() { return e_; }

 private:
  Value RoundTo(mlir::Type element, Value value);
  Value Compute(mlir::Operation* op, const Indices& index, int lanes);
  Value Scalarise(Value value, const Indices& index, int lanes);
  Indices BroadcastIndex(Value operand, const Indices& index);
  Value EvaluateConstant(nn::ConstantOp op, const Indices& index, int lanes);
  Value Reshape(nn::ReshapeOp op, const Indices& index, int lanes);
  Value Concat(nn::ConcatOp op, const Indices& index, int lanes);
  Value Pad(nn::PadOp op, const Indices& index, int lanes);
  Value Gather(nn::GatherOp op, const Indices& index, int lanes);
  Value GatherElements(nn::GatherElementsOp op, const Indices& index, int lanes);
  Value GatherNd(nn::GatherNdOp op, const Indices& index, int lanes);
  Value OneHot(nn::OneHotOp op, const Indices& index, int lanes);
  Value Resize(nn::ResizeOp op, const Indices& index, int lanes);
  Value Quantize(nn::QuantizeOp op, const Indices& index, int lanes);
  Value Dequantize(nn::DequantizeOp op, const Indices& index, int lanes);
  // The integer element at a scalar index as an index value, negative ones counted from the end and clamped into [0,
  // size).
  Value LoadIndex(Value indices, const Indices& at, int64_t size);

  Emitter& e_;
  llvm::DenseMap<Value, Buffer> buffers_;
  llvm::DenseMap<Value, Value> elements_;
  int64_t epoch_ = 0;  // changes with every BindElement, so that evaluated users of anchors are not shared
};

}  // namespace aot::codegen
