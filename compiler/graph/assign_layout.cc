// nn-assign-layout: chooses the layout of every value by a minimum cut and rewrites the operations that change.
#include "compiler/graph/layout.h"
#include "compiler/graph/min_cut.h"
#include "compiler/graph/passes.h"

namespace aot::graph {

#define GEN_PASS_DEF_ASSIGNLAYOUT
#include "compiler/graph/Passes.h.inc"

namespace {

using mlir::Value;
using nn::TensorTypeOf;

// The cut as a network: the source's side stays as imported, the sink's becomes channels last, an edge is a transpose.
class LayoutNetwork {
 public:
  explicit LayoutNetwork(mlir::Block& block) {
    for (mlir::Operation& op : block) {
      LayoutRole role = RoleOf(&op);
      int node = MinCut::kSource;
      if (role == LayoutRole::kLast) node = MinCut::kSink;
      if (role == LayoutRole::kEither || role == LayoutRole::kPooling) node = cut_.AddNode();
      if (role == LayoutRole::kTranspose) node = NodeOfTransposeResult(llvm::cast<nn::TransposeOp>(op));
      nodes_[&op] = node;
      if (role == LayoutRole::kPooling) cut_.AddEdge(node, MinCut::kSink, Cost(op.getOperand(0)));
    }
    for (Value argument : block.getArguments()) AddValue(argument, MinCut::kSource);
    for (mlir::Operation& op : block)
      if (!llvm::isa<nn::ConstantOp>(op))
        for (Value result : op.getResults()) AddValue(result, nodes_[&op]);
  }

  // The operations that become channels last.
  llvm::DenseSet<mlir::Operation*> Solve() {
    std::vector<bool> last = cut_.SinkSide();
    llvm::DenseSet<mlir::Operation*> operations;
    for (auto [op, node] : nodes_)
      if (node != MinCut::kSource && last[node] && RoleOf(op) != LayoutRole::kTranspose) operations.insert(op);
    return operations;
  }

 private:
  // Bytes that a transpose of the value moves. Free ones count as one byte: they are still better left out.
  static int64_t Cost(Value value) {
    auto type = TensorTypeOf(value);
    int64_t bits = type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 8;
    return IsFreeToLast(type.getShape()) ? 1 : type.getNumElements() * ((bits + 7) / 8) + 1;
  }

  static bool IsPerm(nn::TransposeOp op, llvm::ArrayRef<int64_t> perm) { return op.getPerm() == perm; }

  // A transpose to channels last costs nothing if its input is channels last already; the opposite one nothing if its
  // result may be. In rank 3 one perm is both, and where the input comes from decides.
  static bool TakesLast(nn::TransposeOp op) {
    int64_t rank = TensorTypeOf(op).getRank();
    if (rank < 3 || !IsPerm(op, ToLast(rank))) return false;
    mlir::Operation* input = op.getInput().getDefiningOp();
    return rank > 3 || (input && RoleOf(input) != LayoutRole::kFixed);
  }
  static bool GivesLast(nn::TransposeOp op) {
    int64_t rank = TensorTypeOf(op).getRank();
    return rank >= 3 && IsPerm(op, FromLast(rank)) && !TakesLast(op);
  }

  int NodeOfTransposeResult(nn::TransposeOp op) {
    if (GivesLast(op)) return MinCut::kSink;
    // The result of any other perm merges with the transpose that follows.
    return TakesLast(op) ? MinCut::kSource : cut_.AddNode();
  }

  // The edges between the value's producer and its users. However many users want the other layout, one transpose
  // serves them.
  void AddValue(Value value, int producer) {
    if (TensorTypeOf(value).getRank() < 3) return AddLowRankValue(value);
    int64_t cost = Cost(value);
    int to_last = cut_.AddNode(), to_imported = cut_.AddNode();
    cut_.AddEdge(producer, to_last, cost);
    cut_.AddEdge(to_imported, producer, cost);
    for (mlir::OpOperand& use : value.getUses()) {
      mlir::Operation* user = use.getOwner();
      int node = nodes_.lookup(user);
      if (auto transpose = llvm::dyn_cast<nn::TransposeOp>(user)) {
        if (!TakesLast(transpose) && !GivesLast(transpose)) continue;
        node = TakesLast(transpose) ? MinCut::kSink : MinCut::kSource;
      } else if (RoleOf(user) != LayoutRole::kFixed && !HasOwnLayout(use)) {
        // Broadcast from a lower rank: as imported here, transposed under another rank there.
        cut_.AddEdge(MinCut::kSource, node, cost);
        node = MinCut::kSource;
      }
      cut_.AddEdge(to_last, node, MinCut::kInfinite);
      cut_.AddEdge(node, to_imported, MinCut::kInfinite);
    }
  }

  // Vectors and matrices that broadcast against larger values: transposed if their user is channels last.
  void AddLowRankValue(Value value) {
    for (mlir::OpOperand& use : value.getUses()) {
      LayoutRole role = RoleOf(use.getOwner());
      if (role != LayoutRole::kEither || HasOwnLayout(use)) continue;
      cut_.AddEdge(MinCut::kSource, nodes_.lookup(use.getOwner()), TensorTypeOf(value).getNumElements());
    }
  }

  MinCut cut_;
  llvm::MapVector<mlir::Operation*, int> nodes_;
};

// Makes the chosen operations channels last. Each result gets a transpose back for the other users; constants and
// values that come as imported get one to channels last. Those that nobody needs disappear in the next
// canonicalisation.
class LayoutRewriter {
 public:
  void Rewrite(mlir::Operation* op) {
    MakeChannelsLast(op, [this](Value value) { return Last(value); });
    mlir::OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      auto perm = FromLast(TensorTypeOf(result).getRank());
      auto back = nn::TransposeOp::create(builder, op->getLoc(), Permuted(TensorTypeOf(result), perm), result, perm);
      result.replaceAllUsesExcept(back, back);
      last_[back] = result;
    }
  }

 private:
  Value Last(Value value) {
    Value& known = last_[value];
    if (known) return known;
    mlir::OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    auto perm = ToLast(TensorTypeOf(value).getRank());
    known = nn::TransposeOp::create(builder, value.getLoc(), Permuted(TensorTypeOf(value), perm), value, perm);
    return known;
  }

  llvm::DenseMap<Value, Value> last_;  // a value as imported -> the same in channels last
};

struct AssignLayout : impl::AssignLayoutBase<AssignLayout> {
  using AssignLayoutBase::AssignLayoutBase;

  void runOnOperation() override {
    for (mlir::Block& block : getOperation().getBody()) {
      // Without convolutions there is nothing to gain.
      if (llvm::none_of(block, [](mlir::Operation& op) { return RoleOf(&op) == LayoutRole::kLast; })) continue;
      llvm::DenseSet<mlir::Operation*> chosen = LayoutNetwork(block).Solve();
      LayoutRewriter rewriter;
      for (mlir::Operation& op : llvm::make_early_inc_range(block))
        if (chosen.contains(&op)) rewriter.Rewrite(&op);
    }
  }
};

}  // namespace
}  // namespace aot::graph
