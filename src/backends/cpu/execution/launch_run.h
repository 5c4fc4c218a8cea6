// The state of a running kernel launch that the threads which execute its blocks share.
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
};

}  // namespace km::cpu
