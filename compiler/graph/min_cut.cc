#include "compiler/graph/min_cut.h"

#include <algorithm>

namespace aot::graph {

int MinCut::AddNode() {
  edges_of_.emplace_back();
  return static_cast<int>(edges_of_.size()) - 1;
}

void MinCut::AddEdge(int from, int to, int64_t capacity) {
  if (from == to || capacity <= 0) return;
  edges_of_[from].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({to, capacity});
  edges_of_[to].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({from, 0});
}

bool MinCut::FindLevels() {
  level_.assign(edges_of_.size(), -1);
  level_[kSource] = 0;
  std::vector<int> queue = {kSource};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (int e : edges_of_[queue[i]]) {
      if (edges_[e].capacity <= 0 || level_[edges_[e].to] >= 0) continue;
      level_[edges_[e].to] = level_[queue[i]] + 1;
      queue.push_back(edges_[e].to);
    }
  }
  return level_[kSink] >= 0;
}

int64_t MinCut::Push(int start, int64_t limit) {
  // Depth first without recursion: networks are as deep as models are.
  std::vector<int> path;  // edges from start
  int node = start;
  while (true) {
    if (node == kSink) {
      int64_t amount = limit;
      for (int e : path) amount = std::min(amount, edges_[e].capacity);
      for (int e : path) {
        edges_[e].capacity -= amount;
        edges_[e ^ 1].capacity += amount;
      }
      return amount;
    }
    bool advanced = false;
    for (size_t& i = next_edge_[node]; i < edges_of_[node].size(); ++i) {
      int e = edges_of_[node][i];
      if (edges_[e].capacity > 0 && level_[edges_[e].to] == level_[node] + 1) {
        path.push_back(e);
        node = edges_[e].to;
        advanced = true;
        break;
      }
    }
    if (advanced) continue;
    if (path.empty()) return 0;
    node = edges_[path.back() ^ 1].to;
    path.pop_back();
    ++next_edge_[node];
  }
}

std::vector<bool> MinCut::SinkSide() {
  while (FindLevels()) {
    next_edge_.assign(edges_of_.size(), 0);
    while (Push(kSource, kInfinite) > 0) {
    }
  }
  std::vector<bool> sink_side(edges_of_.size());
  for (size_t node = 0; node < edges_of_.size(); ++node) sink_side[node] = level_[node] < 0;
  return sink_side;
}

}  // namespace aot::graph
