// Matrix products: batches around one contraction.
#include "compiler/codegen/contraction.h"
#include "compiler/codegen/kernel_context.h"

namespace aot::codegen {
namespace {

llvm::ArrayRef<int64_t> ShapeOf(Value value) { return nn::TensorTypeOf(value).getShape(); }

// Copies a value into memory in row-major order.
void Materialise(KernelContext& context, Value value, const Buffer& buffer) {
  Emitter& e = context.emitter;
  auto shape = ShapeOf(value);
  int64_t inner = shape.empty() ? 1 : shape.back();
  e.Nest(shape.empty() ? shape : shape.drop_back(), [&](llvm::ArrayRef<Value> outer) {
    e.Vectors(inner, e.Lanes(buffer.element), [&](Value start, int lanes) {
      Indices index;
      for (Value iv : outer) index.push_back({iv, 0});
      if (!shape.empty()) index.push_back({start, 1});
      Value element = context.evaluator.Evaluate(value, index, lanes);
      e.Store(element, buffer, context.evaluator.Position(shape, index).base, 1, lanes);
    });
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
  if (plan.copy_input) {
    c.lhs = context.Scratch(plan.input_offset, nn::TensorTypeOf(op.getLhs()).getNumElements(), lhs_element);
    Materialise(context, op.getLhs(), c.lhs);
  } else {
    c.lhs = context.evaluator.BufferOf(op.getLhs());
  }
  c.lhs_row_stride = op.getTransA() ? 1 : k;
  c.lhs_k_strides = {op.getTransA() ? m : 1};

  // The linear number of a batch entry among an operand's own, broadcast ones being read again.
  auto batch_entry = [&e, batch](llvm::ArrayRef<int64_t> own, llvm::ArrayRef<Value> outer) {
    Value entry = e.Constant(0);
    size_t skip = batch.size() - own.size();
    for (size_t d = 0; d < own.size(); ++d)
      entry = e.Add(e.Mul(entry, own[d]), own[d] == 1 ? e.Constant(0) : outer[d + skip]);
    return entry;
  };
  c.lhs_base = [&, lhs_batch, m, k](llvm::ArrayRef<Value> outer) {
    return e.Mul(batch_entry(lhs_batch, outer), m * k);
  };

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
    c.rhs_base = [&, rhs_batch, n, k](llvm::ArrayRef<Value> outer) {
      return e.Mul(batch_entry(rhs_batch, outer), n * k);
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
  EmitContraction(context.evaluator, c, [&](const Indices& index, int lanes) { context.StoreResults(index, lanes); });
  return absl::OkStatus();
}

}  // namespace aot::codegen
