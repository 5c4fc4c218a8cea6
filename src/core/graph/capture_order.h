// Which nodes of a capture use which memory: what is captured on different streams of a capture is
// ordered like work that runs there.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/stream/access_list.h"

namespace km {

class Graph;
struct GraphWork;

class CaptureOrder {
 public:
  /// A new node's work, on a chain of nodes that each run after the one before, adds to `nodes`,
  /// which it runs after: those that it conflicts with and that do not come before `nodes` anyway.
  void add_conflicts(const Graph& graph, const GraphWork& work, uint64_t chain,
                     std::vector<uint64_t>* nodes) const;
  /// Notes the node.
  void note(const std::shared_ptr<const GraphWork>& work, uint64_t chain, uint64_t node);

 private:
  struct Use {
    uint64_t node, chain;
    AccessRange range;
    std::shared_ptr<const GraphWork> work;  // keeps the memory, and the list with it
  };
  std::unordered_map<const AccessList*, std::vector<Use>> uses_;
};

}  // namespace km
