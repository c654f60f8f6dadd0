#include "compiler/graph/clusters.h"

#include <algorithm>
#include <queue>

namespace aot::graph {
namespace {

int64_t Elements(mlir::Value value) { return nn::TensorTypeOf(value).getNumElements(); }

llvm::ArrayRef<int64_t> ShapeOf(mlir::Operation* op) { return nn::TensorTypeOf(op->getResult(0)).getShape(); }

}  // namespace

Clusters::Clusters(mlir::Block& block, int64_t max_operations) : max_operations_(max_operations) {
  for (mlir::Operation& op : block) {
    OpClass op_class = Classify(&op);
    if (op_class == OpClass::kConstant || op_class == OpClass::kOther) continue;
    int node = static_cast<int>(nodes_.size());
    nodes_.push_back({&op, op_class, node});
    nodes_.back().evaluations = Elements(op.getResult(0));
    members_.push_back({node});
    order_.push_back(node);
    place_.push_back(node);
    index_[&op] = node;
  }
}

int Clusters::DefiningNode(mlir::Value value) const {
  auto it = index_.find(value.getDefiningOp());
  return it == index_.end() ? -1 : it->second;
}

void Clusters::Join(int node, int cluster) {
  members_[nodes_[node].cluster].clear();
  nodes_[node].cluster = cluster;
  members_[cluster].push_back(node);
}

void Clusters::Leave(int node) {
  llvm::erase(members_[nodes_[node].cluster], node);
  nodes_[node].cluster = node;
  members_[node] = {node};
}

mlir::Operation* Clusters::AnchorOf(int cluster) const {
  for (int member : members_[cluster])
    if (nodes_[member].op_class == OpClass::kAnchor) return nodes_[member].op;
  return nullptr;
}

bool Clusters::FindOthersBefore(int node, int cluster, llvm::SmallVectorImpl<int>& others) const {
  // Backwards over whole clusters: once a group runs, all its members run. Nothing before the cluster in the order can
  // depend on it, which keeps the search local: without that, each step of a long chain would walk all of it.
  llvm::SmallDenseSet<int> seen;
  llvm::SmallVector<int> pending = {node};
  while (!pending.empty()) {
    const int current = pending.pop_back_val();
    for (int member : members_[current]) {
      for (mlir::Value operand : nodes_[member].op->getOperands()) {
        const int defining = DefiningNode(operand);
        if (defining < 0) continue;
        const int from = nodes_[defining].cluster;
        if (from == cluster) {
          if (current != node) return false;
          continue;  // a direct edge into the node itself is what joining removes
        }
        if (place_[from] < place_[cluster] || !seen.insert(from).second) continue;
        others.push_back(from);
        pending.push_back(from);
      }
    }
  }
  return true;
}

void Clusters::MoveBefore(int cluster, int node, llvm::ArrayRef<int> others) {
  // What lies between the two keeps its order: first all that the node needs, then the cluster, then the rest.
  const int first = place_[cluster], last = place_[node];
  llvm::SmallDenseSet<int> needed(others.begin(), others.end());
  llvm::SmallVector<int> between;
  for (int place = first + 1; place < last; ++place)
    if (order_[place] >= 0 && needed.contains(order_[place])) between.push_back(order_[place]);
  between.push_back(cluster);
  for (int place = first + 1; place < last; ++place)
    if (order_[place] >= 0 && !needed.contains(order_[place])) between.push_back(order_[place]);
  std::fill(order_.begin() + first, order_.begin() + last + 1, -1);
  for (size_t i = 0; i < between.size(); ++i) {
    order_[first + i] = between[i];
    place_[between[i]] = first + static_cast<int>(i);
  }
}

bool Clusters::ExtendEpilogue(int node, int cluster, mlir::Operation* anchor) {
  const Node& candidate = nodes_[node];
  if (candidate.op_class != OpClass::kElementwise || !IsAlone(node) || candidate.cluster == cluster ||
      ShapeOf(candidate.op) != ShapeOf(anchor))
    return false;
  llvm::SmallVector<int> others;
  if (!FindOthersBefore(node, cluster, others)) return false;
  MoveBefore(cluster, node, others);
  Join(node, cluster);
  return true;
}

void Clusters::GrowEpilogues() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].op_class != OpClass::kAnchor) continue;
    int cluster = static_cast<int>(i);
    // Members are appended while the loop runs; users are taken in program order to be deterministic.
    for (size_t m = 0; m < members_[cluster].size(); ++m) {
      llvm::SmallVector<int> users;
      for (mlir::Operation* user : nodes_[members_[cluster][m]].op->getUsers()) {
        auto it = index_.find(user);
        if (it != index_.end()) users.push_back(it->second);
      }
      llvm::sort(users);
      users.erase(std::unique(users.begin(), users.end()), users.end());
      for (int user : users) {
        bool has_room = static_cast<int64_t>(members_[cluster].size()) < max_operations_;
        if (has_room) ExtendEpilogue(user, cluster, nodes_[i].op);
      }
    }
  }
}

