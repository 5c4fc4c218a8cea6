// Memory that nodes of graphs allocate and free. Each node's memory has its address from the
// beginning, and is there as long as the node is in a graph or in what was instantiated of one.
#pragma once

#include "dropin/cuda/graph/graph.h"

namespace km::dropin {

/// The memory of an allocating node. Gone with the last node that has it.
class GraphMemory {
 public:
  static CUresult create(Context& context, uint64_t size_bytes, std::shared_ptr<GraphMemory>* out);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  CUdeviceptr address() const { return address_; }
  const Ref<km::Memory>& memory() const { return memory_; }
  /// Allocated by a launch, and not freed since.
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

/// The memory that an allocating node made at this address; null when none did.
std::shared_ptr<GraphMemory> find_graph_memory(CUdeviceptr address);

struct MemoryNote : NodeNote {
  std::shared_ptr<GraphMemory> memory;
  CUDA_MEM_ALLOC_NODE_PARAMS params;  // of a node that allocates
};
/// The note of a node that allocates or frees; null for others.
const MemoryNote* memory_note_of(const GraphWork& work);

/// `params.dptr` becomes the address.
CUresult allocation_work_of(Context& context, CUDA_MEM_ALLOC_NODE_PARAMS& params, SharedWork* out);
CUresult free_work_of(CUdeviceptr address, SharedWork* out);
/// Fails if the launch would allocate memory twice: graphs can hold nodes that allocate.
CUresult begin_memory_of_launch(const GraphExec& exec);
/// cuMemFree and cuMemFreeAsync of such memory: true when it was that.
bool free_graph_memory(CUdeviceptr address, CUresult* out);

}  // namespace km::dropin
