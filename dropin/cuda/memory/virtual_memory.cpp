#include "dropin/cuda/memory/virtual_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/assert.h"
#include "base/integers.h"
#include "core/object/callback.h"

namespace km::dropin {

using namespace cu;  // NOLINT

namespace {

/// Unmapped bytes on both sides of a range, so that an overrun faults instead of reaching other
/// memory.
constexpr uint64_t kGuardBytes = 64 << 10;

void* pointer_to(uint64_t address) { return reinterpret_cast<void*>(address); }

/// Reserves addresses; returns 0 if none are free.
uint64_t take_addresses(uint64_t size_bytes, uint64_t alignment, uint64_t hint) {
  const uint64_t whole = size_bytes + alignment + 2 * kGuardBytes;
  if (whole < size_bytes) return 0;
  void* const wanted = hint > kGuardBytes ? pointer_to(hint - kGuardBytes) : nullptr;
  void* const map =
      mmap(wanted, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return 0;
  const auto begin = reinterpret_cast<uint64_t>(map);
  const uint64_t aligned = round_up(begin + kGuardBytes, alignment);
  const uint64_t map_begin = aligned - kGuardBytes, map_end = aligned + size_bytes + kGuardBytes;
  if (map_begin != begin) munmap(map, map_begin - begin);
  if (map_end != begin + whole) munmap(pointer_to(map_end), begin + whole - map_end);
  return aligned;
}

void give_addresses_back(uint64_t begin, uint64_t size_bytes) {
  munmap(pointer_to(begin - kGuardBytes), size_bytes + 2 * kGuardBytes);
}

/// Removes all mappings but keeps the addresses reserved.
void clear_addresses(uint64_t begin, uint64_t size_bytes) {
  mmap(pointer_to(begin), size_bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace

MemoryHandle::~MemoryHandle() {
  if (charged_ != nullptr) charged_->unreserve(size_bytes());
}

CUmemAccess_flags VirtualMemory::Mapping::access_of(int device) const {
  const auto found = access.find(device);
  return found != access.end() ? found->second : CUmemAccess_flags{CU_MEM_ACCESS_FLAGS_PROT_NONE};
}

int VirtualMemory::Mapping::protection() const {
  int all = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  for (const auto& [device, flags] : access) all |= flags;
  if (all == CU_MEM_ACCESS_FLAGS_PROT_NONE) return PROT_NONE;
  return all == CU_MEM_ACCESS_FLAGS_PROT_READ ? PROT_READ : PROT_READ | PROT_WRITE;
}

bool VirtualMemory::Range::is_used_by(int device) const {
  return std::any_of(mappings.begin(), mappings.end(), [&](const auto& mapping) {
    return mapping.second.access_of(device) != CU_MEM_ACCESS_FLAGS_PROT_NONE;
  });
}

VirtualMemory& VirtualMemory::instance() {
  static VirtualMemory& all = *new VirtualMemory;  // never destroyed: calls may come during exit
  return all;
}

VirtualMemory::Ranges::iterator VirtualMemory::range_at(CUdeviceptr address) {
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return ranges_.end();
  --after;
  return address - after->first < after->second.size_bytes ? after : ranges_.end();
}

CUresult VirtualMemory::reserve(uint64_t size_bytes, uint64_t alignment, CUdeviceptr hint,
                                CUdeviceptr* out) {
  const uint64_t least = std::max(alignment, kMappingBytes);
  const uint64_t begin = take_addresses(size_bytes, least, hint);
  if (begin == 0) {
    return fail(CUDA_ERROR_OUT_OF_MEMORY, "there is no room for %llu bytes of addresses",
                static_cast<unsigned long long>(size_bytes));
  }
  const std::unique_lock lock(mutex_);
  KM_ASSERT(!ranges_.contains(begin), "the addresses are not reserved yet");
  ranges_[begin].size_bytes = size_bytes;
  has_ranges_.store(true, std::memory_order_release);
  *out = begin;
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::free(CUdeviceptr address, uint64_t size_bytes) {
  std::map<uint64_t, Ref<km::Memory>> last;
  {
    const std::unique_lock lock(mutex_);
    const auto range = ranges_.find(address);
    if (range == ranges_.end() || range->second.size_bytes != size_bytes) {
      return fail(CUDA_ERROR_INVALID_VALUE, "no reserved range of %llu bytes begins at 0x%llx",
                  static_cast<unsigned long long>(size_bytes), address);
    }
    if (!range->second.mappings.empty()) {
      return fail(CUDA_ERROR_INVALID_VALUE, "memory is still mapped in the range at 0x%llx",
                  address);
    }
    last.swap(range->second.known);
    ranges_.erase(range);
  }
  last.clear();  // before the addresses can be reused
  give_addresses_back(address, size_bytes);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::map(CUdeviceptr address, uint64_t size_bytes, MemoryHandle& memory) {
  const std::unique_lock lock(mutex_);
  const auto found = range_at(address);
  if (found == ranges_.end() || size_bytes > found->second.size_bytes - (address - found->first)) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the %llu bytes at 0x%llx lie in no reserved range",
                static_cast<unsigned long long>(size_bytes), address);
  }
  auto& mappings = found->second.mappings;
  auto next = mappings.lower_bound(address);
  const bool meets_next = next != mappings.end() && next->first - address < size_bytes;
  const bool meets_last = next != mappings.begin() &&
                          std::prev(next)->first + std::prev(next)->second.size_bytes > address;
  if (meets_next || meets_last) {
    return fail(CUDA_ERROR_INVALID_VALUE, "memory is mapped already at 0x%llx", address);
  }
  CU_TRY(memory.backing().map_at(address, size_bytes));
  KM_ASSERT(!mappings.contains(address), "mappings do not overlap");
  mappings[address] = {size_bytes, Ref<MemoryHandle>::share(memory), {}};
  return CUDA_SUCCESS;
}

/// Finds the mappings that cover exactly this part of a range, without gaps.
CUresult VirtualMemory::whole_mappings(Range& range, CUdeviceptr address, uint64_t size_bytes,
                                       Part* out) {
  const auto first = range.mappings.find(address);
  auto end = first;
  uint64_t at = address;
  while (end != range.mappings.end() && end->first == at && at - address < size_bytes) {
    at += end->second.size_bytes;
    ++end;
  }
  if (size_bytes == 0 || at - address != size_bytes) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the %llu bytes at 0x%llx are not just whole mappings",
                static_cast<unsigned long long>(size_bytes), address);
  }
  KM_ASSERT(first != end, "a part has mappings");
  *out = {first, end};
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::unmap(CUdeviceptr address, uint64_t size_bytes) {
  CU_ASSIGN(const MayBlock may_block, require_may_block());
  std::vector<Ref<km::Context>> users;
  {
    const std::shared_lock lock(mutex_);
    const auto range = range_at(address);
    if (range == ranges_.end()) {
      return fail(CUDA_ERROR_INVALID_VALUE, "0x%llx lies in no reserved range", address);
    }
    Part part;
    CU_TRY(whole_mappings(range->second, address, size_bytes, &part));
    for (const auto& [id, memory] : range->second.known) {
      users.push_back(Ref<km::Context>::share(memory->context()));
    }
  }
  // The lock is not held: the work that this waits for may need calls that take it.
  for (const Ref<km::Context>& user : users) static_cast<void>(wait_for_work(may_block, *user));
  const std::unique_lock lock(mutex_);
  const auto range = range_at(address);
  if (range == ranges_.end()) return CUDA_ERROR_INVALID_VALUE;  // freed meanwhile
  Part part;
  CU_TRY(whole_mappings(range->second, address, size_bytes, &part));
  clear_addresses(address, size_bytes);
  range->second.mappings.erase(part.first, part.second);
  return CUDA_SUCCESS;
}

/// Makes the range known to a context. It is not an error if the context knows it already.
CUresult VirtualMemory::introduce(uint64_t begin, Range& range, Context& context) {
  Ref<km::Memory>& known = range.known[context.id()];
  if (known) return CUDA_SUCCESS;
  auto memory = km::Memory::from_host(*context.core(), pointer_to(begin), range.size_bytes, 1);
  if (!memory) {
    range.known.erase(context.id());
    return result_of(memory.error());
  }
  KM_ASSERT((*memory)->address() == begin, "a context knows a range by its addresses");
  known = std::move(*memory);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::introduce_to_all(uint64_t begin, Range& range) {
  for (const Ref<Context>& context : live_contexts()) {
    if (!range.is_used_by(context->device().ordinal)) continue;
    CU_TRY(introduce(begin, range, *context));
  }
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::set_access(CUdeviceptr address, uint64_t size_bytes,
                                   const CUmemAccessDesc* access, size_t count) {
  const std::unique_lock lock(mutex_);
  const auto range = range_at(address);
  if (range == ranges_.end()) {
    return fail(CUDA_ERROR_INVALID_VALUE, "0x%llx lies in no reserved range", address);
  }
  Part part;
  CU_TRY(whole_mappings(range->second, address, size_bytes, &part));
  for (auto mapping = part.first; mapping != part.second; ++mapping) {
    Mapping& each = mapping->second;
    for (size_t i = 0; i < count; ++i) each.access[access[i].location.id] = access[i].flags;
    if (mprotect(pointer_to(mapping->first), each.size_bytes, each.protection()) != 0) {
      return fail(CUDA_ERROR_OUT_OF_MEMORY, "the system has no room for more mappings");
    }
  }
  return introduce_to_all(range->first, range->second);
}

CUresult VirtualMemory::retain(CUdeviceptr address, CUmemGenericAllocationHandle* out) {
  const std::unique_lock lock(mutex_);
  const auto range = range_at(address);
  if (range != ranges_.end()) {
    for (const auto& [begin, mapping] : range->second.mappings) {
      if (address - begin >= mapping.size_bytes) continue;
      MemoryHandle& memory = *mapping.memory;
      // A handle whose last holder is gone becomes valid again.
      if (memory.holders_++ == 0) publish(Ref<MemoryHandle>::share(memory));
      *out = handle_of(memory);
      return CUDA_SUCCESS;
    }
  }
  return fail(CUDA_ERROR_INVALID_VALUE, "no memory is mapped at 0x%llx", address);
}

CUresult VirtualMemory::release(CUmemGenericAllocationHandle handle) {
  const std::unique_lock lock(mutex_);
  const Pin<MemoryHandle> memory(handle);
  if (!memory) return fail(CUDA_ERROR_INVALID_VALUE, "the memory is not a live handle");
  KM_ASSERT(memory->holders_ != 0, "a live handle has a holder");
  if (--memory->holders_ == 0) retire<MemoryHandle>(handle);
  return CUDA_SUCCESS;
}

bool VirtualMemory::find(CUdeviceptr address, int device, MappedPlace* out) {
  if (!has_ranges_.load(std::memory_order_acquire)) return false;
  const std::shared_lock lock(mutex_);
  const auto range = range_at(address);
  if (range == ranges_.end()) return false;
  *out = {};
  out->range_begin = range->first;
  out->range_bytes = range->second.size_bytes;
  auto after = range->second.mappings.upper_bound(address);
  if (after == range->second.mappings.begin()) return true;
  --after;
  if (address - after->first >= after->second.size_bytes) return true;
  out->begin = after->first;
  out->size_bytes = after->second.size_bytes;
  out->properties = after->second.memory->properties();
  out->access = after->second.access_of(device);
  return true;
}

bool VirtualMemory::is_accessible(CUdeviceptr address, uint64_t size_bytes, int device) {
  const std::shared_lock lock(mutex_);
  const auto range = range_at(address);
  if (range == ranges_.end()) return false;
  auto mapping = range->second.mappings.upper_bound(address);
  if (mapping == range->second.mappings.begin()) return false;
  --mapping;
  uint64_t at = address;
  const uint64_t end = address + size_bytes;
  while (at < end) {
    if (mapping == range->second.mappings.end() || at < mapping->first) return false;
    const uint64_t mapping_end = mapping->first + mapping->second.size_bytes;
    if (at >= mapping_end) return false;
    if (mapping->second.access_of(device) == CU_MEM_ACCESS_FLAGS_PROT_NONE) return false;
    at = mapping_end;
    ++mapping;
  }
  return true;
}

CUresult VirtualMemory::enter(Context& context) {
  if (!has_ranges_.load(std::memory_order_acquire)) return CUDA_SUCCESS;
  const std::unique_lock lock(mutex_);
  for (auto& [begin, range] : ranges_) {
    if (range.is_used_by(context.device().ordinal)) CU_TRY(introduce(begin, range, context));
  }
  return CUDA_SUCCESS;
}

void VirtualMemory::leave(const Context& context) {
  std::vector<Ref<km::Memory>> last;
  const std::unique_lock lock(mutex_);
  for (auto& [begin, range] : ranges_) {
    const auto known = range.known.find(context.id());
    if (known == range.known.end()) continue;
    last.push_back(std::move(known->second));
    range.known.erase(known);
  }
}

}  // namespace km::dropin