int Clusters::ClusterOfAllUsers(int node) const {
  int cluster = -1;
  for (mlir::Operation* user : nodes_[node].op->getUsers()) {
    auto it = index_.find(user);
    if (it == index_.end()) return -1;
    int of_user = nodes_[it->second].cluster;
    if (cluster >= 0 && of_user != cluster) return -1;
    cluster = of_user;
  }
  return cluster;
}

bool Clusters::AcceptsProducer(const Node& user, unsigned operand) const {
  switch (user.op_class) {
    case OpClass::kElementwise:
      // One truth value that chooses between tensors stays in memory: it also decides which steps run.
      return !llvm::isa<nn::WhereOp>(user.op) || operand != 0 || Elements(user.op->getOperand(0)) > 1 ||
             Elements(user.op->getResult(0)) == 1;
    case OpClass::kReshape:
    case OpClass::kConcat:
      return true;
    case OpClass::kMap:
      return !llvm::isa<nn::ResizeOp>(user.op);  // interpolation would compute each input element several times
    case OpClass::kPad:
      // Only as the last operation: in the middle, what lies outside would have to be computed too.
      return operand == 0 && llvm::none_of(user.op->getUsers(), [&](mlir::Operation* next) {
               auto it = index_.find(next);
               return it != index_.end() && nodes_[it->second].cluster == user.cluster;
             });
    case OpClass::kAnchor:
      return operand == 0 && AcceptsPrologue(user.op);
    default:
      return false;
  }
}

bool Clusters::CanJoinAsProducer(int node, int cluster, int64_t& evaluations, bool& prologue) const {
  const Node& producer = nodes_[node];
  bool is_map = producer.op_class == OpClass::kElementwise || producer.op_class == OpClass::kMap ||
                producer.op_class == OpClass::kPad || producer.op_class == OpClass::kReshape;
  if (!is_map || static_cast<int64_t>(members_[cluster].size()) >= max_operations_) return false;
  if (nodes_[cluster].op_class == OpClass::kReshape && members_[cluster].size() == 1) return false;
  if (producer.op_class == OpClass::kReshape && !MovesUnitDimensionsOnly(nn::TensorTypeOf(producer.op->getOperand(0)),
                                                                         nn::TensorTypeOf(producer.op->getResult(0))))
    return false;

  // Elementwise users share one evaluation at an index; the others compute indices of their own.
  int64_t shared = 0, separate = 0;
  bool into_anchor = false, beside_anchor = false;
  for (mlir::OpOperand& use : producer.op->getResult(0).getUses()) {
    const Node& user = nodes_[index_.lookup(use.getOwner())];
    if (!AcceptsProducer(user, use.getOperandNumber())) return false;
    bool user_is_anchor = user.op_class == OpClass::kAnchor;
    (user_is_anchor || user.prologue ? into_anchor : beside_anchor) = true;
    int64_t count = user.evaluations;
    if (user_is_anchor) count = InputPasses(user.op) * Elements(use.get());
    if (user.op_class == OpClass::kConcat || user.op_class == OpClass::kPad) count = Elements(use.get());
    if (user.op_class == OpClass::kElementwise) {
      shared = std::max(shared, count);
    } else {
      separate += count;
    }
  }
  if (into_anchor && beside_anchor) return false;
  if (into_anchor && producer.op_class != OpClass::kElementwise) return false;
  if (mlir::Operation* anchor = AnchorOf(cluster); anchor && beside_anchor) {
    // A side operand of an epilogue: index arithmetic over tensors no larger than the result.
    if (producer.op_class != OpClass::kElementwise && producer.op_class != OpClass::kReshape &&
        !llvm::isa<nn::TransposeOp, nn::BroadcastOp, nn::SliceOp>(producer.op))
      return false;
    int64_t limit = Elements(anchor->getResult(0));
    if (llvm::any_of(producer.op->getOperands(), [&](mlir::Value operand) { return Elements(operand) > limit; }))
      return false;
  }
  evaluations = shared + separate;
  prologue = into_anchor;
  return evaluations <= Elements(producer.op->getResult(0)) || IsCheap(producer.op);
}

