// nn-fuse: rewrites each cluster (clusters.h) into an nn.group.
#include "compiler/graph/clusters.h"
#include "compiler/graph/passes.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/IR/IRMapping.h"

namespace aot::graph {

#define GEN_PASS_DEF_FUSE
#include "compiler/graph/Passes.h.inc"

namespace {

// A constant that code can hold as an immediate. Anchors and what stands alone read memory, so theirs stay operands.
bool IsImmediate(mlir::Value value, mlir::Operation* user) {
  OpClass op_class = Classify(user);
  if (op_class == OpClass::kAnchor || op_class == OpClass::kAlone) return false;
  auto dense = llvm::dyn_cast_if_present<mlir::DenseElementsAttr>(nn::ConstantValue(value));
  return dense && dense.isSplat();
}

void EraseDead(mlir::Block& block) {
  for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (mlir::isOpTriviallyDead(&op)) op.erase();
}

// Replaces the operations, which are in program order, by one group at the builder's position.
void BuildGroup(mlir::OpBuilder& builder, llvm::ArrayRef<mlir::Operation*> members) {
  llvm::DenseSet<mlir::Operation*> inside(members.begin(), members.end());
  llvm::SetVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<mlir::Location> locations;
  for (mlir::Operation* op : members) {
    locations.push_back(op->getLoc());
    for (mlir::Value operand : op->getOperands())
      if (!inside.contains(operand.getDefiningOp()) && !IsImmediate(operand, op)) inputs.insert(operand);
    for (mlir::Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](mlir::Operation* user) { return !inside.contains(user); }))
        results.push_back(result);
  }
  auto group =
      nn::GroupOp::create(builder, mlir::FusedLoc::get(builder.getContext(), locations),
                          mlir::TypeRange(mlir::ValueRange(results)), inputs.getArrayRef(), llvm::StringRef("cpu"));
  mlir::Block& body = group.getBody().emplaceBlock();
  mlir::OpBuilder inner = mlir::OpBuilder::atBlockEnd(&body);
  mlir::IRMapping mapping;
  for (mlir::Value input : inputs) mapping.map(input, body.addArgument(input.getType(), input.getLoc()));

  llvm::DenseMap<mlir::Value, mlir::Value> immediates;
  for (mlir::Operation* op : members) {
    mlir::IRMapping own = mapping;
    for (mlir::Value operand : op->getOperands()) {
      if (inside.contains(operand.getDefiningOp()) || !IsImmediate(operand, op)) continue;
      mlir::Value& immediate = immediates[operand];
      if (!immediate) immediate = inner.clone(*operand.getDefiningOp())->getResult(0);
      own.map(operand, immediate);
    }
    mlir::Operation* copy = inner.clone(*op, own);
    mapping.map(op->getResults(), copy->getResults());
  }
  llvm::SmallVector<mlir::Value> yielded;
  for (mlir::Value result : results) yielded.push_back(mapping.lookup(result));
  nn::YieldOp::create(inner, group.getLoc(), yielded);
  for (auto [before, after] : llvm::zip(results, group.getResults())) before.replaceAllUsesWith(after);
  for (mlir::Operation* op : llvm::reverse(members)) op->erase();
}

struct Fuse : impl::FuseBase<Fuse> {
  using FuseBase::FuseBase;

  void runOnOperation() override {
    for (mlir::Block& block : getOperation().getBody()) {
      if (!block.mightHaveTerminator()) continue;
      EraseDead(block);
      Clusters clusters(block, max_operations);
      if (!single) {
        clusters.GrowEpilogues();
        clusters.AbsorbProducers();
      }
      mlir::OpBuilder builder(block.getTerminator());
      for (const auto& members : clusters.InOrder()) {
        if (members.size() == 1 && llvm::isa<nn::ReshapeOp, nn::BitcastOp>(members.front())) {
          members.front()->moveBefore(block.getTerminator());
        } else {
          BuildGroup(builder, members);
        }
      }
      EraseDead(block);  // constants that are immediates now
    }
  }
};

}  // namespace
}  // namespace aot::graph
