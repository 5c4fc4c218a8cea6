// The malloc family of a library that is linked with --wrap=malloc and similar options: on threads
// that may use the code generator's reserve, allocations that malloc refuses come from there. LLVM
// calls malloc directly, besides operator new, and ends the process if it returns null.
#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/memory/host_allocator.h"

using km::code_reserve;

namespace {

void* from_reserve(size_t size_bytes) {
  return km::may_use_code_reserve() ? code_reserve().allocate(size_bytes) : nullptr;
}

}  // namespace

extern "C" {

void* __real_malloc(size_t size);                 // NOLINT(bugprone-reserved-identifier)
void* __real_calloc(size_t count, size_t size);   // NOLINT(bugprone-reserved-identifier)
void* __real_realloc(void* memory, size_t size);  // NOLINT(bugprone-reserved-identifier)
void __real_free(void* memory);                   // NOLINT(bugprone-reserved-identifier)

void* __wrap_malloc(size_t size) {  // NOLINT(bugprone-reserved-identifier)
  void* const memory = __real_malloc(size);
  return memory != nullptr ? memory : from_reserve(size);
}

void* __wrap_calloc(size_t count, size_t size) {  // NOLINT(bugprone-reserved-identifier)
  if (void* const memory = __real_calloc(count, size)) return memory;
  size_t size_bytes = 0;
  if (__builtin_mul_overflow(count, size, &size_bytes)) return nullptr;
  void* const memory = from_reserve(size_bytes);
  return memory != nullptr ? std::memset(memory, 0, size_bytes) : nullptr;
}

void __wrap_free(void* memory) {  // NOLINT(bugprone-reserved-identifier)
  if (code_reserve().owns(memory)) [[unlikely]] {
    code_reserve().release(memory);
  } else {
    __real_free(memory);
  }
}

void* __wrap_realloc(void* memory, size_t size) {  // NOLINT(bugprone-reserved-identifier)
  const bool is_reserved = code_reserve().owns(memory);
  if (!is_reserved) {
    void* const moved = __real_realloc(memory, size);
    if (moved != nullptr || size == 0) return moved;
  }
  void* const moved = is_reserved ? __wrap_malloc(size) : from_reserve(size);
  if (moved == nullptr) return nullptr;
  if (memory == nullptr) return moved;
  const size_t old_bytes =
      is_reserved ? km::MemoryReserve::size_of(memory) : malloc_usable_size(memory);
  std::memcpy(moved, memory, std::min(size, old_bytes));
  __wrap_free(memory);
  return moved;
}

}  // extern "C"
