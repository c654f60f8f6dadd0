#include "compiler/graph/min_cut.h"

#include <random>

#include "gtest/gtest.h"

namespace aot::graph {
namespace {

struct Edge {
  int from, to;
  int64_t capacity;
};

int64_t CostOf(const std::vector<Edge>& edges, const std::vector<bool>& sink_side) {
  int64_t cost = 0;
  for (const Edge& edge : edges)
    if (!sink_side[edge.from] && sink_side[edge.to]) cost += edge.capacity;
  return cost;
}

TEST(MinCutTest, CutsTheCheapestEdgeOfAChain) {
  MinCut cut;
  int a = cut.AddNode(), b = cut.AddNode();
  cut.AddEdge(MinCut::kSource, a, 5);
  cut.AddEdge(a, b, 2);
  cut.AddEdge(b, MinCut::kSink, 7);
  EXPECT_EQ(cut.SinkSide(), (std::vector<bool>{false, true, false, true}));
}

TEST(MinCutTest, PrefersALargeSinkSide) {
  MinCut cut;
  int a = cut.AddNode(), b = cut.AddNode();
  cut.AddEdge(MinCut::kSource, a, 3);
  cut.AddEdge(a, b, 3);
  cut.AddEdge(b, MinCut::kSink, 3);
  EXPECT_EQ(cut.SinkSide(), (std::vector<bool>{false, true, true, true}));
}

TEST(MinCutTest, AgreesWithTryingEveryCut) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    constexpr int kNodes = 8;
    MinCut cut;
    for (int i = 2; i < kNodes; ++i) cut.AddNode();
    std::vector<Edge> edges;
    for (int i = 0; i < 20; ++i) {
      edges.push_back({static_cast<int>(random() % kNodes), static_cast<int>(random() % kNodes),
                       static_cast<int64_t>(random() % 10)});
      cut.AddEdge(edges.back().from, edges.back().to, edges.back().capacity);
    }
    int64_t best = MinCut::kInfinite;
    for (unsigned sides = 0; sides < 1u << kNodes; ++sides) {
      if ((sides & 1u) != 0 || (sides & 2u) == 0) continue;
      std::vector<bool> sink_side;
      for (int i = 0; i < kNodes; ++i) sink_side.push_back((sides >> i & 1u) != 0);
      best = std::min(best, CostOf(edges, sink_side));
    }
    EXPECT_EQ(CostOf(edges, cut.SinkSide()), best) << "round " << round;
  }
}

}  // namespace
}  // namespace aot::graph
