#include "compiler/schedule/state.h"

#include "compiler/schedule/kernel_plan.h"
#include "mlir/IR/Builders.h"

namespace aot::schedule {
namespace {

bool IsFree(mlir::Operation* op) { return llvm::isa_and_present<nn::ReshapeOp, nn::BitcastOp>(op); }

// The groups that read a value or one that shares its memory.
void CollectReaders(mlir::Value value, llvm::SmallVectorImpl<mlir::Operation*>& readers) {
  for (mlir::Operation* user : value.getUsers()) {
    if (IsFree(user))
      CollectReaders(user->getResult(0), readers);
    else if (llvm::isa<nn::GroupOp>(user))
      readers.push_back(user);
  }
}

// Whether `result` of a group without an anchor may be written where `operand` lies: everything that depends on the
// operand is an elementwise function of it at the same index, and the result is the last of that which is stored.
bool IsElementwiseOf(nn::GroupOp group, unsigned operand, unsigned result) {
  mlir::Block& body = group.getBody().front();
  mlir::Value argument = body.getArgument(operand);
  auto shape = nn::TensorTypeOf(argument).getShape();
  llvm::DenseSet<mlir::Value> dependent{argument};
  for (mlir::Operation& op : body.without_terminator()) {
    if (llvm::none_of(op.getOperands(), [&](mlir::Value value) { return dependent.contains(value); })) continue;
    if (!op.hasTrait<nn::Elementwise>() && !llvm::isa<nn::QuantizeOp, nn::DequantizeOp>(op)) return false;
    for (mlir::Value value : op.getResults()) {
      if (nn::TensorTypeOf(value).getShape() != shape) return false;
      dependent.insert(value);
    }
  }
  auto values = llvm::cast<nn::YieldOp>(body.getTerminator()).getValues();
  for (size_t i = 0; i < values.size(); ++i)
    if (i > result && dependent.contains(values[i])) return false;
  return nn::TensorTypeOf(values[result]).getShape() == shape;
}

// Whether the group is a scatter of something else into the operand.
bool IsScatterInto(nn::GroupOp group, unsigned operand) {
  mlir::Block& body = group.getBody().front();
  mlir::Value argument = body.getArgument(operand);
  mlir::Operation& op = body.front();
  return llvm::isa<nn::ScatterElementsOp, nn::ScatterNdOp>(op) && &body.back() == op.getNextNode() &&
         op.getOperand(0) == argument && argument.hasOneUse();
}

class StatePlacer {
 public:
  StatePlacer(mlir::func::FuncOp function, llvm::ArrayRef<State> states,
              const llvm::DenseMap<mlir::Operation*, Demand>& conditional)
      : function_(function), body_(function.getBody().front()) {
    for (const State& state : states) inputs_.insert(body_.getArgument(state.input));
    // In the order of the steps: a map's own order is not the same in each run.
    for (mlir::Operation& op : body_)
      if (auto found = conditional.find(&op); found != conditional.end())
        guarded_[StorageOf(found->second.condition)].push_back(&op);
  }

  void Place(const State& state) {
    mlir::Value input = body_.getArgument(state.input);
    mlir::OpOperand& output = body_.getTerminator()->getOpOperand(state.output);
    mlir::Value storage = StorageOf(output.get());
    if (storage == input) return;  // it stays as it is
    auto writer = storage.getDefiningOp<nn::GroupOp>();
    mlir::Operation* last = LastReader(input);
    if (last && writer->isBeforeInBlock(last) && CanSink(writer, input, last)) {
      writer->moveAfter(last);
      last = LastReader(input);
    }
    if (!last || last->isBeforeInBlock(writer)) return;
    if (last == writer && MarkInPlace(writer, input, llvm::cast<mlir::OpResult>(storage).getResultNumber())) return;
    output.set(AppendCopy(function_, output.get()));
  }

 private:
  llvm::SmallVector<mlir::Operation*> Readers(mlir::Value input) const {
    llvm::SmallVector<mlir::Operation*> readers;
    CollectReaders(input, readers);
    if (auto found = guarded_.find(input); found != guarded_.end()) llvm::append_range(readers, found->second);
    return readers;
  }

  mlir::Operation* LastReader(mlir::Value input) const {
    mlir::Operation* last = nullptr;
    for (mlir::Operation* reader : Readers(input))
      if (!last || last->isBeforeInBlock(reader)) last = reader;
    return last;
  }

  // Whether the group may run after `last`: nothing up to there uses what it makes, and it reads no other state, whose
  // place may be settled already.
  bool CanSink(nn::GroupOp group, mlir::Value input, mlir::Operation* last) const {
    for (mlir::Value operand : group.getInputs())
      if (mlir::Value storage = StorageOf(operand); storage != input && inputs_.contains(storage)) return false;
    for (const auto& [condition, groups] : guarded_)
      if (inputs_.contains(condition) && llvm::is_contained(groups, group.getOperation())) return false;
    for (mlir::Operation* user : group->getUsers())
      if (!last->isBeforeInBlock(user)) return false;
    return true;
  }

  static bool MarkInPlace(nn::GroupOp group, mlir::Value input, unsigned result) {
    std::optional<unsigned> operand;
    for (auto [i, value] : llvm::enumerate(group.getInputs())) {
      if (StorageOf(value) != input) continue;
      if (operand) return false;
      operand = static_cast<unsigned>(i);
    }
    // None: the state is the condition under which the group runs, which is read before it.
    if (!operand) return true;
    mlir::Block& body = group.getBody().front();
    if (nn::TensorTypeOf(body.getArgument(*operand)).getElementType() !=
        nn::TensorTypeOf(group.getResult(result)).getElementType())
      return false;
    if (AnchorOf(group) ? !IsScatterInto(group, *operand) : !IsElementwiseOf(group, *operand, result)) return false;
    llvm::SmallVector<int64_t> pairs;
    if (auto known = group->getAttrOfType<mlir::DenseI64ArrayAttr>(kInPlace))
      llvm::append_range(pairs, known.asArrayRef());
    pairs.append({*operand, result});
    group->setAttr(kInPlace, mlir::DenseI64ArrayAttr::get(group.getContext(), pairs));
    return true;
  }

  mlir::func::FuncOp function_;
  mlir::Block& body_;
  llvm::DenseSet<mlir::Value> inputs_;                                        // of all states
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Operation*>> guarded_;  // by the storage of their condition
};

}  // namespace

mlir::Value StorageOf(mlir::Value value) {
  for (mlir::Operation* op = value.getDefiningOp(); IsFree(op); op = value.getDefiningOp()) value = op->getOperand(0);
  return value;
}

mlir::Value AppendCopy(mlir::func::FuncOp function, mlir::Value value) {
  mlir::Operation* terminator = function.getBody().front().getTerminator();
  mlir::OpBuilder builder(terminator);
  mlir::Type type = value.getType();
  auto group =
      nn::GroupOp::create(builder, terminator->getLoc(), mlir::TypeRange{type}, mlir::ValueRange{value}, "cpu");
  mlir::Block& body = group.getBody().emplaceBlock();
  mlir::Value argument = body.addArgument(type, terminator->getLoc());
  builder.setInsertionPointToEnd(&body);
  nn::YieldOp::create(builder, terminator->getLoc(), mlir::ValueRange{argument});
  return group.getResult(0);
}

void PlaceStates(mlir::func::FuncOp function, llvm::ArrayRef<State> states,
                 const llvm::DenseMap<mlir::Operation*, Demand>& conditional) {
  StatePlacer placer(function, states, conditional);
  for (const State& state : states) placer.Place(state);
}

}  // namespace aot::schedule
