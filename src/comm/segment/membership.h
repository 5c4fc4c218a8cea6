// A rank's place among the ranks of a communicator: who has joined, who lives, and exchanges of
// short data that the host waits for.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/segment/segment.h"

namespace km::comm {

using NoticeData = std::array<uint8_t, kNoticeBytes>;

/// Waits for other ranks: sees the communicator's failure, ends of their processes, and the limit.
class Membership {
 public:
  /// Joins as `rank`, and waits for all others.
  static Failure join(const UniqueId& id, uint32_t ranks, uint32_t rank, int32_t device,
                      uint64_t timeout_ns, std::unique_ptr<Membership>* out);
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  uint32_t rank() const { return rank_; }
  uint32_t ranks() const { return segment_->ranks(); }
  Segment& segment() const { return *segment_; }
  uint64_t timeout_ns() const { return timeout_ns_; }
  /// True if all ranks are in this process.
  bool is_in_one_process() const { return watched_.empty(); }
  int32_t device_of(uint32_t rank) const { return segment_->slot(rank).device; }

  /// The first failure of any rank.
  Failure failure() const;
  /// Makes a failure the communicator's, unless it has one, and wakes all that wait.
  void fail(const Failure& failure);

  /// Arrives at the barrier and waits for all ranks; `call` names what the rank does. `steps` is
  /// the rank's count in its slot.
  Failure pass(Barrier& barrier, std::atomic<uint64_t> SharedSlot::* steps, const char* call);
  /// Gives each rank the data of all.
  Failure exchange(const NoticeData& own, const char* call, std::vector<NoticeData>* out);
  /// Tells all ranks something, under a key.
  void publish(uint64_t key, const NoticeData& data);
  /// Waits until `rank`, or any if it is kAnyRank, has published something under the key.
  Failure find(uint64_t key, uint32_t rank, const char* call, NoticeData* out);
  static constexpr uint32_t kAnyRank = UINT32_MAX;

  /// Waits until `is_over()` is true, which a ring of the bell may change. `needs(rank)` says if
  /// the end of that rank ends the wait; `missing()` describes, after the time limit, whom it is
  /// for.
  template <class IsOver, class Needs, class Missing>
  Failure wait(Bell& bell, IsOver&& is_over, Needs&& needs, Missing&& missing);

 private:
  struct Watched {
    uint32_t rank;
    int process, file;  // a pidfd, or -1
  };
  Membership(std::unique_ptr<Segment> segment, uint32_t rank, uint64_t timeout_ns)
      : segment_(std::move(segment)), rank_(rank), timeout_ns_(timeout_ns) {}
  Failure claim(int32_t device);
  Failure wait_for_all();
  void watch(uint32_t rank);
  Failure lost(uint32_t rank);
  /// A rank among those needed that has left or whose process has ended.
  template <class Needs>
  Failure lost_rank(Needs&& needs);

  const std::unique_ptr<Segment> segment_;
  const uint32_t rank_;
  const uint64_t timeout_ns_;
  std::mutex watch_mutex_;
  std::vector<Watched> watched_;  // the ranks of other processes
  std::mutex exchange_mutex_;
};

constexpr uint64_t kLookNs = 50'000'000;  // between two looks at other processes

template <class Needs>
Failure Membership::lost_rank(Needs&& needs) {
  for (uint32_t i = 0; i < ranks(); ++i) {
    if (i == rank_ || !needs(i)) continue;
    Failure seen = lost(i);
    // The rank may have done its part just before it ended.
    if (seen && needs(i)) return seen;
  }
  return {};
}

template <class IsOver, class Needs, class Missing>
Failure Membership::wait(Bell& bell, IsOver&& is_over, Needs&& needs, Missing&& missing) {
  uint64_t begin = 0;
  while (!is_over()) {
    if (Failure failure = this->failure()) return failure;
    bell.wait(kLookNs, [&] { return is_over() || segment_->header().failure_state.load() == 2; });
    if (is_over()) break;
    const uint64_t now = now_ns();
    if (begin == 0) begin = now;
    Failure seen = lost_rank(needs);
    if (!seen && now - begin > timeout_ns_) seen = missing();
    if (!seen) continue;
    fail(seen);
    return failure();
  }
  return {};
}

}  // namespace km::comm
