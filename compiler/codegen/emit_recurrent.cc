// Recurrent layers: a loop over time around the product with the recurrent weights and a pass of vectors over the
// gates. They stand alone in their group. State and gates live in scratch, in f32.
#include "compiler/codegen/contraction.h"
#include "compiler/codegen/kernel_context.h"
#include "compiler/codegen/math_backend.h"
#include "compiler/math/recurrent.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace aot::codegen {
namespace {

using math::Gate;

// What the three layers share. Elements of the state are addressed as [batch, size], of the gates as [batch, width].
class Recurrence {
 public:
  // `op` is the group's only operation; `lengths` may be null.
  Recurrence(KernelContext& context, mlir::Operation* op, Value lengths)
      : context_(context), e_(context.emitter), op_(op), lengths_(lengths) {
    auto input = nn::TensorTypeOf(op->getOperand(0)).getShape();
    steps_ = input[0];
    batch_ = input[1];
    width_ = input[2];
    size_ = nn::TensorTypeOf(op->getOperand(1)).getDimSize(1);
    mlir::Type f32 = e_.builder().getF32Type();
    const schedule::KernelPlan& plan = context.plan;
    input_ = context.evaluator.BufferOf(op->getOperand(0));
    state_ = context.Scratch(plan.input_offset, batch_ * size_, f32);
    second_ = context.Scratch(plan.second_state_offset, batch_ * size_, f32);
    gates_ = context.Scratch(plan.gates_offset, batch_ * width_, f32);
    if (plan.pack_at_run_time) {
      packed_ = context.Scratch(plan.pack_offset, plan.packing.elements(), f32);
      PackWeights();
    } else {
      packed_ = context.evaluator.BufferOf(op->getOperand(1));
    }
  }

  const Buffer& state() const { return state_; }
  const Buffer& second() const { return second_; }  // the cell of an LSTM, the reset state of a GRU
  const Buffer& gates() const { return gates_; }
  int64_t size() const { return size_; }

  // Copies an operand into a state, or zeros.
  void Initialise(const Buffer& state, Value operand) {
    if (!operand) return e_.Fill(state, e_.Constant(0), batch_ * size_, e_.Zero(e_.builder().getF32Type(), 1));
    Copy(context_.evaluator.BufferOf(operand), state);
  }
  // Copies a state into a result of the operation, if the group gives it.
  void Finish(unsigned result, const Buffer& state) {
    if (const Buffer* to = context_.ResultOf(op_->getResult(result))) Copy(state, *to);
  }

  // body(t) for each time step in order.
  void ForEachStep(bool reverse, llvm::function_ref<void(Value)> body) {
    e_.For(steps_, [&](Value i) { body(reverse ? e_.Sub(e_.Constant(steps_ - 1), i) : i); });
  }

  // gates = vector * recurrent, for `count` blocks of the packing from `first` on.
  void Multiply(const Buffer& vector, int64_t first, int64_t count) {
    const schedule::PanelPacking& packing = context_.plan.packing;
    Contraction c;
    c.outer = {count};
    c.panel_depth = 1;
    c.rows = batch_;
    c.cols = packing.cols;
    c.tile = context_.plan.tile;
    c.lhs = vector;
    c.lhs_base = [&](llvm::ArrayRef<Value>) { return e_.Constant(0); };
    c.lhs_row_stride = size_;
    c.rhs = packed_;
    c.rhs_packed = true;
    auto block = [&](Value outer) { return e_.Add(outer, first); };
    c.rhs_base = [&](llvm::ArrayRef<Value> outer) { return e_.Mul(block(outer[0]), packing.depth() * packing.cols); };
    c.k_sizes = {size_};
    c.lhs_k_strides = {1};
    c.accumulator = e_.builder().getF32Type();
    c.result = op_->getResult(0);
    c.result_index = [&](llvm::ArrayRef<Value> outer, Value row, Value col, int64_t lane_step) {
      return Indices{{row, 0}, {e_.Add(e_.Mul(block(outer[0]), packing.cols), col), lane_step}};
    };
    EmitContraction(context_.evaluator, c, [&](const Indices& index, int lanes) {
      Value position = e_.Add(e_.Mul(index[0].base, width_), index[1].base);
      e_.Store(context_.evaluator.Evaluate(c.result, index, lanes), gates_, position, 1, lanes);
    });
  }

  // A vector of neighbouring elements of one sequence.
  struct Place {
    Value batch, start;
    Value state;  // position in [batch, size]
    int lanes;
  };
  void ForEachVector(llvm::function_ref<void(const Place&)> body) {
    e_.For(batch_, [&](Value b) {
      e_.Vectors(size_, e_.Lanes(e_.builder().getF32Type()), [&](Value start, int lanes) {
        body({b, start, e_.Add(e_.Mul(b, size_), start), lanes});
      });
    });
  }

