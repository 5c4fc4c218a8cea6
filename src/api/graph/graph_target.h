// One target for adding a node and for setting its parameters, so that both share their checks.
#pragma once

#include "api/guard.h"
#include "core/graph/graph.h"

namespace km {

/// The destination of an operation: a new node or an existing one.
class GraphTarget {
 public:
  GraphTarget(const uint64_t* dependencies, uint64_t dependency_count, uint64_t* out_node)
      : dependencies_(dependencies), dependency_count_(dependency_count), out_node_(out_node) {}
  explicit GraphTarget(uint64_t node) : is_new_(false), node_(node) {}

  Status place(Graph& graph, Result<SharedWork> work) const {
    if (!work) return std::move(work.error());
    if (!is_new_) return graph.set(node_, std::move(*work));
    const uint64_t* const dependencies = dependencies_;
    uint64_t* const out_node = out_node_;
    if (dependency_count_ != 0) KM_REQUIRE(dependencies);
    KM_REQUIRE(out_node);
    KM_ASSIGN(*out_node, graph.add({dependencies, dependency_count_}, std::move(*work)));
    return {};
  }

 private:
  const uint64_t* dependencies_ = nullptr;
  uint64_t dependency_count_ = 0;
  uint64_t* out_node_ = nullptr;
  bool is_new_ = true;
  uint64_t node_ = 0;
};

}  // namespace km
