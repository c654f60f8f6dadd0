// Matrix products: batches around one contraction.
#include "compiler/codegen/contraction.h"
#include "compiler/codegen/dot_product.h"
#include "compiler/codegen/kernel_context.h"

namespace aot::codegen {
namespace {

llvm::ArrayRef<int64_t> ShapeOf(Value value) { return nn::TensorTypeOf(value).getShape(); }

// Copies the lhs into scratch, row by row at the plan's pitch, in the buffer's element type.
void CopyLhs(KernelContext& context, nn::MatMulOp op, const Buffer& buffer) {
  Emitter& e = context.emitter;
  Value value = op.getLhs();
  auto shape = ShapeOf(value);
  int64_t inner = shape.back(), pitch = context.plan.input_pitch;
  bool widen = context.plan.dot && context.plan.dot->widen;
  e.Nest(shape.drop_back(), [&](llvm::ArrayRef<Value> outer) {
    Value row = e.Constant(0);
    for (size_t d = 0; d < outer.size(); ++d) row = e.Add(e.Mul(row, shape[d]), outer[d]);
    e.Vectors(inner, e.Lanes(buffer.element), [&](Value start, int lanes) {
      Indices index;
      for (Value iv : outer) index.push_back({iv, 0});
      index.push_back({start, 1});
      Value element = context.evaluator.Evaluate(value, index, lanes);
      if (widen)
        element = EmitCentred(e, element, nn::TensorTypeOf(value).getElementType(), op.getLhsZeroPoint(), lanes);
      e.Store(element, buffer, e.Add(e.Mul(row, pitch), start), 1, lanes);
    });
    // Multiplied by zeros, but it must be something.
    e.Fill(buffer, e.Add(e.Mul(row, pitch), inner), pitch - inner, e.Zero(e.ComputeType(buffer.element), 1));
  });
}

}  // namespace

absl::Status EmitMatMul(KernelContext& context, nn::MatMulOp op) {
  Emitter& e = context.emitter;
  const schedule::KernelPlan& plan = context.plan;
  auto lhs = ShapeOf(op.getLhs()), rhs = ShapeOf(op.getRhs()), result = ShapeOf(op.getResult());
  auto batch = result.drop_back(2), lhs_batch = lhs.drop_back(2), rhs_batch = rhs.drop_back(2);
  int64_t m = result[result.size() - 2], n = result.back();
  int64_t k = lhs[lhs.size() - (op.getTransA() ? 2 : 1)];

  Contraction c;
  c.outer.assign(batch.begin(), batch.end());
  c.panel_depth = c.outer.size();
  c.rows = m;
  c.cols = n;
  c.tile = plan.tile;
  c.k_sizes = {k};
  c.accumulator = e.ComputeType(nn::TensorTypeOf(op.getResult()).getElementType());
  c.result = op.getResult();

  mlir::Type lhs_element = nn::TensorTypeOf(op.getLhs()).getElementType();
  mlir::Type rhs_element = nn::TensorTypeOf(op.getRhs()).getElementType();
  int64_t pitch = plan.input_pitch,
          lhs_rows = nn::TensorTypeOf(op.getLhs()).getNumElements() / std::max<int64_t>(1, lhs.back());
  c.lhs_zero_point = op.getLhsZeroPoint();
  c.dot = plan.dot;
  if (plan.copy_input) {
    mlir::Type copied = plan.dot && plan.dot->widen ? mlir::Type(e.builder().getI16Type()) : lhs_element;
    c.lhs = context.Scratch(plan.input_offset, lhs_rows * pitch, copied);
    CopyLhs(context, op, c.lhs);
  } else {
    c.lhs = context.evaluator.BufferOf(op.getLhs());
  }
  c.lhs_row_stride = op.getTransA() ? 1 : pitch;
  c.lhs_k_strides = {op.getTransA() ? pitch : 1};
  int64_t lhs_matrix = m * (op.getTransA() ? k : pitch), rhs_matrix = n * k;
  if (plan.dot) {
    int64_t bytes = plan.dot->widen ? 2 : 1;
    if (plan.copy_input) c.lhs = context.Scratch(plan.input_offset, lhs_rows * pitch * bytes, e.builder().getI8Type());
    c.k_sizes = {plan.packing.words()};
    c.lhs_row_stride *= bytes;
    c.lhs_k_strides = {4};
    lhs_matrix *= bytes;
    rhs_matrix = n * (1 + plan.packing.words());
  }

  // The linear number of a batch entry among an operand's own, broadcast ones being read again.
  auto batch_entry = [&e, batch](llvm::ArrayRef<int64_t> own, llvm::ArrayRef<Value> outer) {
    Value entry = e.Constant(0);
    size_t skip = batch.size() - own.size();
    for (size_t d = 0; d < own.size(); ++d)
      entry = e.Add(e.Mul(entry, own[d]), own[d] == 1 ? e.Constant(0) : outer[d + skip]);
    return entry;
  };
  c.lhs_base = [&, lhs_batch](llvm::ArrayRef<Value> outer) { return e.Mul(batch_entry(lhs_batch, outer), lhs_matrix); };

  if (plan.pack_at_run_time) {
    c.rhs = context.Scratch(plan.pack_offset, k * n, rhs_element);
    c.rhs_packed = true;
    c.rhs_base = [&](llvm::ArrayRef<Value>) { return e.Constant(0); };
    c.prepare_depth = c.outer.size();
    c.prepare = [&](llvm::ArrayRef<Value> outer) {
      auto index = [&](llvm::ArrayRef<Value> at, Value col, int64_t lane_step) {
        Indices where;
        size_t skip = batch.size() - rhs_batch.size();
        for (size_t d = 0; d < rhs_batch.size(); ++d)
          where.push_back({rhs_batch[d] == 1 ? e.Constant(0) : outer[d + skip], 0});
        LaneIndex row{at[0], 0}, column{col, lane_step};
        where.push_back(op.getTransB() ? column : row);
        where.push_back(op.getTransB() ? row : column);
        return where;
      };
      EmitPacking(context.evaluator, plan.packing, op.getRhs(), c.rhs, index, plan.tile.lanes);
    };
  } else {
    c.rhs = context.evaluator.BufferOf(op.getRhs());
    c.rhs_packed = plan.packed_operand.has_value();
    if (c.rhs_packed && c.tile.panel_outer && m > 1) {
      c.rhs_ahead = plan.packing.width * (plan.dot ? 1 + plan.packing.words() : plan.packing.depth());
      c.rhs_ahead_depth = c.panel_depth;
    }
    c.rhs_base = [&, rhs_batch](llvm::ArrayRef<Value> outer) {
      return e.Mul(batch_entry(rhs_batch, outer), rhs_matrix);
    };
    c.rhs_col_stride = op.getTransB() ? k : 1;
    c.rhs_k_strides = {op.getTransB() ? 1 : n};
  }
  c.result_index = [&](llvm::ArrayRef<Value> outer, Value row, Value col, int64_t lane_step) {
    Indices index;
    for (Value iv : outer) index.push_back({iv, 0});
    index.push_back({row, 0});
    index.push_back({col, lane_step});
    return index;
  };
  if (context.plan.prefetch) c.prefetch = [&](const Indices& index) { context.PrefetchResults(index); };
  EmitContraction(context.evaluator, c, [&](const Indices& index, int lanes) { context.StoreResults(index, lanes); });
  return absl::OkStatus();
}

}  // namespace aot::codegen
