#include "backends/cpu/stream/marker.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "backends/cpu/stream/stream.h"
#include "backends/cpu/threads/futex.h"
#include "base/assert.h"

namespace km::cpu {

bool Marker::done() const {
  KM_ASSERT(in_graph_ || stream_ != nullptr, "a marker outside of graphs marks no stream");
  return in_graph_ ? reached_.load(std::memory_order_acquire) : stream_->is_complete(ticket_);
}

void Marker::reach(bool is_timed) {
  if (is_timed) time_ns_ = now_ns();
  reached_.store(true, std::memory_order_release);
}

void Marker::announce() {
  std::vector<Stream*> parked;
  {
    std::lock_guard lock(lock_);
    parked = std::exchange(parked_, {});
  }
  for (Stream* stream : parked) stream->resume();
}

void Marker::reach_and_announce() {
  std::vector<Stream*> parked;
  {
    std::lock_guard lock(lock_);  // park() then sees both changes or none
    reach();
    parked = std::exchange(parked_, {});
  }
  for (Stream* stream : parked) stream->resume();
}

bool Marker::park(Stream* stream) {
  std::lock_guard lock(lock_);
  if (done()) return false;
  KM_ASSERT(std::find(parked_.begin(), parked_.end(), stream) == parked_.end(),
            "a stream is parked twice at a marker");
  parked_.push_back(stream);
  return true;
}

bool Marker::unpark(Stream* stream) {
  std::lock_guard lock(lock_);
  auto found = std::find(parked_.begin(), parked_.end(), stream);
  if (found == parked_.end()) return false;
  parked_.erase(found);
  return true;
}

}  // namespace km::cpu
