// Memory that graph nodes allocate and free. A node's memory gets its address when the node is made
// and exists as long as the node is in a graph or an executable graph.
#pragma once

#include "dropin/cuda/graph/graph.h"

namespace km::dropin {

/// An allocation node's memory, freed with the last node that refers to it.
class GraphMemory {
 public:
  static CUresult create(Context& context, uint64_t size_bytes, std::shared_ptr<GraphMemory>* out);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  CUdeviceptr address() const { return address_; }
  const Ref<km::Memory>& memory() const { return memory_; }
  /// True while a launch has allocated it and nothing has freed it yet.
  std::atomic<bool>& in_use() { return in_use_; }
  /// True if a node frees it.
  std::atomic<bool>& has_free_node() { return has_free_node_; }

 private:
  GraphMemory(DeviceState& device, Ref<km::Memory> memory);
  DeviceState& device_;
  const Ref<km::Memory> memory_;
  const CUdeviceptr address_;
  std::atomic<bool> in_use_{false}, has_free_node_{false};
};

/// The memory of the allocation node with this address; null if there is none.
std::shared_ptr<GraphMemory> find_graph_memory(CUdeviceptr address);

struct MemoryNote : NodeNote {
  std::shared_ptr<GraphMemory> memory;
  CUDA_MEM_ALLOC_NODE_PARAMS params;  // parameters of an allocation node
};
/// An allocation or free node's note; null for other nodes.
const MemoryNote* memory_note_of(const GraphWork& work);

/// Makes an allocation node's work and stores the memory's address in `params.dptr`.
CUresult allocation_work_of(Context& context, CUDA_MEM_ALLOC_NODE_PARAMS& params, SharedWork* out);
CUresult free_work_of(CUdeviceptr address, SharedWork* out);
/// Fails if a launch would allocate memory that is already in use: one executable graph cannot
/// allocate twice.
CUresult begin_memory_of_launch(const GraphExec& exec);
/// Handles cuMemFree and cuMemFreeAsync. Returns true if the address is such memory.
bool free_graph_memory(CUdeviceptr address, CUresult* out);

}  // namespace km::dropin
