#include "dropin/cuda/graph/graph_memory.h"

#include <algorithm>

#include "base/assert.h"
#include "core/graph/graph_work.h"
#include "dropin/cuda/context/allocation.h"

namespace km::dropin {

using namespace cu;  // NOLINT

namespace {

struct Known {
  std::mutex mutex;
  std::map<CUdeviceptr, std::weak_ptr<GraphMemory>> by_address;
};

Known& known() {
  static Known& all = *new Known;  // never destroyed: calls may come during exit
  return all;
}

void raise_to(std::atomic<uint64_t>& high, uint64_t value) {
  uint64_t before = high.load();
  while (before < value && !high.compare_exchange_weak(before, value)) continue;
}

std::shared_ptr<GraphWork> work_with(std::shared_ptr<MemoryNote> note) {
  KM_ASSERT(note->memory != nullptr, "a memory node has memory");
  auto work = std::make_shared<GraphWork>();
  work->memories.push_back(note->memory->memory());
  work->note = as_note<MemoryNote>(std::move(note));
  return work;
}

CUresult check_access(const CUDA_MEM_ALLOC_NODE_PARAMS& params) {
  if (params.accessDescCount != 0) CU_REQUIRE(params.accessDescs);
  for (size_t i = 0; i < params.accessDescCount; ++i) {
    const CUmemLocation& location = params.accessDescs[i].location;
    if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
      return fail(CUDA_ERROR_INVALID_VALUE, "access %zu is not for a device", i);
    }
    CU_DEVICE(device, location.id);
    static_cast<void>(device);
  }
  return CUDA_SUCCESS;
}

}  // namespace

GraphMemory::GraphMemory(DeviceState& device, Ref<km::Memory> memory)
    : device_(device), memory_(std::move(memory)), address_(memory_->address()) {
  const uint64_t now = device_.graph_bytes.fetch_add(memory_->size_bytes()) + memory_->size_bytes();
  raise_to(device_.graph_high_bytes, now);
}

CUresult GraphMemory::create(Context& context, uint64_t size_bytes,
                             std::shared_ptr<GraphMemory>* out) {
  if (size_bytes == 0) return fail(CUDA_ERROR_INVALID_VALUE, "bytesize is 0");
  Ref<km::Memory> memory;
  CU_TRY(create_counted_memory(context, size_bytes, &memory));
  std::shared_ptr<GraphMemory> made(new GraphMemory(context.device(), std::move(memory)));
  Allocation allocation;
  allocation.memory = made->memory_;
  allocation.kind = AllocationKind::kGraph;
  allocation.size_bytes = size_bytes;
  allocation.device = context.device().ordinal;
  allocation.context_id = context.id();
  Driver::instance().add(made->address_, std::move(allocation));
  const std::lock_guard lock(known().mutex);
  KM_ASSERT(!known().by_address.contains(made->address_), "the address of the memory is unique");
  known().by_address[made->address_] = made;
  *out = std::move(made);
  return CUDA_SUCCESS;
}

GraphMemory::~GraphMemory() {
  {
    const std::lock_guard lock(known().mutex);
    known().by_address.erase(address_);
  }
  [[maybe_unused]] const uint64_t held = device_.graph_bytes.fetch_sub(memory_->size_bytes());
  KM_ASSERT(held >= memory_->size_bytes(), "the device counts the memory of graphs");
  device_.unreserve(memory_->size_bytes());
  Allocation taken;  // the context's end may have removed it
  Driver::instance().take(address_, kind_bit(AllocationKind::kGraph), &taken);
}

std::shared_ptr<GraphMemory> find_graph_memory(CUdeviceptr address) {
  const std::lock_guard lock(known().mutex);
  const auto found = known().by_address.find(address);
  return found != known().by_address.end() ? found->second.lock() : nullptr;
}

const MemoryNote* memory_note_of(const GraphWork& work) {
  const NodeNote* const note = note_of(work);
  if (note == nullptr) return nullptr;
  const bool is_one =
      note->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || note->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
  return is_one ? static_cast<const MemoryNote*>(note) : nullptr;
}

CUresult allocation_work_of(Context& context, CUDA_MEM_ALLOC_NODE_PARAMS& params, SharedWork* out) {
  const CUmemPoolProps& pool = params.poolProps;
  if (pool.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
      pool.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      pool.handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
    return fail(CUDA_ERROR_INVALID_VALUE, "graphs allocate pinned memory of devices, not shared");
  }
  CU_DEVICE(device, pool.location.id);
  CU_TRY(check_access(params));
  if (device != &context.device()) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "the graph is of device %d; memory of device %d",
                context.device().ordinal, device->ordinal);
  }
  auto note = std::make_shared<MemoryNote>();
  note->type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  CU_TRY(GraphMemory::create(context, params.bytesize, &note->memory));
  params.dptr = note->memory->address();
  note->params = params;
  note->params.accessDescs = nullptr;  // the caller's array may not outlive the call
  note->params.accessDescCount = 0;
  *out = work_with(std::move(note));
  return CUDA_SUCCESS;
}

CUresult free_work_of(CUdeviceptr address, SharedWork* out) {
  auto note = std::make_shared<MemoryNote>();
  note->type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  note->memory = find_graph_memory(address);
  note->params = {};
  note->params.dptr = address;
  if (!note->memory) {
    return fail(CUDA_ERROR_INVALID_VALUE, "no node of a graph allocates memory at 0x%llx", address);
  }
  if (note->memory->has_free_node().exchange(true)) {
    return fail(CUDA_ERROR_INVALID_VALUE, "a node frees the memory at 0x%llx already", address);
  }
  *out = work_with(std::move(note));
  return CUDA_SUCCESS;
}

CUresult begin_memory_of_launch(const GraphExec& exec) {
  const auto& nodes = exec.memory_nodes();
  const auto allocates = [](const MemoryNote& note) {
    return note.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  };
  const bool frees_first = (exec.flags() & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
  const bool is_left = std::any_of(nodes.begin(), nodes.end(), [&](const SharedWork& work) {
    const MemoryNote& note = *memory_note_of(*work);
    return allocates(note) && note.memory->in_use().load();
  });
  if (is_left && !frees_first) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "memory that the last launch allocated was not freed; see "
                "CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH");
  }
  for (const SharedWork& work : nodes) {
    const MemoryNote& note = *memory_note_of(*work);
    if (allocates(note)) note.memory->in_use().store(true);
  }
  for (const SharedWork& work : nodes) {
    const MemoryNote& note = *memory_note_of(*work);
    if (!allocates(note)) note.memory->in_use().store(false);
  }
  return CUDA_SUCCESS;
}

bool free_graph_memory(CUdeviceptr address, CUresult* out) {
  const std::shared_ptr<GraphMemory> found = find_graph_memory(address);
  if (!found) return false;
  *out = found->in_use().exchange(false)
             ? CUresult{CUDA_SUCCESS}
             : fail(CUDA_ERROR_INVALID_VALUE, "the memory at 0x%llx is not allocated", address);
  return true;
}

}  // namespace km::dropin
