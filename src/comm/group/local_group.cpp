#include "comm/group/local_group.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <utility>

#include "base/assert.h"
#include "base/thread/start_thread.h"
#include "comm/engine/workers.h"
#include "comm/operation/exchange.h"
#include "comm/segment/bell.h"

namespace km::comm {
namespace {

using Jobs = std::vector<std::shared_ptr<Job>>;

constexpr uint64_t kCopyBytes = 256 << 10;
constexpr uint64_t kMomentBytes = 256 << 10;  // written before another thread would wake up

/// A collective operation that all ranks have called.
class CollectiveJob final : public Job {
 public:
  explicit CollectiveJob(LocalGroup::Call call)
      : Job(Exchange(call.operations).parts()), call_(std::move(call)) {}
  void run(uint64_t part) override { Exchange(call_.operations).run(part); }
  void finish() override {
    for (const SharedBatch& each : call_.batches) each->finish_one();
  }

 private:
  const LocalGroup::Call call_;
};

/// A message whose sender and receiver have both come.
class MessageJob final : public Job {
 public:
  MessageJob(LocalGroup::Half send, LocalGroup::Half receive)
      : Job((send.operation.call.block_bytes() + kCopyBytes - 1) / kCopyBytes),
        send_(std::move(send)),
        receive_(std::move(receive)) {}
  void run(uint64_t part) override {
    const uint64_t first = part * kCopyBytes;
    std::memmove(static_cast<uint8_t*>(receive_.operation.receive) + first,
                 static_cast<const uint8_t*>(send_.operation.send) + first,
                 std::min(kCopyBytes, send_.operation.call.block_bytes() - first));
  }
  void finish() override {
    send_.batch->finish_one();
    receive_.batch->finish_one();
  }

 private:
  const LocalGroup::Half send_, receive_;
};

}  // namespace

LocalGroup::LocalGroup(uint32_t ranks, uint64_t timeout_ns)
    : ranks_(ranks), timeout_ns_(timeout_ns), next_calls_(ranks), has_left_(ranks) {}

std::shared_ptr<LocalGroup> LocalGroup::of(const UniqueId& id, uint32_t ranks,
                                           uint64_t timeout_ns) {
  static std::mutex mutex;
  static auto* const groups = new std::map<uint64_t, std::weak_ptr<LocalGroup>>;
  const std::lock_guard lock(mutex);
  std::erase_if(*groups, [](const auto& each) { return each.second.expired(); });
  std::weak_ptr<LocalGroup>& place = (*groups)[id.nonce[0]];
  std::shared_ptr<LocalGroup> group = place.lock();
  if (group == nullptr) place = group = std::make_shared<LocalGroup>(ranks, timeout_ns);
  return group;
}

Failure LocalGroup::post(uint32_t rank, const SharedBatch& batch) {
  Jobs jobs;
  Failure failure;
  {
    const std::lock_guard lock(mutex_);
    for (const Operation& each : batch->operations()) {
      if (is_stopped_) {
        batch->finish_one();
      } else if (Failure found = add(rank, each, batch, &jobs)) {
        is_stopped_ = true;  // what waits is ended by stop()
        failure = std::move(found);
      }
    }
  }
  for (std::shared_ptr<Job>& each : jobs) run_job(std::move(each));
  return failure;
}

Failure LocalGroup::add(uint32_t rank, const Operation& operation, const SharedBatch& batch,
                        Jobs* jobs) {
  return is_between_two(operation.call.kind) ? add_half(rank, operation, batch, jobs)
                                             : add_to_call(rank, operation, batch, jobs);
}

Failure LocalGroup::add_to_call(uint32_t rank, const Operation& operation, const SharedBatch& batch,
                                Jobs* jobs) {
  const uint64_t number = next_calls_[rank]++ - first_call_;
  KM_ASSERT(number <= calls_.size(), "a rank calls an operation before the one in front of it");
  if (number == calls_.size()) {
    Call& made = calls_.emplace_back();
    made.operations.resize(ranks_);
    made.batches.resize(ranks_);
    made.begin_ns = now_ns();
  }
  Call& call = calls_[number];
  call.operations[rank] = operation;
  call.batches[rank] = batch;
  if (++call.arrived != ranks_) return find_left(call);
  KM_ASSERT(number == 0, "the ranks have called an operation, but not the one in front of it");
  if (Failure failure = compare(call)) return failure;
  jobs->push_back(std::make_shared<CollectiveJob>(std::move(call)));
  calls_.pop_front();
  ++first_call_;
  return {};
}

Failure LocalGroup::add_half(uint32_t rank, const Operation& operation, const SharedBatch& batch,
                             Jobs* jobs) {
  const auto peer = static_cast<uint32_t>(operation.call.root);
  const auto other = std::find_if(halves_.begin(), halves_.end(), [&](const Half& each) {
    return each.rank == peer && each.operation.call.root == static_cast<int32_t>(rank) &&
           each.operation.call.kind != operation.call.kind;
  });
  Half own = {rank, operation, batch, now_ns()};
  if (other == halves_.end()) {
    halves_.push_back(std::move(own));
    if (!has_left_[peer]) return {};
    return make_failure(FailureKind::kLostRank, "rank %u called %s, which has left", rank,
                        describe(operation.call).c_str());
  }
  if (other->operation.call.block_bytes() != operation.call.block_bytes()) {
    Failure failure = mismatch(rank, operation.call, other->rank, other->operation.call);
    halves_.push_back(std::move(own));
    return failure;
  }
  Half found = std::move(*other);
  halves_.erase(other);
  const bool sends = operation.call.kind == Kind::kSend;
  jobs->push_back(sends ? std::make_shared<MessageJob>(std::move(own), std::move(found))
                        : std::make_shared<MessageJob>(std::move(found), std::move(own)));
  return {};
}

Failure LocalGroup::compare(const Call& call) const {
  return compare_calls(
      ranks_, [&](uint32_t rank) -> const Signature& { return call.operations[rank].call; });
}

Failure LocalGroup::find_left(const Call& call) const {
  for (uint32_t i = 0; i < ranks_; ++i) {
    if (!has_left_[i] || call.batches[i] != nullptr) continue;
    return make_failure(FailureKind::kLostRank,
                        "rank %u has left the communicator, and others wait for it", i);
  }
  return {};
}

std::string LocalGroup::absent_ranks(const Call& call) const {
  std::string text;
  for (uint32_t i = 0; i < ranks_; ++i) {
    if (call.batches[i] != nullptr) continue;
    text += (text.empty() ? "rank " : ", ") + std::to_string(i);
  }
  return text;
}

void LocalGroup::stop() {
  std::deque<Call> calls;
  std::deque<Half> halves;
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    calls.swap(calls_);
    halves.swap(halves_);
  }
  for (const Call& call : calls) {
    for (const SharedBatch& each : call.batches) {
      if (each != nullptr) each->finish_one();
    }
  }
  for (const Half& each : halves) each.batch->finish_one();
}

