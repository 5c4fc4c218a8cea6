#include "backends/cpu/memory/heap.h"

#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <cinttypes>

#include "backends/cpu/config/topology.h"
#include "backends/cpu/memory/shared_pages.h"
#include "backends/cpu/threads/futex.h"
#include "base/assert.h"
#include "base/memory/host_allocator.h"

namespace km::cpu {
namespace {

constexpr uint64_t kSlabBytes = 8 << 20;
constexpr uint64_t kSampleNs = 500000000;
constexpr uint64_t kMaxKeptBytes = uint64_t{4} << 30;
constexpr uint64_t kDiscardBytes = 4 << 20;
constexpr size_t kMaxKeptRanges = 4096;                   // limits the number of mappings
constexpr uint64_t kMaxRetiredBytes = uint64_t{1} << 40;  // of 2^47 that a process has

/// Size classes of small blocks: multiples of 256 up to 1 KiB, then four steps between powers of
/// two.
uint64_t small_class(uint64_t size_bytes) {
  uint64_t size = std::max<uint64_t>(size_bytes, 1);
  if (size <= 1024) return round_up(size, Heap::kAlignBytes);
  uint64_t step = std::bit_floor(size - 1) / 4;
  return round_up(size, step);
}

Error out_of_memory(uint64_t asked, uint64_t free, uint64_t total) {
  return make_error(KM_ERROR_OUT_OF_DEVICE_MEMORY,
                    "out of device memory: %" PRIu64 " bytes (%s) asked for, %s of %s free", asked,
                    mib(asked).c_str(), mib(free).c_str(), mib(total).c_str());
}

bool has_address_limit() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

std::string mib(uint64_t bytes) {
  char text[40];
  snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

/// The memory that can still be allocated: the system's figure less memory that was allocated but
/// not touched and less a reserve for the program, so that an allocation fails here before the
/// system kills the process.
uint64_t Heap::room() {
  const SystemMemory system = system_memory();
  const uint64_t taken = allocated_bytes_ + kept_bytes_;
  const uint64_t untouched = taken - std::min(taken, resident_bytes());
  const uint64_t spoken_for = untouched + program_reserve_bytes(system.total_bytes);
  return system.free_bytes - std::min(system.free_bytes, spoken_for);
}

Status Heap::check_room(uint64_t size_bytes) {
  if (size_bytes <= room()) return {};
  trim_locked(0);
  uint64_t free = room();
  if (size_bytes <= free) return {};
  return out_of_memory(size_bytes, free, system_memory().total_bytes);
}

Heap& Heap::instance() {
  // The heap is never destroyed, because freed memory may still be in use at exit.
  static auto* const heap = new Heap;
  return *heap;
}

Result<Heap::Block> Heap::allocate(uint64_t size_bytes, bool zeroed) {
  std::lock_guard lock(mutex_);
  bool large = size_bytes >= kLargeBytes;
  Result<Block> block = large ? allocate_large(size_bytes, zeroed) : allocate_small(size_bytes);
  if (block) {
    KM_ASSERT(block->address % kAlignBytes == 0 && block->reserved_bytes >= size_bytes,
              "a block is not aligned, or smaller than was asked for");
    allocated_bytes_ += size_bytes;
    reserved_bytes_ += block->reserved_bytes;
  }
  return block;
}

void Heap::free(const Block& block) {
  const HostMemoryNeeded needed;  // the caller cannot handle a lack of memory
  std::lock_guard lock(mutex_);
  KM_ASSERT(allocated_bytes_ >= block.size_bytes && reserved_bytes_ >= block.reserved_bytes,
            "more memory is freed than was allocated");
  allocated_bytes_ -= block.size_bytes;
  reserved_bytes_ -= block.reserved_bytes;
  if (block.size_bytes >= kLargeBytes) {
    free_large(block);
  } else {
    free_small(block);
  }
}

const GuardedRange& Heap::range_of(const Block& block) {
  KM_ASSERT(block.size_bytes < kLargeBytes || large_.contains(block.address),
            "a block that was freed is looked up");
  if (block.size_bytes >= kLargeBytes) return large_.find(block.address)->second;
  return std::prev(slabs_.upper_bound(block.address))->second->range;
}

Result<kmb_shared_memory> Heap::share(const Block& block) {
  const std::lock_guard lock(mutex_);
  const GuardedRange& range = range_of(block);
  auto found = shared_.find(range.begin());
  if (found == shared_.end()) {
    KM_ASSIGN(File file, move_into_file(range));
    found = shared_.emplace(range.begin(), std::move(file)).first;
  }
  return kmb_shared_memory{found->second.get(), range.size_bytes(), block.address - range.begin()};
}

Result<Heap::Block> Heap::allocate_small(uint64_t size_bytes) {
  uint64_t block_bytes = small_class(size_bytes);
  std::vector<Slab*>& candidates = slabs_with_room_[block_bytes];
  if (candidates.empty()) {
    KM_TRY(check_room(kLargeBytes));
    auto slab = std::make_unique<Slab>();
    slab->range = take_range(kSlabBytes, kPageBytes);
    if (!slab->range) return out_of_memory(size_bytes, room(), system_memory().total_bytes);
    slab->block_bytes = block_bytes;
    candidates.reserve(1);
    Slab* made = slab.get();
    slabs_.emplace(slab->range.begin(), std::move(slab));
    candidates.push_back(made);
  }
  Slab& slab = *candidates.back();
  uint64_t capacity = slab.range.size_bytes() / block_bytes;
  KM_ASSERT(slab.block_bytes == block_bytes && (!slab.free.empty() || slab.carved < capacity),
            "a slab with room is full, or has blocks of another size");
  Block block = {0, size_bytes, block_bytes, slab.free.empty()};
  uint32_t index = slab.carved;
  if (slab.free.empty()) {
    slab.carved += 1;
  } else {
    index = slab.free.back();
    slab.free.pop_back();
  }
  // Blocks are packed against the upper guard, so that an access beyond the last one faults.
  block.address = slab.range.end() - (index + 1) * block_bytes;
  if (slab.free.empty() && slab.carved == capacity) candidates.pop_back();
  return block;
}

void Heap::free_small(const Block& block) {
  Slab& slab = *std::prev(slabs_.upper_bound(block.address))->second;
  uint64_t capacity = slab.range.size_bytes() / slab.block_bytes;
  bool was_full = slab.free.empty() && slab.carved == capacity;
  uint64_t index = (slab.range.end() - block.address) / slab.block_bytes - 1;
  KM_ASSERT(index < slab.carved && block.address >= slab.range.begin() &&
                block.address == slab.range.end() - (index + 1) * slab.block_bytes,
            "a block that its slab has not handed out is freed");
  KM_ASSERT(std::find(slab.free.begin(), slab.free.end(), index) == slab.free.end(),
            "a block is freed twice");
  slab.free.push_back(static_cast<uint32_t>(index));
  std::vector<Slab*>& candidates = slabs_with_room_[slab.block_bytes];
  if (was_full) candidates.push_back(&slab);
  // An empty slab is freed unless it is the last one of its size.
  if (slab.free.size() == slab.carved && candidates.size() > 1) {
    std::erase(candidates, &slab);
    const uint64_t address = slab.range.begin();
    forget_move(slab.range);
    shared_.erase(address);
    retire(std::move(slab.range));
    slabs_.erase(address);
  }
}

/// Gives the memory of a range back and keeps its addresses. Running kernels may hold stale
/// pointers into it, and the system would give the addresses to the next thread's stack. Addresses
/// are kept as long as there are plenty: not if the process has a limit on them.
void Heap::retire(GuardedRange range) {
  if (has_address_limit() || !range.close()) return;
  retired_bytes_ += range.size_bytes();
  retired_.emplace(range.size_bytes(), std::move(range));
  if (retired_bytes_ > kMaxRetiredBytes || retired_.size() > kMaxKeptRanges) release_addresses();
}

/// A range at retired addresses if some fit exactly, otherwise at new ones.
GuardedRange Heap::take_range(uint64_t size_bytes, uint64_t align_bytes) {
  const auto [first, last] = retired_.equal_range(size_bytes);
  const auto found = std::find_if(
      first, last, [&](const auto& entry) { return entry.second.begin() % align_bytes == 0; });
  if (found != last && found->second.allow(size_bytes)) {
    GuardedRange range = std::move(found->second);
    KM_ASSERT(retired_bytes_ >= size_bytes, "more addresses are retired than are counted");
    retired_bytes_ -= size_bytes;
    retired_.erase(found);
    return range;
  }
  GuardedRange range = GuardedRange::make(size_bytes, align_bytes);
  if (range || (kept_.empty() && retired_.empty())) return range;
  trim_locked(0);
  release_addresses();
  return GuardedRange::make(size_bytes, align_bytes);
}

void Heap::release_addresses() {
  retired_.clear();
  retired_bytes_ = 0;
}

/// Takes a kept range that fits and wastes at most an eighth.
bool Heap::take_kept(uint64_t range_bytes, GuardedRange* out_range) {
  auto found = kept_.lower_bound(range_bytes);
  if (found == kept_.end() || found->first > range_bytes + range_bytes / 8) return false;
  KM_ASSERT(kept_bytes_ >= found->first, "more memory is kept than is counted");
  kept_bytes_ -= found->first;
  *out_range = std::move(found->second);
  kept_.erase(found);
  return true;
}

Result<Heap::Block> Heap::allocate_large(uint64_t size_bytes, bool zeroed) {
  if (size_bytes > UINT64_MAX / 2) {
    return out_of_memory(size_bytes, room(), system_memory().total_bytes);
  }
  uint64_t range_bytes = round_up(size_bytes, kPageBytes);
  bool huge = size_bytes >= kHugePageBytes;
  GuardedRange range;
  Block block = {0, size_bytes, 0, false};
  if (take_kept(range_bytes, &range)) {
    block.fresh = zeroed && size_bytes >= kDiscardBytes;
    // The system zeroes discarded pages when they are touched, on several cores at once.
    if (block.fresh) range.discard();
  } else {
    KM_TRY(check_room(range_bytes));
    uint64_t align = huge ? kHugePageBytes : kPageBytes;
    range = take_range(range_bytes, align);
    if (!range) return out_of_memory(size_bytes, room(), system_memory().total_bytes);
    if (huge) range.use_huge_pages();
    block.fresh = true;
  }
  // The block lies as close to the upper guard as its alignment allows.
  block.address = range.end() - round_up(size_bytes, kAlignBytes);
  KM_ASSERT(block.address >= range.begin(), "a block begins before its range");
  block.reserved_bytes = range.size_bytes();
  large_.emplace(block.address, std::move(range));
  return block;
}

void Heap::free_large(const Block& block) {
  auto found = large_.find(block.address);
  KM_ASSERT(found != large_.end(), "a block that was not allocated is freed");
  GuardedRange range = std::move(found->second);
  large_.erase(found);
  // The range leaves the file, because other processes must not see the next allocation there.
  forget_move(range);
  if (shared_.erase(range.begin()) != 0 && !replace_file_by_pages(range)) {
    retire(std::move(range));
    return;
  }
  kept_bytes_ += range.size_bytes();
  kept_.emplace(range.size_bytes(), std::move(range));
  static const uint64_t limit = std::min(kMaxKeptBytes, system_memory().total_bytes / 8);
  if (kept_bytes_ > limit || kept_.size() > kMaxKeptRanges) trim_locked(limit / 2);
}

void Heap::trim_locked(uint64_t keep_bytes) {
  // The largest ranges are freed first: few system calls free much memory.
  while (kept_bytes_ > keep_bytes || (keep_bytes == 0 && !kept_.empty())) {
    KM_ASSERT(!kept_.empty(), "memory counts as kept, but no range is kept");
    auto largest = std::prev(kept_.end());
    kept_bytes_ -= largest->first;
    retire(std::move(largest->second));
    kept_.erase(largest);
  }
}

void Heap::trim() {
  std::lock_guard lock(mutex_);
  trim_locked(0);
}

uint64_t Heap::allocated_bytes() {
  std::lock_guard lock(mutex_);
  return allocated_bytes_;
}

uint64_t Heap::kept_bytes() {
  std::lock_guard lock(mutex_);
  return kept_bytes_;
}

uint64_t Heap::retired_bytes() {
  std::lock_guard lock(mutex_);
  return retired_bytes_;
}

void Heap::memory_info(uint64_t* out_free_bytes, uint64_t* out_total_bytes) {
  std::lock_guard lock(mutex_);
  uint64_t now = now_ns();
  uint64_t total = system_memory().total_bytes;
  // The system's figure changes constantly; between samples only this process's allocations are
  // counted.
  if (sampled_ns_ == 0 || now - sampled_ns_ > kSampleNs) {
    sampled_ns_ = now;
    sampled_room_ = room() + kept_bytes_ + reserved_bytes_;
  }
  uint64_t free = sampled_room_ - std::min(sampled_room_, reserved_bytes_);
  *out_free_bytes = std::min(free, total);
  *out_total_bytes = total;
}

}  // namespace km::cpu