void Clusters::AbsorbProducers() {
  for (int node = static_cast<int>(nodes_.size()) - 1; node >= 0; --node) {
    if (!IsAlone(node)) continue;
    int cluster = ClusterOfAllUsers(node);
    if (cluster < 0) continue;
    int64_t evaluations = 0;
    bool prologue = false;
    if (!CanJoinAsProducer(node, cluster, evaluations, prologue)) continue;
    // Acyclic: a path from the cluster back to the node would already be a cycle, for the node's users are all inside.
    Join(node, cluster);
    nodes_[node].evaluations = evaluations;
    nodes_[node].prologue = prologue;
  }
  // A reshape that nothing of its group feeds is better an alias outside.
  for (size_t node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node].op_class != OpClass::kReshape || IsAlone(static_cast<int>(node))) continue;
    int input = DefiningNode(nodes_[node].op->getOperand(0));
    if (input < 0 || nodes_[input].cluster != nodes_[node].cluster) Leave(static_cast<int>(node));
  }
}

std::vector<std::vector<mlir::Operation*>> Clusters::InOrder() const {
  // Kahn's algorithm; of the clusters that can run, the one whose last operation comes first in the program.
  std::vector<std::vector<int>> successors(nodes_.size());
  std::vector<int> waiting_for(nodes_.size(), 0), last(nodes_.size(), -1);
  for (size_t cluster = 0; cluster < nodes_.size(); ++cluster) {
    for (int member : members_[cluster]) {
      last[cluster] = std::max(last[cluster], member);
      for (mlir::Value operand : nodes_[member].op->getOperands()) {
        int defining = DefiningNode(operand);
        if (defining < 0 || nodes_[defining].cluster == static_cast<int>(cluster)) continue;
        successors[nodes_[defining].cluster].push_back(static_cast<int>(cluster));
        ++waiting_for[cluster];
      }
    }
  }
  using Entry = std::pair<int, int>;  // last member, cluster
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
  for (size_t cluster = 0; cluster < nodes_.size(); ++cluster)
    if (!members_[cluster].empty() && waiting_for[cluster] == 0) ready.push({last[cluster], static_cast<int>(cluster)});

  std::vector<std::vector<mlir::Operation*>> order;
  while (!ready.empty()) {
    int cluster = ready.top().second;
    ready.pop();
    llvm::SmallVector<int> members = members_[cluster];
    llvm::sort(members);
    std::vector<mlir::Operation*> operations;
    for (int member : members) operations.push_back(nodes_[member].op);
    order.push_back(std::move(operations));
    for (int successor : successors[cluster])
      if (--waiting_for[successor] == 0) ready.push({last[successor], successor});
  }
  return order;
}

}  // namespace aot::graph
