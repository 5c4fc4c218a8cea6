#include "driver_malloc.h"

#include <cerrno>
#include <cstddef>

// The C library's own, by the names under which it exports them beside the usual ones.
extern "C" {
void* __libc_malloc(size_t size);                  // NOLINT
void* __libc_calloc(size_t count, size_t size);    // NOLINT
void* __libc_realloc(void* memory, size_t size);   // NOLINT
void* __libc_memalign(size_t align, size_t size);  // NOLINT
}

namespace km::fuzz {
namespace {

constinit thread_local uint64_t t_after = 0;

bool fails() {
  if (t_after == 0 || --t_after != 0) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

void fail_malloc(uint64_t after) { t_after = after; }

extern "C" {

void* malloc(size_t size) { return fails() ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails() ? nullptr : __libc_calloc(count, size); }
void* realloc(void* memory, size_t size) {
  return fails() ? nullptr : __libc_realloc(memory, size);
}
void* memalign(size_t align, size_t size) {
  return fails() ? nullptr : __libc_memalign(align, size);
}
void* aligned_alloc(size_t align, size_t size) {
  return fails() ? nullptr : __libc_memalign(align, size);
}
int posix_memalign(void** out, size_t align, size_t size) {
  if (fails()) return ENOMEM;
  void* const memory = __libc_memalign(align, size);
  if (memory == nullptr) return ENOMEM;
  *out = memory;
  return 0;
}
}

}  // namespace km::fuzz
