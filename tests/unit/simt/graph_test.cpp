#include "simt/kernel/graph.h"

#include <gtest/gtest.h>

namespace km::simt {
namespace {

Graph graph_of(size_t nodes, std::initializer_list<std::pair<NodeId, NodeId>> edges) {
  Graph graph(nodes);
  for (const auto& [from, to] : edges) graph.add_edge(from, to);
  return graph;
}

TEST(Graph, ComponentsAreCycles) {
  // 0 -> 1 <-> 2 -> 3, 3 -> 3; 4 leads in but is not reached.
  const Graph graph = graph_of(5, {{0, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 3}, {4, 2}});
  const auto component = components(graph);
  EXPECT_EQ(component[1], component[2]);
  EXPECT_NE(component[0], component[1]);
  EXPECT_NE(component[2], component[3]);
  EXPECT_EQ(component[4], kNoNode);
}

struct Case {
  explicit Case(Graph g)
      : graph(std::move(g)),
        loops(find_loops(graph, DominatorTree(graph, 0))),
        meet(graph, loops) {}
  Graph graph;
  LoopForest loops;
  Reconvergence meet;
};

TEST(Graph, SidesMeetBehindABranch) {
  Case diamond(graph_of(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}));
  EXPECT_TRUE(diamond.meet.always_reaches(0, 3));
  EXPECT_FALSE(diamond.meet.always_reaches(0, 1));
}

// A loop whose iterations may skip node 2, which is on the only way out.
TEST(Graph, TheNextIterationDoesNotCount) {
  Case loop(graph_of(5, {{0, 1}, {1, 3}, {1, 2}, {2, 3}, {2, 4}, {3, 1}}));
  ASSERT_EQ(loop.loops.loops.size(), 1u);
  EXPECT_TRUE(post_dominators(loop.graph).dominates(2, 1));
  EXPECT_FALSE(loop.meet.always_reaches(1, 2));
  EXPECT_TRUE(loop.meet.always_reaches(0, 4)) << "all leave the loop at last";
}

// An inner loop is passed within one iteration of the outer one.
TEST(Graph, InnerLoopsArePassed) {
  Case nest(graph_of(6, {{0, 1}, {1, 2}, {2, 2}, {2, 3}, {3, 1}, {3, 4}, {4, 5}}));
  EXPECT_TRUE(nest.meet.always_reaches(1, 3));
  EXPECT_TRUE(nest.meet.always_reaches(1, 2));
}

TEST(Graph, AnIterationEndsAtItsBackEdge) {
  const Graph graph = graph_of(4, {{0, 1}, {1, 2}, {2, 1}, {1, 3}});
  const LoopForest loops = find_loops(graph, DominatorTree(graph, 0));
  const Graph iteration = iteration_graph(graph, loops, 0);
  ASSERT_EQ(iteration.size(), loops.loops[0].nodes.size() + 1);
  for (NodeId node = 0; node + 1 < iteration.size(); ++node) {
    const NodeId original = loops.loops[0].nodes[node];
    EXPECT_EQ(iteration.succs[node].size(), graph.succs[original].size());
  }
  EXPECT_EQ(iteration.preds.back().size(), 2u);  // the back edge and the way out
}

}  // namespace
}  // namespace km::simt
