#include "comm/segment/membership.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace km::comm {
namespace {

/// "rank 2", "ranks 0, 2 and 5".
std::string list_of(const std::vector<uint32_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i != 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text;
}

}  // namespace

Failure Membership::join(const UniqueId& id, uint32_t ranks, uint32_t rank, int32_t device,
                         uint64_t timeout_ns, std::unique_ptr<Membership>* out) {
  std::unique_ptr<Segment> segment;
  std::unique_ptr<Membership> made;
  Failure failure = Segment::attach(id, ranks, rank, &segment);
  if (!failure) {
    made.reset(new Membership(std::move(segment), rank, timeout_ns));
    failure = made->claim(device);
  }
  if (!failure) failure = made->wait_for_all();
  forget_id(id);  // of a communicator that is there, or has failed for all
  if (failure) return failure;
  *out = std::move(made);
  return {};
}

Membership::~Membership() {
  segment_->slot(rank_).has_left.store(1);
  segment_->header().failure.joins.ring();
  segment_->header().board.ring();
  for (const Watched& each : watched_) {
    if (each.file >= 0) close(each.file);
  }
}

Failure Membership::claim(int32_t device) {
  SharedSlot& own = segment_->slot(rank_);
  int32_t expected = 0;
  own.device = device;
  if (!own.process.compare_exchange_strong(expected, getpid())) {
    Failure twice =
        make_failure(FailureKind::kMismatch, "rank %u is there twice: in the processes %d and %d",
                     rank_, expected, getpid());
    fail(twice);
    return twice;
  }
  segment_->header().joined.fetch_add(1);
  segment_->header().failure.joins.ring();
  return {};
}

Failure Membership::wait_for_all() {
  SharedHeader& header = segment_->header();
  std::vector<bool> is_watched(ranks(), false);
  const auto watch_new = [&] {
    for (uint32_t i = 0; i < ranks(); ++i) {
      const int process = segment_->slot(i).process.load();
      if (is_watched[i] || process == 0 || process == getpid()) continue;
      is_watched[i] = true;
      watch(i);
    }
  };
  const auto missing = [&] {
    std::vector<uint32_t> absent;
    for (uint32_t i = 0; i < ranks(); ++i) {
      if (segment_->slot(i).process.load() == 0) absent.push_back(i);
    }
    return make_failure(FailureKind::kTimeout,
                        "rank %u has waited %g s for %s, which did not join the communicator",
                        rank_, seconds(timeout_ns_), list_of(absent).c_str());
  };
  const auto is_over = [&] {
    // Ranks count themselves after they have given their processes: once all are counted, none is
    // missed by the look that follows.
    const bool are_all_there = header.joined.load() == ranks();
    watch_new();
    return are_all_there;
  };
  const auto needs = [](uint32_t) { return true; };
  return wait(header.failure.joins, is_over, needs, missing);
}

void Membership::watch(uint32_t rank) {
  const int process = segment_->slot(rank).process.load();
  const std::lock_guard lock(watch_mutex_);
  watched_.push_back({rank, process, static_cast<int>(syscall(SYS_pidfd_open, process, 0))});
}

Failure Membership::lost(uint32_t rank) {
  if (segment_->slot(rank).has_left.load() != 0) {
    return make_failure(FailureKind::kLostRank,
                        "rank %u has left the communicator, and rank %u waits for it", rank, rank_);
  }
  const std::lock_guard lock(watch_mutex_);
  for (const Watched& each : watched_) {
    if (each.rank != rank) continue;
    pollfd question = {each.file, POLLIN, 0};
    const bool has_ended = each.file >= 0 ? poll(&question, 1, 0) == 1 : kill(each.process, 0) != 0;
    if (!has_ended) return {};
    return make_failure(FailureKind::kLostRank, "rank %u is gone: its process %d has ended", rank,
                        each.process);
  }
  return {};
}

Failure Membership::failure() const {
  const SharedFailure& failure = segment_->header().failure;
  if (failure.state.load(std::memory_order_acquire) != 2) return {};
  return {failure.kind, failure.text};
}

void Membership::fail(const Failure& failure) { segment_->fail(failure); }

Failure Membership::missing_ranks(const std::vector<uint32_t>& absent, const char* call) const {
  return make_failure(FailureKind::kTimeout,
                      "rank %u has waited %g s in its %s for %s, which did not call it", rank_,
                      seconds(timeout_ns_), call, list_of(absent).c_str());
}

Failure Membership::pass(Bell& bell, std::atomic<uint64_t> SharedSlot::* steps, const char* call) {
  std::atomic<uint64_t>& own = segment_->slot(rank_).*steps;
  const uint64_t step = own.load(std::memory_order_relaxed) + 1;
  own.store(step);
  bell.ring();
  return wait_for_step(bell, step, call, [&](uint32_t rank) -> const std::atomic<uint64_t>& {
    return segment_->slot(rank).*steps;
  });
}

Failure Membership::exchange(const NoticeData& own, const char* call,
                             std::vector<NoticeData>* out) {
  const std::lock_guard lock(exchange_mutex_);
  SharedSlot& slot = segment_->slot(rank_);
  // A rank writes the other half next, so that slower ranks can still read this one.
  const uint64_t half = slot.board_steps.load() % 2;
  std::memcpy(slot.board[half], own.data(), own.size());
  if (Failure failure = pass(segment_->header().board, &SharedSlot::board_steps, call)) {
    return failure;
  }
  out->resize(ranks());
  for (uint32_t i = 0; i < ranks(); ++i) {
    std::memcpy((*out)[i].data(), segment_->slot(i).board[half], kNoticeBytes);
  }
  return {};
}

Failure Membership::publish(uint64_t key, const NoticeData& data) {
  Notice& notice = segment_->slot(rank_).notice;
  notice.key.store(0);
  std::memcpy(notice.data, data.data(), data.size());
  notice.key.store(key);
  segment_->header().board.ring();
  return {};
}

Failure Membership::find(uint64_t key, uint32_t rank, const char* call, NoticeData* out) {
  const auto is_there = [&] {
    for (uint32_t i = 0; i < ranks(); ++i) {
      const Notice& notice = segment_->slot(i).notice;
      if ((rank != kAnyRank && i != rank) || notice.key.load() != key) continue;
      std::memcpy(out->data(), notice.data, kNoticeBytes);
      return true;
    }
    return false;
  };
  const auto missing = [&] {
    return make_failure(FailureKind::kTimeout, "rank %u has waited %g s in its %s for other ranks",
                        rank_, seconds(timeout_ns_), call);
  };
  const auto needs = [&](uint32_t other) { return rank == kAnyRank || other == rank; };
  return wait(segment_->header().board, is_there, needs, missing);
}

}  // namespace km::comm
