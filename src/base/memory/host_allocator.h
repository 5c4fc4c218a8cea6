// The source of the library's own allocations: malloc, or the functions that the host program has
// set. operator new and delete of the library and its plugins call these functions
// (base/operators/operator_new.cpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/memory/memory_reserve.h"
#include "kernelmill/base.h"

namespace km {

/// The allocation functions of the host program. A record is never freed, because allocations refer
/// to it.
struct HostAllocator {
  km_allocate_callback allocate;
  km_free_callback release;
  void* user_data;
};
/// A pointer to the current record; null means malloc and free. A plugin uses its host's cell.
using HostAllocatorCell = std::atomic<const HostAllocator*>;

HostAllocatorCell* host_allocator_cell();
void use_host_allocator_cell(HostAllocatorCell* cell);
/// Sets the functions for later allocations; null for malloc and free. Earlier allocations are
/// freed by the functions that made them. Returns false if there is no memory for the record.
bool set_host_allocator(km_allocate_callback allocate, km_free_callback release, void* user_data);

/// Returns null if there is no memory, except on a thread with HostMemoryNeeded: that gets memory
/// from a reserve, and waits if the reserve is used up. `align_bytes` is a power of two.
void* host_allocate(size_t size_bytes, size_t align_bytes) noexcept;
void host_release(void* pointer) noexcept;

/// A scope whose failed allocations nobody can handle.
class HostMemoryNeeded {
 public:
  HostMemoryNeeded();
  ~HostMemoryNeeded();
  HostMemoryNeeded(const HostMemoryNeeded&) = delete;
  HostMemoryNeeded& operator=(const HostMemoryNeeded&) = delete;
};

/// A scope that can handle failed allocations, within a scope of HostMemoryNeeded.
class HostMemoryOptional {
 public:
  HostMemoryOptional();
  ~HostMemoryOptional();
  HostMemoryOptional(const HostMemoryOptional&) = delete;
  HostMemoryOptional& operator=(const HostMemoryOptional&) = delete;

 private:
  const uint32_t before_;
};

/// The code generator's reserve, for the wrapped malloc of the plugin
/// (operators/reserved_malloc.cpp).
MemoryReserve& code_reserve();
/// True if this thread generates code.
bool may_use_code_reserve();

/// A scope in which this thread generates code: failed allocations use the code generator's
/// reserve, and if that is used up, `when_exhausted` is called, which must not return.
class CodeGeneratorMemory {
 public:
  explicit CodeGeneratorMemory(void (*when_exhausted)());
  ~CodeGeneratorMemory();
  /// Ends this thread's scope without its destructor, for a thread that leaves by a jump.
  static void abandon();
  CodeGeneratorMemory(const CodeGeneratorMemory&) = delete;
  CodeGeneratorMemory& operator=(const CodeGeneratorMemory&) = delete;
};

}  // namespace km
