// The source of this library's own allocations: malloc, or the functions that the host program
// gave. operator new and delete of the library and its plugins lead here
// (base/operators/operator_new.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory/memory_reserve.h"
#include "kernelmill/base.h"

namespace km {

/// Functions of the host program. A record lives for ever, because memory that came from it may.
struct HostAllocator {
  km_allocate_callback allocate;
  km_free_callback release;
  void* user_data;
};
/// A pointer to the record in use; null there: malloc and free. A plugin uses its host's.
using HostAllocatorCell = const HostAllocator*;

HostAllocatorCell* host_allocator_cell();
void use_host_allocator_cell(HostAllocatorCell* cell);
/// From now on allocations come from these; null for malloc and free. What was allocated before
/// goes back to where it came from. False when there is no memory for the record.
bool set_host_allocator(km_allocate_callback allocate, km_free_callback release, void* user_data);

/// Null when there is no memory, which a thread that needs it (HostMemoryNeeded) does not see:
/// there is a reserve for it, and when that is used up, it waits. `align_bytes` is a power of two.
void* host_allocate(size_t size_bytes, size_t align_bytes) noexcept;
void host_release(void* pointer) noexcept;

/// For the time of work whose failed allocations nobody can answer.
class HostMemoryNeeded {
 public:
  HostMemoryNeeded();
  ~HostMemoryNeeded();
  HostMemoryNeeded(const HostMemoryNeeded&) = delete;
  HostMemoryNeeded& operator=(const HostMemoryNeeded&) = delete;
};

/// For the time of work that can do without memory, on a thread that needs it otherwise.
class HostMemoryOptional {
 public:
  HostMemoryOptional();
  ~HostMemoryOptional();
  HostMemoryOptional(const HostMemoryOptional&) = delete;
  HostMemoryOptional& operator=(const HostMemoryOptional&) = delete;

 private:
  const uint32_t before_;
};

/// The code generator's reserve, for the malloc of its own library (operators/reserved_malloc.cpp).
MemoryReserve& code_reserve();
/// This thread generates code.
bool may_use_code_reserve();

/// For the time that a thread generates code: the code generator's reserve is for it, and
/// `when_exhausted`, which does not return, is called for an allocation that has come to its end.
class CodeGeneratorMemory {
 public:
  explicit CodeGeneratorMemory(void (*when_exhausted)());
  ~CodeGeneratorMemory();
  /// Ends the scope of this thread, which will not come to its end.
  static void abandon();
  CodeGeneratorMemory(const CodeGeneratorMemory&) = delete;
  CodeGeneratorMemory& operator=(const CodeGeneratorMemory&) = delete;
};

}  // namespace km