Failure LocalGroup::overdue() {
  const std::lock_guard lock(mutex_);
  const uint64_t now = now_ns();
  const auto is_late = [&](uint64_t begin) { return now > begin && now - begin > timeout_ns_; };
  for (const Call& call : calls_) {
    if (!is_late(call.begin_ns)) continue;
    const auto there = std::find_if(call.batches.begin(), call.batches.end(),
                                    [](const SharedBatch& each) { return each != nullptr; });
    const auto rank = static_cast<uint32_t>(there - call.batches.begin());
    return make_failure(FailureKind::kTimeout,
                        "rank %u called %s %g s ago, but %s did not call anything", rank,
                        describe(call.operations[rank].call).c_str(), seconds(now - call.begin_ns),
                        absent_ranks(call).c_str());
  }
  for (const Half& each : halves_) {
    if (!is_late(each.begin_ns)) continue;
    return make_failure(FailureKind::kTimeout,
                        "rank %u called %s %g s ago, but that rank has no call for it", each.rank,
                        describe(each.operation.call).c_str(), seconds(now - each.begin_ns));
  }
  return {};
}

Failure LocalGroup::leave(uint32_t rank) {
  const std::lock_guard lock(mutex_);
  has_left_[rank] = true;
  for (const Call& call : calls_) {
    if (Failure failure = find_left(call)) return failure;
  }
  for (const Half& each : halves_) {
    if (each.operation.call.root != static_cast<int32_t>(rank)) continue;
    return make_failure(FailureKind::kLostRank,
                        "rank %u has left the communicator, and rank %u waits for it", rank,
                        each.rank);
  }
  return {};
}

namespace {

/// Looks for operations beyond their time limit, in all groups of the process.
class Watch {
 public:
  static Watch& instance() {
    static auto* const made = new Watch;
    return *made;
  }
  using Fail = std::function<void(const Failure&)>;

  void add(const void* key, std::shared_ptr<LocalGroup> group, Fail fail) {
    const std::lock_guard lock(mutex_);
    groups_[key] = {std::move(group), std::move(fail)};
    if (!is_started_)
      is_started_ = start_thread("km-comm-watch", kThreadStackBytes, -1, [this] { look(); });
    changed_.notify_one();
  }
  void remove(const void* key) {
    const std::lock_guard lock(mutex_);
    groups_.erase(key);
  }

 private:
  struct Entry {
    std::shared_ptr<LocalGroup> group;
    Fail fail;
  };
  void look() {
    constexpr auto kPause = std::chrono::milliseconds(100);
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !groups_.empty(); });
      std::vector<Entry> entries;
      for (const auto& [key, entry] : groups_) entries.push_back(entry);
      lock.unlock();
      for (const Entry& each : entries) {
        if (const Failure failure = each.group->overdue()) each.fail(failure);
      }
      entries.clear();
      lock.lock();
      changed_.wait_for(lock, kPause, [] { return false; });
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<const void*, Entry> groups_;
  bool is_started_ = false;
};

class LocalEngine final : public Engine {
 public:
  LocalEngine(std::shared_ptr<LocalGroup> group, uint32_t rank, Watch::Fail fail)
      : group_(std::move(group)), rank_(rank), fail_(std::move(fail)) {
    Watch::instance().add(this, group_, fail_);
  }
  ~LocalEngine() override {
    Watch::instance().remove(this);
    if (const Failure failure = group_->leave(rank_)) fail_(failure);
  }
  void post(const SharedBatch& batch, Poster) override {
    if (const Failure failure = group_->post(rank_, batch)) fail_(failure);
  }
  bool begins_at_once(std::span<const Operation> operations) const override {
    uint64_t bytes = 0;
    for (const Operation& each : operations) bytes += written_bytes(each.call, group_->ranks());
    return bytes <= kMomentBytes;
  }
  void stop() override { group_->stop(); }

 private:
  const std::shared_ptr<LocalGroup> group_;
  const uint32_t rank_;
  const Watch::Fail fail_;
};

}  // namespace

std::unique_ptr<Engine> make_local_engine(std::shared_ptr<LocalGroup> group, uint32_t rank,
                                          std::function<void(const Failure&)> fail) {
  return std::make_unique<LocalEngine>(std::move(group), rank, std::move(fail));
}

}  // namespace km::comm
