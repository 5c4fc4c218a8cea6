// Copies and fills at memory speed that survive addresses which are not there.
#pragma once

#include <cstdint>

#include "backends/cpu/fault/fault.h"

namespace km::cpu {

/// From this size on, a command's memory traffic goes around the caches.
constexpr uint64_t kStreamingBytes = 8 << 20;

/// Overlapping ranges copy as memmove does. On false *out_fault says where it failed.
bool guarded_copy(void* destination, const void* source, uint64_t size_bytes, bool streaming,
                  Fault* out_fault);

/// Repeats `value` (1, 2 or 4 bytes) `count` times.
bool guarded_fill(void* destination, uint32_t value, uint32_t value_size_bytes, uint64_t count,
                  bool streaming, Fault* out_fault);

/// Calls function(argument) on this stack. On false it was left at an access to what is not there,
/// whatever code made that access: it must own nothing then. *out_fault says where.
bool guarded_run(void (*function)(void*), void* argument, Fault* out_fault);

/// Reads or writes one aligned number of 4 or 8 bytes, in one piece; the other side is the
/// caller's own.
bool guarded_move_value(void* destination, const void* source, uint32_t size_bytes);

/// strnlen.
bool guarded_length(const char* text, uint64_t limit, uint64_t* out_length);

}  // namespace km::cpu