  Value Load(const Buffer& buffer, Value position, const Place& at) { return e_.Load(buffer, position, 1, at.lanes); }
  Value GatePosition(int64_t gate, const Place& at) {
    return e_.Add(e_.Mul(at.batch, width_), e_.Add(at.start, gate * size_));
  }
  // The recurrent part of a gate, and the part that the input gives.
  Value Recurrent(int64_t gate, const Place& at) { return Load(gates_, GatePosition(gate, at), at); }
  Value Input(Value t, int64_t gate, const Place& at) {
    return Load(input_, e_.Add(e_.Mul(t, batch_ * width_), GatePosition(gate, at)), at);
  }
  Value PreActivation(Value t, int64_t gate, const Place& at) {
    return mlir::arith::AddFOp::create(e_.builder(), e_.location(), Input(t, gate, at), Recurrent(gate, at));
  }

  // Whether the step is within the sequence: an i1, or null if every step of every sequence is.
  Value IsInside(Value t, const Place& at) {
    if (!lengths_) return {};
    Value length = e_.Load(context_.evaluator.BufferOf(lengths_), at.batch, 0, 1);
    Value index = mlir::arith::IndexCastOp::create(e_.builder(), e_.location(), e_.builder().getIndexType(), length);
    return e_.Less(t, index);
  }
  // Writes a state; outside of its sequence it stays.
  void Update(const Buffer& state, Value inside, Value value, Value before, const Place& at) {
    e_.Store(inside ? e_.Select(inside, value, before) : value, state, at.state, 1, at.lanes);
  }
  // Writes the hidden state of the step, 0 outside.
  void Output(Value t, Value inside, Value value, const Place& at) {
    const Buffer* hidden = context_.ResultOf(op_->getResult(0));
    if (!hidden) return;
    if (inside) value = e_.Select(inside, value, e_.Zero(e_.builder().getF32Type(), at.lanes));
    e_.Store(value, *hidden, e_.Add(e_.Mul(t, batch_ * size_), at.state), 1, at.lanes);
  }

 private:
  void Copy(const Buffer& from, const Buffer& to) {
    e_.Vectors(batch_ * size_, e_.Lanes(e_.builder().getF32Type()),
               [&](Value start, int lanes) { e_.Store(e_.Load(from, start, 1, lanes), to, start, 1, lanes); });
  }

  void PackWeights() {
    const schedule::PanelPacking& packing = context_.plan.packing;
    mlir::Type f32 = e_.builder().getF32Type();
    for (int64_t g = 0; g < packing.groups; ++g) {
      int64_t elements = packing.depth() * packing.cols;
      Buffer part = context_.Scratch(context_.plan.pack_offset + g * elements * 4, elements, f32);
      auto index = [&](llvm::ArrayRef<Value> k, Value col, int64_t lane_step) {
        return Indices{{e_.Add(col, g * packing.cols), lane_step}, {k[0], 0}};
      };
      EmitPacking(context_.evaluator, packing, op_->getOperand(1), part, index, context_.plan.tile.lanes);
    }
  }

  KernelContext& context_;
  Emitter& e_;
  mlir::Operation* op_;
  Value lengths_;
  int64_t steps_ = 0, batch_ = 0, width_ = 0, size_ = 0;
  Buffer input_, state_, second_, gates_, packed_;
};

template <typename Op>
absl::StatusOr<std::vector<Gate>> GatesOf(Op op, size_t count) {
  auto gates = math::ParseGates(std::string_view(op.getActivations().data(), op.getActivations().size()),
                                op.getAlphas(), op.getBetas(), count);
  if (!gates) return absl::InvalidArgumentError("a recurrent layer with unknown activations");
  return *gates;
}

Value Multiply(Emitter& e, Value a, Value b) { return mlir::arith::MulFOp::create(e.builder(), e.location(), a, b); }
Value Sum(Emitter& e, Value a, Value b) { return mlir::arith::AddFOp::create(e.builder(), e.location(), a, b); }

}  // namespace

