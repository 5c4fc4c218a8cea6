// The part of launches with a Trial in accesses: writes are noted, and stores are delayed.
#pragma once

#include "backends/cpu/check/block_checks.h"
#include "backends/cpu/execution/launch_run.h"
#include "backends/cpu/trials/trial.h"
#include "simt/runtime/check/check_runtime.h"

namespace km::cpu {

/// An access of one thread, before it is made.
struct TrialAccess {
  uint64_t address = 0, size_bytes = 0;
  uint32_t thread = 0;
  const simt::AccessNote* note = nullptr;
};
/// Makes the thread's delayed stores to this memory, and notes the access.
void follow_access(Trial& trial, const LaunchRun& launch, const BlockChecks& checks,
                   const TrialAccess& access);
/// OrderRuntime::delay_store.
uint32_t delay_store(simt::BlockState* state, const uint64_t* addresses, uint32_t lanes,
                     const simt::AccessNote* note, const void* values, uint32_t lane_count);
/// OrderRuntime::load_old.
uint32_t load_old(simt::BlockState* state, const uint64_t* addresses, uint32_t lanes,
                  const simt::AccessNote* note, void* out_values, uint32_t lane_count);
/// Notes that lanes come to a fence, from which on they see nothing old.
void sync_old(simt::BlockState* state, uint32_t lanes);
/// Makes all delayed stores of some lanes, because they come to a fence or a barrier.
void make_stores(simt::BlockState* state, uint32_t lanes);
/// Makes all delayed stores of the running block.
void make_stores_of_block(simt::BlockState* state);

}  // namespace km::cpu
