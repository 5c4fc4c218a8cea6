#include "base/host_allocator.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace km {
namespace {

// Lies before every allocation.
struct alignas(16) Header {
  const HostAllocator* allocator;  // null: malloc
  uint32_t offset_bytes;           // from the beginning of what the allocator gave
  uint32_t reserved;
};
constexpr size_t kHeaderBytes = sizeof(Header);
static_assert(kHeaderBytes == 16);

constinit HostAllocatorCell g_own_cell = nullptr;
constinit HostAllocatorCell* g_cell = &g_own_cell;
__thread uint32_t t_needed = 0;

void* take(const HostAllocator* allocator, size_t size_bytes) {
  if (allocator == nullptr) return std::malloc(size_bytes);
  const km_host_allocation_flags flags =
      t_needed != 0 ? KM_HOST_ALLOCATION_NEEDED : KM_HOST_ALLOCATION_DEFAULT;
  return allocator->allocate(allocator->user_data, size_bytes, flags);
}

}  // namespace

HostAllocatorCell* host_allocator_cell() { return &g_own_cell; }

void use_host_allocator_cell(HostAllocatorCell* cell) {
  __atomic_store_n(&g_cell, cell, __ATOMIC_RELEASE);
}

bool set_host_allocator(km_allocate_callback allocate, km_free_callback release, void* user_data) {
  const HostAllocator* made = nullptr;
  if (allocate != nullptr) {
    auto* record = static_cast<HostAllocator*>(std::malloc(sizeof(HostAllocator)));
    if (record == nullptr) return false;
    *record = {allocate, release, user_data};
    made = record;
  }
  __atomic_store_n(&g_own_cell, made, __ATOMIC_RELEASE);
  return true;
}

void* host_allocate(size_t size_bytes, size_t align_bytes) noexcept {
  // What malloc gives is aligned to 16; more than that is found within.
  const size_t more = kHeaderBytes + (align_bytes > kHeaderBytes ? align_bytes : 0);
  size_t total = 0;
  if (__builtin_add_overflow(size_bytes, more, &total)) return nullptr;
  HostAllocatorCell* cell = __atomic_load_n(&g_cell, __ATOMIC_ACQUIRE);
  const HostAllocator* allocator = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
  auto* begin = static_cast<char*>(take(allocator, total));
  if (begin == nullptr) return nullptr;
  const auto at = reinterpret_cast<uintptr_t>(begin) + kHeaderBytes;
  const size_t align = std::max(align_bytes, kHeaderBytes);
  char* result = begin + kHeaderBytes + ((align - at % align) & (align - 1));
  auto* header = reinterpret_cast<Header*>(result - kHeaderBytes);
  *header = {allocator, static_cast<uint32_t>(result - begin), 0};
  return result;
}

void host_release(void* pointer) noexcept {
  if (pointer == nullptr) return;
  char* result = static_cast<char*>(pointer);
  const Header header = *reinterpret_cast<const Header*>(result - kHeaderBytes);
  char* begin = result - header.offset_bytes;
  if (header.allocator == nullptr) {
    std::free(begin);
  } else {
    header.allocator->release(header.allocator->user_data, begin);
  }
}

HostMemoryNeeded::HostMemoryNeeded() { ++t_needed; }
HostMemoryNeeded::~HostMemoryNeeded() { --t_needed; }

}  // namespace km
