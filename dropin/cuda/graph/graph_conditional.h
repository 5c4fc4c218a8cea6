// Nodes that decide on graphs within them by values that kernels set (cudaGraphSetConditional,
// device_runtime.cpp). The handle of a value is its address.
#pragma once

#include "dropin/cuda/graph/graph.h"

namespace km::dropin {

class ConditionalValue {
 public:
  static CUresult create(Graph& graph, unsigned default_value, unsigned flags,
                         std::shared_ptr<ConditionalValue>* out);
  ~ConditionalValue();
  ConditionalValue(const ConditionalValue&) = delete;
  ConditionalValue& operator=(const ConditionalValue&) = delete;

  CUgraphConditionalHandle handle() const { return memory_->address(); }
  const Ref<km::Memory>& memory() const { return memory_; }
  /// The graph that the node is to be in.
  CUgraph graph() const { return graph_; }
  bool has_default() const { return (flags_ & CU_GRAPH_COND_ASSIGN_DEFAULT) != 0; }
  unsigned default_value() const { return default_value_; }
  /// True once a node uses the value; each value has one node.
  std::atomic<bool>& is_used() { return is_used_; }

 private:
  ConditionalValue(Ref<km::Memory> memory, CUgraph graph, unsigned default_value, unsigned flags);

  const Ref<km::Memory> memory_;
  const CUgraph graph_;
  const unsigned default_value_, flags_;
  std::atomic<bool> is_used_{false};
};

/// A node that decides, with its graphs, as work of a node of `graph`.
CUresult conditional_work_of(Graph& graph, const CUDA_CONDITIONAL_NODE_PARAMS& params,
                             SharedWork* out);
/// The parameters of a node that is in the graph; the array of graphs lives as long as the node.
CUDA_CONDITIONAL_NODE_PARAMS read_conditional(Graph& graph, uint64_t node, const SharedWork& work);

/// Why a graph cannot be instantiated: CUDA_GRAPH_INSTANTIATE_SUCCESS where it can.
CUgraphInstantiateResult check_conditionals(Graph& graph);
bool has_conditionals(const km::Graph& graph);
/// True if there may be only one of a graph: it has nodes that decide, allocate or
/// free, or that kernels change.
bool is_unique(const km::Graph& graph);

}  // namespace km::dropin
