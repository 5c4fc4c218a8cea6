// operator new and delete of a library that links the C++ runtime statically. They are hidden, so
// that they serve this library only. Programs must not link this file.
#include <new>

#include "base/memory/host_allocator.h"

namespace {

void* allocate(std::size_t size_bytes, std::size_t align_bytes) {
  if (void* memory = km::host_allocate(size_bytes, align_bytes)) return memory;
  throw std::bad_alloc();
}

constexpr std::size_t kAlign = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
std::size_t value_of(std::align_val_t align) { return static_cast<std::size_t>(align); }

}  // namespace

void* operator new(std::size_t size) { return allocate(size, kAlign); }
void* operator new[](std::size_t size) { return allocate(size, kAlign); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return km::host_allocate(size, kAlign);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return km::host_allocate(size, kAlign);
}
void* operator new(std::size_t size, std::align_val_t align) {
  return allocate(size, value_of(align));
}
void* operator new[](std::size_t size, std::align_val_t align) {
  return allocate(size, value_of(align));
}
void* operator new(std::size_t size, std::align_val_t align, const std::nothrow_t&) noexcept {
  return km::host_allocate(size, value_of(align));
}
void* operator new[](std::size_t size, std::align_val_t align, const std::nothrow_t&) noexcept {
  return km::host_allocate(size, value_of(align));
}

void operator delete(void* memory) noexcept { km::host_release(memory); }
void operator delete[](void* memory) noexcept { km::host_release(memory); }
void operator delete(void* memory, std::size_t) noexcept { km::host_release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { km::host_release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { km::host_release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { km::host_release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { km::host_release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { km::host_release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  km::host_release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  km::host_release(memory);
}
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  km::host_release(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  km::host_release(memory);
}
