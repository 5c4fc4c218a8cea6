// One kernel launch while it runs: what all threads that execute its blocks share.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "backends/cpu/execution/block_range.h"
#include "backends/cpu/execution/code_unit.h"
#include "backends/cpu/execution/stall.h"
#include "simt/abi.h"

namespace km::cpu {

class Allocations;
class DeviceCalls;
class DeviceHeap;
class Output;

struct LaunchRun {
  simt::LaunchRecord record{};
  const CodeUnit* unit = nullptr;
  uint64_t block_count = 0;            // what `range` hands out; where clusters meet, those
  uint32_t cluster_blocks = 1;         // of a cluster whose blocks run at the same time
  uint32_t workspace[4] = {};          // LaunchRecord::workspace
  uint32_t reserved_shared_bytes = 0;  // the end of shared memory, zeroed for each block
  uint64_t param_bytes = 0;            // of record.params
  uint64_t shared_bytes = 0;           // static, dynamic and reserved
  const std::atomic<uint32_t>* stop = nullptr;  // not 0: every thread leaves
  const void* owner = nullptr;                  // whose launches are stopped together
  Output* output = nullptr;                     // of device printf
  const Allocations* allocations = nullptr;     // what checked code may touch
  DeviceHeap* heap = nullptr;                   // of device malloc
  DeviceCalls* grid = nullptr;                  // its own launches; null: it can make none
  StallRelief* relief = nullptr;                // of the threads that run it
  Stall stall;                                  // of launches whose blocks may wait
  std::atomic<uint32_t>* assertions = nullptr;  // failed ones since the context was reset
  BlockRange range;
};

}  // namespace km::cpu