absl::Status EmitLstm(KernelContext& context, nn::LstmOp op) {
  auto gates = GatesOf(op, 3);
  if (!gates.ok()) return gates.status();
  Emitter& e = context.emitter;
  Recurrence r(context, op, op.getLengths());
  r.Initialise(r.state(), op.getInitialH());
  r.Initialise(r.second(), op.getInitialC());
  r.ForEachStep(op.getReverse(), [&](Value t) {
    r.Multiply(r.state(), 0, 1);
    r.ForEachVector([&](const Recurrence::Place& at) {
      std::array<Value, 4> sums;
      for (int64_t g = 0; g < 4; ++g) sums[g] = r.PreActivation(t, g, at);
      std::array<Value, 3> peephole;
      if (op.getPeephole()) {
        const Buffer& weights = context.evaluator.BufferOf(op.getPeephole());
        for (int64_t g = 0; g < 3; ++g) peephole[g] = r.Load(weights, e.Add(at.start, g * r.size()), at);
      }
      MathBackend b(e, at.lanes);
      Value cell = r.Load(r.second(), at.state, at);
      auto after = math::LstmCell(b, *gates, op.getClip().convertToFloat(), op.getInputForget(), sums, cell,
                                  op.getPeephole() ? &peephole : nullptr);
      Value inside = r.IsInside(t, at);
      Value hidden = inside ? r.Load(r.state(), at.state, at) : Value();
      r.Update(r.second(), inside, after.cell, cell, at);
      r.Update(r.state(), inside, after.hidden, hidden, at);
      r.Output(t, inside, after.hidden, at);
    });
  });
  r.Finish(1, r.state());
  r.Finish(2, r.second());
  return absl::OkStatus();
}

absl::Status EmitGru(KernelContext& context, nn::GruOp op) {
  auto gates = GatesOf(op, 2);
  if (!gates.ok()) return gates.status();
  Emitter& e = context.emitter;
  const float clip = op.getClip().convertToFloat();
  Recurrence r(context, op, op.getLengths());
  r.Initialise(r.state(), op.getInitialH());
  auto gate = [&](const Gate& function, Value sum, int lanes) {
    MathBackend b(e, lanes);
    return math::ClippedGate(b, function, sum, clip);
  };
  auto finish = [&](Value t, Value update, Value candidate, const Recurrence::Place& at) {
    MathBackend b(e, at.lanes);
    Value before = r.Load(r.state(), at.state, at);
    Value after = math::GruMix(b, update, candidate, before);
    Value inside = r.IsInside(t, at);
    r.Update(r.state(), inside, after, before, at);
    r.Output(t, inside, after, at);
  };
  r.ForEachStep(op.getReverse(), [&](Value t) {
    if (op.getLinearBeforeReset()) {
      r.Multiply(r.state(), 0, 1);
      r.ForEachVector([&](const Recurrence::Place& at) {
        Value update = gate((*gates)[0], r.PreActivation(t, 0, at), at.lanes);
        Value reset = gate((*gates)[0], r.PreActivation(t, 1, at), at.lanes);
        Value recurrent = r.Recurrent(2, at);
        if (op.getHiddenBias())
          recurrent = Sum(e, recurrent, r.Load(context.evaluator.BufferOf(op.getHiddenBias()), at.start, at));
        Value sum = Sum(e, r.Input(t, 2, at), Multiply(e, reset, recurrent));
        finish(t, update, gate((*gates)[1], sum, at.lanes), at);
      });
      return;
    }
    // The hidden gate multiplies the reset state, so that its product has to wait; the update gate is kept meanwhile.
    r.Multiply(r.state(), 0, 2);
    r.ForEachVector([&](const Recurrence::Place& at) {
      Value update = gate((*gates)[0], r.PreActivation(t, 0, at), at.lanes);
      Value reset = gate((*gates)[0], r.PreActivation(t, 1, at), at.lanes);
      e.Store(update, r.gates(), r.GatePosition(0, at), 1, at.lanes);
      e.Store(Multiply(e, reset, r.Load(r.state(), at.state, at)), r.second(), at.state, 1, at.lanes);
    });
    r.Multiply(r.second(), 2, 1);
    r.ForEachVector([&](const Recurrence::Place& at) {
      finish(t, r.Recurrent(0, at), gate((*gates)[1], r.PreActivation(t, 2, at), at.lanes), at);
    });
  });
  r.Finish(1, r.state());
  return absl::OkStatus();
}

absl::Status EmitRnn(KernelContext& context, nn::RnnOp op) {
  auto gates = GatesOf(op, 1);
  if (!gates.ok()) return gates.status();
  Recurrence r(context, op, op.getLengths());
  r.Initialise(r.state(), op.getInitialH());
  r.ForEachStep(op.getReverse(), [&](Value t) {
    r.Multiply(r.state(), 0, 1);
    r.ForEachVector([&](const Recurrence::Place& at) {
      MathBackend b(context.emitter, at.lanes);
      Value inside = r.IsInside(t, at);
      Value before = inside ? r.Load(r.state(), at.state, at) : Value();
      Value after = math::ClippedGate(b, gates->front(), r.PreActivation(t, 0, at), op.getClip().convertToFloat());
      r.Update(r.state(), inside, after, before, at);
      r.Output(t, inside, after, at);
    });
  });
  r.Finish(1, r.state());
  return absl::OkStatus();
}

}  // namespace aot::codegen
