// Conditional nodes, which run or skip body graphs by values that kernels set
// (cudaGraphSetConditional, device_runtime.cpp). A value's handle is its address.
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
  /// The graph for whose nodes the value was created.
  CUgraph graph() const { return graph_; }
  bool has_default() const { return (flags_ & CU_GRAPH_COND_ASSIGN_DEFAULT) != 0; }
  unsigned default_value() const { return default_value_; }
  /// True once a node uses the value; a value belongs to one node at most.
  std::atomic<bool>& is_used() { return is_used_; }

 private:
  ConditionalValue(Ref<km::Memory> memory, CUgraph graph, unsigned default_value, unsigned flags);

  const Ref<km::Memory> memory_;
  const CUgraph graph_;
  const unsigned default_value_, flags_;
  std::atomic<bool> is_used_{false};
};

/// Makes a conditional node's work, including its body graphs, for a node of `graph`.
CUresult conditional_work_of(Graph& graph, const CUDA_CONDITIONAL_NODE_PARAMS& params,
                             SharedWork* out);
/// A conditional node's parameters; the array of body graphs lives as long as the node.
CUDA_CONDITIONAL_NODE_PARAMS read_conditional(Graph& graph, uint64_t node, const SharedWork& work);

/// The reason why a graph cannot be instantiated, or CUDA_GRAPH_INSTANTIATE_SUCCESS.
CUgraphInstantiateResult check_conditionals(Graph& graph);
bool has_conditionals(const km::Graph& graph);
/// True if a graph may have one instantiation only: it has conditional nodes, nodes that allocate
/// or free memory, or nodes that kernels change.
bool is_unique(const km::Graph& graph);

}  // namespace km::dropin
