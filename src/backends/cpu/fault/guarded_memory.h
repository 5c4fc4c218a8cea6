// Copies and fills at full memory speed that report inaccessible addresses instead of crashing.
#pragma once

#include <cstdint>

#include "backends/cpu/fault/fault.h"

namespace km::cpu {

/// From this size on, a command's memory traffic bypasses the caches.
constexpr uint64_t kStreamingBytes = 8 << 20;

/// Copies like memmove(). If it returns false, *out_fault (unless null) describes the fault.
bool guarded_copy(void* destination, const void* source, uint64_t size_bytes, bool streaming,
                  Fault* out_fault);

/// Stores `value`, which has 1, 2 or 4 bytes, `count` times.
bool guarded_fill(void* destination, uint32_t value, uint32_t value_size_bytes, uint64_t count,
                  bool streaming, Fault* out_fault);

/// Calls function(argument) on this stack. If any code within the call faults, the call is
/// abandoned, and the result is false. The call must own nothing at such a point, because no
/// destructors run.
bool guarded_run(void (*function)(void*), void* argument, Fault* out_fault);

/// Copies an aligned value of 4 or 8 bytes by an atomic load and an atomic store. One of the two
/// addresses may be inaccessible; the other is the caller's own.
bool guarded_move_value(void* destination, const void* source, uint32_t size_bytes);

/// Implements strnlen() for text that may be inaccessible.
bool guarded_length(const char* text, uint64_t limit, uint64_t* out_length);

}  // namespace km::cpu
