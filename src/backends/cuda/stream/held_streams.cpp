#include "backends/cuda/stream/held_streams.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/assert.h"

namespace km::cuda {

uint32_t thread_number() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

HeldStreams& HeldStreams::instance() {
  static auto* const made = new HeldStreams;
  return *made;
}

void HeldStreams::hold(const Stream* stream, const char* call) {
  const std::lock_guard lock(mutex_);
  holders_.push_back({stream, std::this_thread::get_id(), thread_number(), call});
}

void HeldStreams::release(const Stream* stream) {
  const std::lock_guard lock(mutex_);
  const auto own = std::find_if(holders_.begin(), holders_.end(), [&](const Holder& each) {
    return each.stream == stream && each.thread == std::this_thread::get_id();
  });
  KM_ASSERT(own != holders_.end(), "a thread releases what it holds");
  holders_.erase(own);
}

bool HeldStreams::is_held_here(const Stream* stream) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(holders_.begin(), holders_.end(), [&](const Holder& each) {
    return each.stream == stream && each.thread == std::this_thread::get_id();
  });
}

HeldStreams::Holder HeldStreams::holder_of(const Stream* stream) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(holders_.begin(), holders_.end(),
                                  [&](const Holder& each) { return each.stream == stream; });
  KM_ASSERT(found != holders_.end(), "a thread waits for a stream that is held");
  return *found;
}

std::optional<HeldStreams::Holder> HeldStreams::own_hold() const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(holders_.rbegin(), holders_.rend(), [](const Holder& each) {
    return each.thread == std::this_thread::get_id();
  });
  return found == holders_.rend() ? std::nullopt : std::optional(*found);
}

/// A holder of the stream that waits, maybe by others, for the thread `waiting`. A chain has no
/// more steps than there are waits.
const HeldStreams::Holder* HeldStreams::blocking_holder(const Stream* stream,
                                                        std::thread::id waiting,
                                                        size_t steps) const {
  for (const Holder& each : holders_) {
    if (each.stream != stream) continue;
    if (each.thread == waiting) return &each;
    const auto wait = std::find_if(waits_.begin(), waits_.end(),
                                   [&](const Wait& other) { return other.thread == each.thread; });
    if (wait == waits_.end() || steps == 0) continue;
    if (blocking_holder(wait->stream, waiting, steps - 1) != nullptr) return &each;
  }
  return nullptr;
}

std::optional<HeldStreams::Holder> HeldStreams::begin_wait(const Stream* stream) {
  const std::lock_guard lock(mutex_);
  const std::thread::id own = std::this_thread::get_id();
  if (const Holder* const found = blocking_holder(stream, own, waits_.size())) return *found;
  waits_.push_back({own, stream});
  return std::nullopt;
}

void HeldStreams::end_wait() {
  const std::lock_guard lock(mutex_);
  std::erase_if(waits_, [](const Wait& each) { return each.thread == std::this_thread::get_id(); });
}

}  // namespace km::cuda
