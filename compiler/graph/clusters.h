// Which operations of a block become one group: the decisions of the fusion pass, apart from the rewriting.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/graph/op_classes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace aot::graph {

// A partition of a block's operations (constants and the terminator excepted). The clusters form an acyclic graph at
// any time. Not thread-safe. The block must outlive it and stay unchanged until the last query.
class Clusters {
 public:
  // Every operation starts as a cluster of its own. No cluster grows beyond max_operations.
  Clusters(mlir::Block& block, int64_t max_operations);

  // Anchors take the elementwise operations that follow them, as long as these have the anchor's result shape.
  void GrowEpilogues();
  // Every operation that is computed from few elements, and whose users all lie in one cluster, joins them where
  // code generation can compute it on the fly without repeating expensive work.
  void AbsorbProducers();

  // The clusters, each a list of operations in program order, in an order in which they can run.
  std::vector<std::vector<mlir::Operation*>> InOrder() const;

 private:
  struct Node {
    mlir::Operation* op;
    OpClass op_class;
    int cluster;              // index of the cluster's first member
    int64_t evaluations = 0;  // how many elements of the result the cluster's code computes
    bool prologue = false;    // computed on the fly while the anchor reads its input
  };

  // Index of the operation that defines the value, or -1 (block arguments, constants).
  int DefiningNode(mlir::Value value) const;
  bool IsAlone(int node) const { return members_[nodes_[node].cluster].size() == 1; }
  void Join(int node, int cluster);
  void Leave(int node);
  // The clusters behind `cluster` in the order that a lone node depends on; false if one of them depends on the
  // cluster, so that the node can't join it.
  bool FindOthersBefore(int node, int cluster, llvm::SmallVectorImpl<int>& others) const;
  // Mends the order for a join of the two: the cluster goes to where all that the node needs is before it.
  void MoveBefore(int cluster, int node, llvm::ArrayRef<int> others);
  // Joins the node with the anchor's cluster where that is possible.
  bool ExtendEpilogue(int node, int cluster, mlir::Operation* anchor);
  // The cluster that all uses of the node's result lie in, or -1.
  int ClusterOfAllUsers(int node) const;
  bool CanJoinAsProducer(int node, int cluster, int64_t& evaluations, bool& prologue) const;
  bool AcceptsProducer(const Node& user, unsigned operand) const;
  mlir::Operation* AnchorOf(int cluster) const;

  int64_t max_operations_;
  std::vector<Node> nodes_;
  std::vector<llvm::SmallVector<int>> members_;  // by cluster
  llvm::DenseMap<mlir::Operation*, int> index_;
  // While epilogues grow: clusters in an order in which they can run (-1: none any more), and the place of each in it.
  std::vector<int> order_, place_;
};

}  // namespace aot::graph
