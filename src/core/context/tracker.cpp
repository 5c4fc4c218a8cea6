#include "core/context/tracker.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/assert.h"
#include "base/memory/place_text.h"
#include "base/text.h"
#include "base/thread/clock.h"

namespace km {
namespace {

constexpr uint32_t kOwnFrames = 2;  // of the tracker, which are dropped
constexpr size_t kMostFreed = 1024;

const char* name_of(km_allocation_kind kind) {
  switch (kind) {
    case KM_ALLOCATION_DEVICE:
      return "device memory";
    case KM_ALLOCATION_POOL:
      return "a pool's memory";
    case KM_ALLOCATION_HOST:
      return "page-locked host memory";
    case KM_ALLOCATION_FOREIGN:
      return "the caller's memory";
    case KM_ALLOCATION_FILE:
      return "a mapped file";
    default:
      return "memory";
  }
}

/// The origin of an allocation, which follows its place: "tag 'weights', made by cuMemAlloc_v2 from
/// main in a.out+0x1234".
std::string origin_of(const TrackedAllocation& allocation) {
  std::string text;
  if (!allocation.tag.empty()) text += ", tag '" + allocation.tag + "'";
  const std::string call = allocation.stack.call(), callers = allocation.stack.callers();
  if (!call.empty()) text += ", made by " + call;
  if (!callers.empty()) text += " from " + callers;
  return text;
}

Error not_tracked(uint64_t id) {
  return make_error(KM_ERROR_NOT_FOUND,
                    "allocation %" PRIu64
                    " is not tracked: it is gone, or was made before km_context_set_tracking",
                    id);
}

/// Keeps what is known of freed memory. Objects that end cannot report a lack of memory: then the
/// checker knows less of a use after free.
void keep_freed(TrackedAllocation&& allocation, std::deque<TrackedAllocation>* freed) {
  try {
    freed->push_back(std::move(allocation));
  } catch (const std::bad_alloc&) {
    return;
  }
  if (freed->size() > kMostFreed) freed->pop_front();
}

}  // namespace

km_allocation_info TrackedAllocation::info() const {
  km_allocation_info info{};
  info.struct_size = sizeof info;
  info.kind = kind;
  info.id = id;
  info.address = address;
  info.size_bytes = size_bytes;
  info.time_ns = time_ns;
  info.frame_count = stack.count;
  for (uint32_t i = 0; i < stack.count; ++i) {
    info.frames[i] = reinterpret_cast<uint64_t>(stack.frames[i]);
  }
  std::snprintf(info.tag, sizeof info.tag, "%s", tag.c_str());
  return info;
}

std::string TrackedAllocation::describe() const {
  char text[256];
  const int64_t age_ms = (wall_clock_ns() - time_ns) / 1000000;
  std::snprintf(text, sizeof text, "%s at 0x%" PRIx64 " of %s, made %" PRId64 " ms ago%s%.63s%s",
                counted(size_bytes, "byte").c_str(), address, name_of(kind), age_ms,
                tag.empty() ? "" : ", tag '", tag.c_str(), tag.empty() ? "" : "'");
  return text;
}

const char* TrackedAllocation::memory_text() const { return name_of(kind); }

uint64_t AllocationTracker::add(km_allocation_kind kind, uint64_t address, uint64_t size_bytes) {
  TrackedAllocation made;
  made.kind = kind;
  made.address = address;
  made.size_bytes = size_bytes;
  made.time_ns = wall_clock_ns();
  const bool has_stack = (flags_.load(std::memory_order_relaxed) & KM_TRACKING_STACKS) != 0;
  if (has_stack || for_checker_.load(std::memory_order_relaxed)) {
    made.stack = HostStack::take(kOwnFrames);
  }
  const std::lock_guard lock(mutex_);
  made.id = last_id_ + 1;
  live_.emplace_hint(live_.end(), made.id, made);
  return ++last_id_;
}

void AllocationTracker::remove(uint64_t id) {
  const std::lock_guard lock(mutex_);
  KM_ASSERT(id != 0 && id <= last_id_, "the id was assigned");
  KM_ASSERT(live_.contains(id), "an allocation ends once");
  if (for_checker_.load(std::memory_order_relaxed)) keep_freed(std::move(live_.at(id)), &freed_);
  live_.erase(id);
}

Status AllocationTracker::set_tag(uint64_t id, const char* tag) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(id);
  if (found == live_.end()) return not_tracked(id);
  found->second.tag = tag;
  return {};
}

std::vector<TrackedAllocation> AllocationTracker::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<TrackedAllocation> copies;
  copies.reserve(live_.size());
  for (const auto& [id, allocation] : live_) copies.push_back(allocation);
  return copies;
}

std::string AllocationTracker::locate(uint64_t address) const {
  constexpr uint64_t kNearBytes = uint64_t{1} << 30;
  const std::lock_guard lock(mutex_);
  const TrackedAllocation* nearest = nullptr;
  uint64_t least = kNearBytes;
  for (const auto& [id, each] : live_) {
    const uint64_t distance = distance_from(address, each.address, each.size_bytes);
    if (distance >= least) continue;
    nearest = &each;
    least = distance;
  }
  if (nearest == nullptr) return "near no allocation of this context";
  return place_text(address, nearest->address, nearest->size_bytes) + origin_of(*nearest);
}

std::string AllocationTracker::freed_at(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  for (auto each = freed_.rbegin(); each != freed_.rend(); ++each) {
    if (each->address != address) continue;
    return "the " + std::to_string(each->size_bytes) + "-byte allocation at " + hex(address) +
           origin_of(*each);
  }
  return {};
}

Result<TrackedAllocation> AllocationTracker::find(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(id);
  if (found == live_.end()) return not_tracked(id);
  return found->second;
}

}  // namespace km
