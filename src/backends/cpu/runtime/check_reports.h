// The functions by which code for the checker reports what threads do (simt::CheckRuntime).
#pragma once

#include "backends/cpu/memory/allocations.h"
#include "simt/runtime/check/check_runtime.h"

namespace km::cpu {

class Executor;

uint32_t filter_access(simt::BlockState* state, uint64_t* addresses, uint32_t lanes,
                       const simt::AccessNote* note, uint64_t held_bytes, uint64_t extent_bytes,
                       uint64_t* out_range);
void report_access(simt::BlockState* state, const uint64_t* addresses, uint32_t lanes,
                   const simt::AccessNote* note, const void* values, uint32_t lane_count);
void report_content(simt::BlockState* state, const uint64_t* addresses, uint32_t lanes,
                    const simt::AccessNote* note, uint64_t extent_bytes, uint64_t* out_range);
void report_ranges(simt::BlockState* state, const uint64_t* addresses, const uint64_t* sizes,
                   uint32_t lanes, const simt::AccessNote* note, const simt::StoreSources* sources);
void report_acquire(simt::BlockState* state, const uint64_t* addresses, uint32_t lanes,
                    const simt::AccessNote* note);
void report_fence(simt::BlockState* state, uint32_t lanes, uint32_t scope);
void report_barrier(simt::BlockState* state, uint32_t lanes, uint32_t id, uint32_t thread_count,
                    uint32_t line);
void report_members(simt::BlockState* state, const uint32_t* members, uint32_t lanes,
                    uint32_t line);
void report_warp_sync(simt::BlockState* state, uint32_t lanes, uint32_t orders);
void report_copies(simt::BlockState* state, uint32_t lanes, uint32_t kind, uint32_t pending);
void report_locals(simt::BlockState* state, uint64_t begin, uint32_t lanes, uint64_t stride_bytes,
                   uint64_t size_bytes);
void report_undefined(simt::BlockState* state, uint32_t lanes, uint32_t use, uint32_t line);
/// Reports an access of one thread for which generated code has no report; nothing happens if the
/// block is not checked. `content` has the bytes that a store writes; null: they are unknown.
void report_range(Executor& executor, const AddressRange& range, uint32_t thread,
                  const simt::AccessNote& note, const uint8_t* content);
/// Forgets what is known of memory that a thread has got from the heap for kernels.
void forget_checked(simt::BlockState* state, uint64_t address, uint64_t size_bytes);

}  // namespace km::cpu
