// Minimum cut of a directed network (Dinic's algorithm).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aot::graph {

// Not thread-safe. Deterministic: the result depends on the order of the calls only.
class MinCut {
 public:
  static constexpr int kSource = 0;
  static constexpr int kSink = 1;
  static constexpr int64_t kInfinite = int64_t{1} << 60;

  MinCut() : edges_of_(2) {}

  int AddNode();
  // Cutting the edge, with `from` on the source's side and `to` on the sink's, costs `capacity`. The sum of all finite
  // capacities must stay below kInfinite.
  void AddEdge(int from, int to, int64_t capacity);
  // For each node, whether it lies on the sink's side in the cut of least cost whose sink side is largest.
  std::vector<bool> SinkSide();

 private:
  struct Edge {
    int to;
    int64_t capacity;  // what is left of it; its reverse has the next or previous index
  };

  bool FindLevels();
  int64_t Push(int node, int64_t limit);

  std::vector<Edge> edges_;
  std::vector<std::vector<int>> edges_of_;
  std::vector<int> level_;
  std::vector<size_t> next_edge_;
};

}  // namespace aot::graph
