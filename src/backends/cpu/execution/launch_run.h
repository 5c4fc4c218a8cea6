// The state of a running kernel launch that the threads which execute its blocks share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "backends/cpu/check/block_checks.h"
#include "backends/cpu/counters/launch_counters.h"
#include "backends/cpu/execution/block_range.h"
#include "backends/cpu/execution/code_unit.h"
#include "backends/cpu/execution/stall.h"
#include "backends/cpu/threads/futex.h"
#include "simt/abi.h"

namespace km {
class Output;
}

namespace km::cpu {

class Allocations;
class DeviceCalls;
class DeviceHeap;
struct Trial;

struct LaunchRun {
  simt::LaunchRecord record{};
  const CodeUnit* unit = nullptr;
  uint64_t block_count = 0;  // size of `range`, in blocks or, if clusters synchronise, in clusters
  uint32_t cluster_blocks = 1;         // blocks of a cluster that run at the same time
  uint32_t workspace[4] = {};          // LaunchRecord::workspace
  uint32_t reserved_shared_bytes = 0;  // at the end of shared memory; zeroed for each block
  uint64_t param_bytes = 0;            // size of record.params
  uint64_t shared_bytes = 0;           // static, dynamic and reserved shared memory
  const std::atomic<uint32_t>* stop = nullptr;  // not 0: every thread leaves the launch
  const void* owner = nullptr;                  // launches of one owner are stopped together
  Output* output = nullptr;                     // receives device printf
  const Allocations* allocations = nullptr;     // the memory that checked code may access
  DeviceHeap* heap = nullptr;                   // for device malloc
  DeviceCalls* grid = nullptr;  // executes calls of the device runtime; null: the kernel makes none
  StallRelief* relief = nullptr;                // informed by threads whose blocks all wait
  Stall stall;                                  // for launches whose blocks may wait
  std::atomic<uint32_t>* assertions = nullptr;  // failed assertions since the context was reset
  BlockRange range;
  uint64_t job = 0;  // the pool's name for the launch while several threads run it
  /// When the launch takes longer than expected; never if all threads may take part anyway.
  std::atomic<uint64_t> overdue_ticks{UINT64_MAX};

  /// Takes blocks as BlockRange::take() does.
  bool take(uint32_t* part, uint64_t* first, uint64_t* last, uint64_t most = UINT64_MAX) {
    const uint64_t overdue = overdue_ticks.load(std::memory_order_relaxed);
    if (overdue != UINT64_MAX && now_ticks() > overdue) [[unlikely]]
      ask_for_threads();
    return range.take(part, first, last, most);
  }
  /// Lets the pool send all threads, once.
  void ask_for_threads() {
    if (overdue_ticks.exchange(UINT64_MAX, std::memory_order_relaxed) != UINT64_MAX)
      relief->widen(job);
  }
  /// The checker's knowledge while the launch runs; null: its code has no tool.
  std::unique_ptr<LaunchChecks> checks;
  /// The counters of the launch's warps; null: they are not counted.
  std::unique_ptr<LaunchCounters> counters;
  Trial* trial = nullptr;  // the order of its blocks, warps and lanes; null: it has none
};

/// A block of the launch for the checker, without the memory that depends on the thread. `store` is
/// the thread's.
inline BlockChecks::Block checked_block(const LaunchRun& launch, const simt::BlockState& state,
                                        ReportedStore* store) {
  const simt::LaunchRecord& record = launch.record;
  const uint32_t* const index = state.block;
  BlockChecks::Block block;
  block.launch = launch.checks.get();
  block.number = index[0] + record.grid[0] * (index[1] + record.grid[1] * index[2]);
  block.thread_count = record.block[0] * record.block[1] * record.block[2];
  block.store = store;
  block.shared.size_bytes = launch.shared_bytes;
  block.params = {reinterpret_cast<uint64_t>(record.params), launch.param_bytes};
  return block;
}

}  // namespace km::cpu
