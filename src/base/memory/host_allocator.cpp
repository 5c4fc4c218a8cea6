#include "base/memory/host_allocator.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "base/callback/contained_call.h"
#include "base/log.h"
#include "base/thread/cancellation.h"

namespace km {
namespace {

// Precedes every allocation.
struct alignas(16) Header {
  const HostAllocator* allocator;  // null: malloc
  uint32_t offset_bytes;           // offset from the start of the underlying allocation
  uint32_t reserved;
};
constexpr size_t kHeaderBytes = sizeof(Header);
static_assert(kHeaderBytes == 16);

constinit HostAllocatorCell g_own_cell{nullptr};
constinit std::atomic<HostAllocatorCell*> g_cell{&g_own_cell};
__thread uint32_t t_needed = 0;
__thread void (*t_when_exhausted)() = nullptr;

constexpr size_t kReserveBytes = 1 << 20;
constexpr long kPauseNs = 1'000'000;
alignas(16) char g_reserved[kReserveBytes];  // zero pages cost no memory until they are used

constinit MemoryReserve g_reserve(g_reserved, kReserveBytes);
constinit MemoryReserve g_code_reserve;

void return_to_reserve(void*, void* piece) { g_reserve.release(piece); }
constexpr HostAllocator kReserve{nullptr, return_to_reserve, nullptr};

void* take(const HostAllocator* allocator, size_t size_bytes) {
  if (allocator == nullptr) return std::malloc(size_bytes);
  const km_host_allocation_flags flags =
      t_needed != 0 ? KM_HOST_ALLOCATION_NEEDED : KM_HOST_ALLOCATION_DEFAULT;
  void* memory = nullptr;
  call_contained([&] { memory = allocator->allocate(allocator->user_data, size_bytes, flags); });
  return memory;
}

/// Allocates for a thread that cannot handle a failure: from the reserve, or after waiting until
/// the allocator has memory again.
void* take_needed(const HostAllocator** allocator, size_t size_bytes) {
  if (t_when_exhausted != nullptr) t_when_exhausted();
  for (bool waits = false;; sleep_uncancelled(kPauseNs)) {
    if (void* const piece = g_reserve.allocate(size_bytes)) {
      *allocator = &kReserve;
      return piece;
    }
    if (void* const memory = take(*allocator, size_bytes)) return memory;
    if (std::exchange(waits, true)) continue;
    log(LogLevel::kError, "memory", "a thread waits for %zu bytes: the host is out of memory",
        size_bytes);
  }
}

/// An allocator that was set. Each allocation refers to its allocator for life, so records are
/// never freed; the chain keeps them reachable, for hosts that check for leaks.
struct SetAllocator {
  HostAllocator allocator;
  SetAllocator* earlier;
};
constinit std::atomic<SetAllocator*> g_last_set{nullptr};

}  // namespace

HostAllocatorCell* host_allocator_cell() { return &g_own_cell; }

void use_host_allocator_cell(HostAllocatorCell* cell) {
  g_cell.store(cell, std::memory_order_release);
}

bool set_host_allocator(km_allocate_callback allocate, km_free_callback release, void* user_data) {
  const HostAllocator* made = nullptr;
  if (allocate != nullptr) {
    auto* record = static_cast<SetAllocator*>(std::malloc(sizeof(SetAllocator)));
    if (record == nullptr) return false;
    *record = {{allocate, release, user_data}, nullptr};
    record->earlier = g_last_set.exchange(record, std::memory_order_acq_rel);
    made = &record->allocator;
  }
  g_own_cell.store(made, std::memory_order_release);
  return true;
}

void* host_allocate(size_t size_bytes, size_t align_bytes) noexcept {
  // malloc aligns to 16 bytes; larger alignments need room to align within the allocation.
  const size_t more = kHeaderBytes + (align_bytes > kHeaderBytes ? align_bytes : 0);
  size_t total = 0;
  if (__builtin_add_overflow(size_bytes, more, &total)) return nullptr;
  const HostAllocatorCell* const cell = g_cell.load(std::memory_order_acquire);
  const HostAllocator* allocator = cell->load(std::memory_order_acquire);
  auto* begin = static_cast<char*>(take(allocator, total));
  if (begin == nullptr) [[unlikely]] {
    if (t_needed == 0) return nullptr;
    begin = static_cast<char*>(take_needed(&allocator, total));
  }
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
    call_contained([&] { header.allocator->release(header.allocator->user_data, begin); });
  }
}

HostMemoryNeeded::HostMemoryNeeded() { ++t_needed; }
HostMemoryNeeded::~HostMemoryNeeded() { --t_needed; }

HostMemoryOptional::HostMemoryOptional() : before_(std::exchange(t_needed, 0)) {}
HostMemoryOptional::~HostMemoryOptional() { t_needed = before_; }

MemoryReserve& code_reserve() { return g_code_reserve; }

bool may_use_code_reserve() { return t_when_exhausted != nullptr; }

CodeGeneratorMemory::CodeGeneratorMemory(void (*when_exhausted)()) {
  t_when_exhausted = when_exhausted;
  ++t_needed;
}
CodeGeneratorMemory::~CodeGeneratorMemory() { abandon(); }

void CodeGeneratorMemory::abandon() {
  --t_needed;
  t_when_exhausted = nullptr;
}

}  // namespace km
