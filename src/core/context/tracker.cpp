#include "core/context/tracker.h"
#include "base/assert.h"
#include "base/text.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace km {
namespace {

constexpr int kOwnFrames = 3;  // frames of the tracker itself, which are dropped

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

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

void take_stack(TrackedAllocation* allocation) {
  void* frames[KM_ALLOCATION_FRAMES + kOwnFrames];
  const int count = backtrace(frames, KM_ALLOCATION_FRAMES + kOwnFrames);
  for (int i = kOwnFrames; i < count; ++i) allocation->frames[i - kOwnFrames] = frames[i];
  allocation->frame_count = static_cast<uint32_t>(std::max(count - kOwnFrames, 0));
}

Error not_tracked(uint64_t id) {
  return make_error(KM_ERROR_NOT_FOUND,
                    "allocation %" PRIu64
                    " is not tracked: it is gone, or was made before km_context_set_tracking",
                    id);
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
  info.frame_count = frame_count;
  for (uint32_t i = 0; i < frame_count; ++i) {
    info.frames[i] = reinterpret_cast<uint64_t>(frames[i]);
  }
  std::snprintf(info.tag, sizeof info.tag, "%s", tag.c_str());
  return info;
}

std::string TrackedAllocation::describe() const {
  char text[256];
  const int64_t age_ms = (now_ns() - time_ns) / 1000000;
  std::snprintf(text, sizeof text, "%s at 0x%" PRIx64 " of %s, made %" PRId64 " ms ago%s%.63s%s",
                counted(size_bytes, "byte").c_str(), address, name_of(kind), age_ms,
                tag.empty() ? "" : ", tag '", tag.c_str(), tag.empty() ? "" : "'");
  return text;
}

std::string TrackedAllocation::stack() const {
  std::string lines;
  for (uint32_t i = 0; i < frame_count; ++i) {
    Dl_info found = {};
    char line[512];
    const bool known = dladdr(frames[i], &found) != 0 && found.dli_fname != nullptr;
    const auto base = reinterpret_cast<uint64_t>(found.dli_fbase);
    const auto address = reinterpret_cast<uint64_t>(frames[i]);
    if (known && found.dli_sname != nullptr) {
      std::snprintf(line, sizeof line, "%s in %.200s (+0x%" PRIx64 ")\n", found.dli_sname,
                    found.dli_fname, address - reinterpret_cast<uint64_t>(found.dli_saddr));
    } else {
      std::snprintf(line, sizeof line, "0x%" PRIx64 " in %.200s (+0x%" PRIx64 ")\n", address,
                    known ? found.dli_fname : "?", known ? address - base : 0);
    }
    lines += line;
  }
  return lines;
}

uint64_t AllocationTracker::add(km_allocation_kind kind, uint64_t address, uint64_t size_bytes) {
  TrackedAllocation made;
  made.kind = kind;
  made.address = address;
  made.size_bytes = size_bytes;
  made.time_ns = now_ns();
  if ((flags_.load(std::memory_order_relaxed) & KM_TRACKING_STACKS) != 0) take_stack(&made);
  const std::lock_guard lock(mutex_);
  made.id = last_id_ + 1;
  live_.emplace_hint(live_.end(), made.id, made);
  return ++last_id_;
}

void AllocationTracker::remove(uint64_t id) {
  const std::lock_guard lock(mutex_);
  KM_ASSERT(id != 0 && id <= last_id_, "the id was assigned");
  KM_ASSERT(live_.contains(id), "an allocation ends once");
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

Result<TrackedAllocation> AllocationTracker::find(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(id);
  if (found == live_.end()) return not_tracked(id);
  return found->second;
}

}  // namespace km
