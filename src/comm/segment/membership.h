// A rank's place among the ranks of a communicator: who has joined, who lives, and exchanges of
// short data that the host waits for.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/segment/patience.h"
#include "comm/segment/segment.h"

namespace km::comm {

/// Waits for other ranks: sees the communicator's failure, ends of their processes, and the limit.
class Membership final : public Ranks {
 public:
  /// Joins as `rank`, and waits for all others.
  static Failure join(const UniqueId& id, uint32_t ranks, uint32_t rank, int32_t device,
                      uint64_t timeout_ns, std::unique_ptr<Membership>* out);
  ~Membership() override;

  uint32_t rank() const override { return rank_; }
  uint32_t ranks() const override { return segment_->ranks(); }
  int32_t device() const override { return segment_->slot(rank_).device; }
  Failure make_id(UniqueId* out) const override { return make_unique_id(out); }
  Segment& segment() const { return *segment_; }
  uint64_t timeout_ns() const { return timeout_ns_; }
  const Patience& patience() const { return patience_; }
  /// True if all ranks are in this process.
  bool is_in_one_process() const { return watched_.empty(); }

  Failure failure() const override;
  void fail(const Failure& failure) override;

  /// Counts a step of this rank in its slot and waits for that of all ranks, which ring the bell;
  /// `call` names what the rank does.
  Failure pass(Bell& bell, std::atomic<uint64_t> SharedSlot::* steps, const char* call);
  /// Waits until the word of each rank, which word_of(rank) gives, has come to `step`.
  template <class WordOf>
  Failure wait_for_step(Bell& bell, uint64_t step, const char* call, WordOf&& word_of);
  Failure exchange(const NoticeData& own, const char* call, std::vector<NoticeData>* out) override;
  Failure publish(uint64_t key, const NoticeData& data) override;
  Failure find(uint64_t key, uint32_t rank, const char* call, NoticeData* out) override;

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
      : segment_(std::move(segment)),
        rank_(rank),
        timeout_ns_(timeout_ns),
        patience_(segment_->ranks()) {}
  Failure claim(int32_t device);
  Failure wait_for_all();
  void watch(uint32_t rank);
  Failure lost(uint32_t rank);
  Failure missing_ranks(const std::vector<uint32_t>& absent, const char* call) const;
  /// A rank among those needed that has left or whose process has ended.
  template <class Needs>
  Failure lost_rank(Needs&& needs);

  const std::unique_ptr<Segment> segment_;
  const uint32_t rank_;
  const uint64_t timeout_ns_;
  const Patience patience_;
  std::mutex watch_mutex_;
  std::vector<Watched> watched_;  // the ranks of other processes
  std::mutex exchange_mutex_;
};

constexpr uint64_t kLookNs = 50'000'000;  // between two looks at other processes

template <class Needs>
Failure Membership::lost_rank(Needs&& needs) {
  for (uint32_t i = 0; i < ranks(); ++i) {
    if (i == rank_ || !needs(i)) continue;
    if (Failure seen = lost(i)) return seen;
  }
  return {};
}

template <class IsOver, class Needs, class Missing>
Failure Membership::wait(Bell& bell, IsOver&& is_over, Needs&& needs, Missing&& missing) {
  if (patience_.spend(is_over)) return {};
  for (const uint64_t begin = now_ns(); !is_over();) {
    bell.wait(kLookNs, [&] { return is_over() || segment_->header().failure.state.load() == 2; });
    Failure told = failure();
    Failure seen = told;
    if (!seen) seen = lost_rank(needs);
    if (!seen && now_ns() - begin > timeout_ns_) seen = missing();
    // Others may have done their part since the last look, before they failed or left.
    if (!seen || is_over()) continue;
    if (told) return told;
    fail(seen);
    // A rank that was killed while it wrote its failure leaves none.
    told = failure();
    return told ? told : seen;
  }
  return {};
}

template <class WordOf>
Failure Membership::wait_for_step(Bell& bell, uint64_t step, const char* call, WordOf&& word_of) {
  uint32_t come = 0;  // the ranks before this one have come
  const auto is_over = [&] {
    while (come < ranks() && word_of(come).load() >= step) ++come;
    return come == ranks();
  };
  const auto missing = [&] {
    std::vector<uint32_t> absent;
    for (uint32_t i = 0; i < ranks(); ++i) {
      if (word_of(i).load() < step) absent.push_back(i);
    }
    return missing_ranks(absent, call);
  };
  const auto needs = [&](uint32_t rank) { return word_of(rank).load() < step; };
  return wait(bell, is_over, needs, missing);
}

}  // namespace km::comm
