// The uses of memory by the nodes of a capture. Conflicting nodes that were captured on different
// streams get dependencies, like work on those streams.
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
  /// Adds to `nodes`, the dependencies of a new node, the nodes that conflict with its work and do
  /// not come before `nodes` anyway. `chain` identifies a sequence of nodes that each run after the
  /// previous one.
  void add_conflicts(const Graph& graph, const GraphWork& work, uint64_t chain,
                     std::vector<uint64_t>* nodes) const;
  /// Records the uses of a new node.
  void note(const std::shared_ptr<const GraphWork>& work, uint64_t chain, uint64_t node);

 private:
  struct Use {
    uint64_t node, chain;
    AccessRange range;
    std::shared_ptr<const GraphWork> work;  // keeps the memory, and with it the list, alive
  };
  std::unordered_map<const AccessList*, std::vector<Use>> uses_;
};

}  // namespace km
