// Where this library's own allocations come from: malloc, or what the host program gave. operator
// new and delete of the library and its plugins lead here (base/operators/operator_new.cpp).
#pragma once

#include <cstddef>

#include "c_api.h"

namespace km {

/// Functions of the host program. A record lives for ever, because memory that came from it may.
struct HostAllocator {
  km_allocate_callback allocate;
  km_free_callback release;
  void* user_data;
};
/// What points to the record in use; null there: malloc and free. A plugin uses its host's.
using HostAllocatorCell = const HostAllocator*;

HostAllocatorCell* host_allocator_cell();
void use_host_allocator_cell(HostAllocatorCell* cell);
/// From now on allocations come from these; null for malloc and free. What was allocated before
/// goes back to where it came from. False when there is no memory for the record.
bool set_host_allocator(km_allocate_callback allocate, km_free_callback release, void* user_data);

/// Null when there is no memory. `align_bytes` is a power of two.
void* host_allocate(size_t size_bytes, size_t align_bytes) noexcept;
void host_release(void* pointer) noexcept;

/// For the time of work whose failed allocations nobody can answer: the code generator's.
class HostMemoryNeeded {
 public:
  HostMemoryNeeded();
  ~HostMemoryNeeded();
  HostMemoryNeeded(const HostMemoryNeeded&) = delete;
  HostMemoryNeeded& operator=(const HostMemoryNeeded&) = delete;
};

}  // namespace km
