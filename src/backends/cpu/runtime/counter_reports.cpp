#include "backends/cpu/runtime/counter_reports.h"

#include <bit>

#include "backends/cpu/runtime/caller.h"

namespace km::cpu {
namespace {

/// The lanes whose addresses are in this memory.
uint32_t lanes_in(const AddressRange& memory, const uint64_t* addresses, uint32_t lanes) {
  uint32_t found = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    if (addresses[lane] - memory.begin < memory.size_bytes) found |= uint32_t{1} << lane;
  }
  return found;
}

}  // namespace

void count_access(simt::BlockState* state, const uint64_t* addresses, uint32_t lanes,
                  const simt::CountedAccess* access) {
  Executor& executor = executor_of(state);
  WarpCounters* const counters = executor.counters();
  if (counters == nullptr || lanes == 0) return;
  uint32_t shared = access->space == simt::CountedSpace::shared ? lanes : 0;
  if (access->space == simt::CountedSpace::generic) {
    shared = lanes_in(executor.shared_memory(), addresses, lanes);
    // Local memory and parameters are not counted.
    lanes &= ~lanes_in(executor.local_memory(), addresses, lanes);
    lanes &= ~lanes_in(executor.parameters(), addresses, lanes);
  }
  const uint32_t global = lanes & ~shared;
  if (shared != 0) counters->count_shared(*access, {addresses, shared, access->size_bytes});
  if (global != 0) counters->count_global(*access, {addresses, global, access->size_bytes});
}

void count_block(simt::BlockState* state, uint32_t lanes, uint32_t way,
                 const simt::CountedBlock* block) {
  WarpCounters* const counters = executor_of(state).counters();
  if (counters != nullptr && lanes != 0) counters->count_block(*block, lanes, way);
}

}  // namespace km::cpu
