#include "backends/cpu/stream/thread_pool.h"

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>

#include "backends/cpu/command/work.h"
#include "backends/cpu/execution/executor.h"
#include "backends/cpu/fault/fault.h"
#include "backends/cpu/stream/stream.h"
#include "backends/cpu/threads/futex.h"
#include "base/arch/processor.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/memory/host_allocator.h"
#include "base/thread/start_thread.h"

namespace km::cpu {
namespace {

constexpr uint64_t kWorkerStackBytes = 1 << 20;

// The bits of a job's state and of its name.
constexpr uint64_t kOpen = uint64_t{1} << 63;
constexpr uint64_t kGenerationMask = 0x00ffffff00000000;  // 24 bits
constexpr uint64_t kGenerationStep = uint64_t{1} << 32;
constexpr uint64_t kParticipants = 0xffffffff;
constexpr uint64_t kMostJobs = 64;  // a word has a bit for each
static_assert((kOpen & kGenerationMask) == 0 && (kParticipants & (kOpen | kGenerationMask)) == 0);
static_assert((kGenerationMask & kGenerationStep) == kGenerationStep);

void count_down(std::atomic<uint32_t>& count) {
  [[maybe_unused]] const uint32_t before = count.fetch_sub(1);
  KM_ASSERT(before != 0, "a count of the pool falls below 0");
}

uint64_t name_of(uint32_t slot, uint64_t state) { return (state & kGenerationMask) | (slot + 1); }
uint32_t slot_of(uint64_t job) {
  KM_ASSERT((job & kParticipants) != 0 && (job & kParticipants) <= kMostJobs,
            "a job is named by a word that holds no slot");
  return static_cast<uint32_t>(job & kParticipants) - 1;
}

/// The pool that this thread is a worker of; null for other threads.
thread_local const ThreadPool* worker_of = nullptr;

}  // namespace

/// Counts workers that have started and those that could not.
struct ThreadPool::Arrivals {
  std::mutex mutex;
  std::condition_variable changed;
  uint32_t ready = 0, failed = 0;

  void add(bool is_ready) {
    const std::lock_guard lock(mutex);
    ++(is_ready ? ready : failed);
    changed.notify_one();
  }
  /// Waits for all `count` threads, and returns the number of those that started.
  uint32_t wait_for(uint32_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ready + failed == count; });
    KM_ASSERT(ready <= count, "more workers are ready than were started");
    return ready;
  }
};

namespace {

int list_of(int32_t priority) { return priority < 0 ? 0 : priority == 0 ? 1 : 2; }

}  // namespace

ThreadPool::ThreadPool(const ThreadPoolOptions& options)
    : options_(options), idle_(options.threads) {
  for (Job& job : jobs_) job.parts = std::make_unique<BlockRange::SharedParts>(options.threads);
}

bool ThreadPool::start_worker(uint32_t worker, const std::shared_ptr<Arrivals>& arrivals) {
  const std::string name = "km-cpu-" + std::to_string(options_.first_name + worker);
  const int cpu = options_.cpus.empty() ? -1 : options_.cpus[worker % options_.cpus.size()];
  return start_thread(name.c_str(), kWorkerStackBytes, cpu, [this, worker, arrivals] {
    Executor* const executor = thread_can_fault() ? Executor::acquire() : nullptr;
    arrivals->add(executor != nullptr);
    if (executor != nullptr) run_worker(worker, executor);
  });
}

Result<ThreadPool*> ThreadPool::start(const ThreadPoolOptions& options) {
  const auto arrivals = std::make_shared<Arrivals>();
  ThreadPool* pool = std::unique_ptr<ThreadPool>(new ThreadPool(options))
                         .release();  // lives as long as its threads
  uint32_t started = 0;
  try {
    while (started < options.threads && pool->start_worker(started, arrivals)) ++started;
  } catch (const std::bad_alloc&) {
    // The pool continues with the threads that it has.
  }
  const uint32_t ready = arrivals->wait_for(started);
  if (ready == 0) {
    std::unique_ptr<ThreadPool> unused(pool);
    return make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                      "cannot start a worker thread: raise the limit on processes (ulimit -u) or "
                      "on memory");
  }
  if (ready < options.threads) {
    log(LogLevel::kWarn, "cpu", "only %u of %u worker threads could be started", ready,
        options.threads);
    pool->options_.threads = ready;
  }
  return pool;
}

void ThreadPool::run_worker(uint32_t worker, Executor* executor) {
  worker_of = this;
  executor->prefer_part(worker);
  census_.change({.between = 1, .awake = 1});
  for (;;) {
    Item item;
    if (take(&item, false)) {
      if (census_.spinners() == 0) wake_for_more();
    } else if (!wait_for_work(worker, &item)) {
      continue;
    }
    run(item, executor);
  }
}

/// The name of the job of highest priority that can use more threads; 0 if there is none.
uint64_t ThreadPool::job_with_room() const {
  uint64_t best = 0;
  int best_list = kPriorities;
  for (uint64_t open = open_jobs_.load(); open != 0; open &= open - 1) {
    auto slot = static_cast<uint32_t>(std::countr_zero(open));
    uint64_t state = jobs_[slot].state.load(std::memory_order_relaxed);
    const uint32_t most = jobs_[slot].most.load(std::memory_order_relaxed);
    bool room = (state & kOpen) != 0 && (state & kParticipants) < most;
    int list = jobs_[slot].list.load(std::memory_order_relaxed);
    if (!room || list >= best_list) continue;
    best = name_of(slot, state);
    best_list = list;
  }
  return best;
}

bool ThreadPool::has_ready_before(int list) const {
  for (int i = 0; i < list; ++i) {
    if (ready_[static_cast<size_t>(i)].count.load(std::memory_order_relaxed) != 0) return true;
  }
  return false;
}

bool ThreadPool::take(Item* out_item, bool gives_grace) {
  KM_ASSERT(out_item->stream == nullptr && out_item->job == 0, "a thread that has work takes more");
  uint64_t job = job_with_room();
  if (job != 0) {
    // A stream goes before jobs of lower priority; jobs go before streams of equal priority.
    int list = jobs_[slot_of(job)].list.load(std::memory_order_relaxed);
    if (has_ready_before(list)) out_item->stream = take_ready(gives_grace, list);
    if (out_item->stream != nullptr) return true;
    if (enter(job)) {
      out_item->job = job;
      return true;
    }
  }
  out_item->stream = take_ready(gives_grace, kPriorities);
  return out_item->stream != nullptr;
}

void ThreadPool::run(const Item& item, Executor* executor) {
  KM_ASSERT((item.stream != nullptr) != (item.job != 0), "work is neither a stream nor a job");
  if (item.job != 0) {
    take_part(item.job, executor, UINT64_MAX);
  } else {
    item.stream->drive(executor, UINT64_MAX);
  }
}

/// Makes a spinning thread sleep if more threads than processors are awake, because it would keep
/// another one from working.
bool ThreadPool::retire() { return census_.retire_above(options_.threads); }

/// Returns false if the thread no longer counts as awake.
bool ThreadPool::spin_for_work(uint32_t worker, Item* out_item) {
  uint64_t now = now_ticks(), end = now + kSpinTicks;
  bool found = false, retired = false;
  census_.change({.spinners = 1, .between = -1});
  for (; !found && now < end; now = now_ticks()) {
    arch::spin_hint();
    if (!has_work()) {
      retired = retire();
      if (retired) break;
      continue;
    }
    found = take(out_item, true);
    // A stream that became ready recently is left to the thread that waits for it, and its cache
    // lines are not touched, unless its owner needs help.
    const uint64_t next = now + ticks_of_ns(Stream::kLeastGraceNs);
    while (!found && now_ticks() < next && open_jobs_.load(std::memory_order_relaxed) == 0)
      arch::spin_hint();
  }
  if (!found) idle_.park(worker);
  census_.change({.spinners = -1, .between = found ? 1 : 0, .awake = found || retired ? 0 : -1});
  // Work that arrived while this thread counted as a spinner has woken no other thread.
  if (found && census_.spinners() == 0) wake_for_more();
  return found;
}

/// Wakes a worker for a stream that no thread has taken, because running work may wait for it, or
/// for a job if a processor is free. A worker that is already waking up does this later itself.
void ThreadPool::wake_for_more() {
  if (idle_.coming() != 0 || !idle_.any()) return;
  const bool room = census_.awake() < options_.threads && job_with_room() != 0;
  if (room || has_unowned_stream()) wake_up_to(1);
}

bool ThreadPool::has_unowned_stream() {
  if (ready_count_.load() == 0) return false;
  std::lock_guard lock(ready_lock_);
  for (const ReadyList& list : ready_) {
    for (const Stream* stream = list.first; stream != nullptr; stream = stream->next_ready_) {
      if (stream->is_ready()) return true;
    }
  }
  return false;
}

bool ThreadPool::wait_for_work(uint32_t worker, Item* out_item) {
  if (!options_.may_spin) {
    idle_.park(worker);
    census_.change({.between = -1, .awake = -1});
  } else if (spin_for_work(worker, out_item)) {
    return true;
  }
  idle_.sleep(worker, has_work());
  census_.change({.between = 1, .awake = 1});
  return false;
}

/// The number of workers that look for work or are about to.
uint32_t ThreadPool::looking() const { return census_.looking() + idle_.coming(); }

/// Wakes workers until `count` look for work.
void ThreadPool::wake_up_to(uint32_t count) {
  const uint32_t coming = looking();
  if (coming < count) idle_.wake(count - coming);
}

/// Calls threads for a job, so that `count` look for work. There are never more awake than
/// processors, because the job also completes without them.
void ThreadPool::call_helpers(Job& job, uint32_t count) {
  const uint32_t coming = looking();
  const uint32_t up = census_.awake() + idle_.coming();
  if (coming >= count || up >= options_.threads) return;
  job.asleep_wanted.store(std::min(count - coming, options_.threads - up));
  wake_helpers(job);
}

/// Wakes two of the workers that the job still wants. Each of them does the same, since a call that
/// wakes takes longer than many a block: one thread that wakes 63 is late with its own work by
/// 100 us.
void ThreadPool::wake_helpers(Job& job) {
  constexpr uint32_t kBranches = 2;
  uint32_t wanted = job.asleep_wanted.load(std::memory_order_relaxed), now = 0;
  do {
    if (wanted == 0) return;
    now = std::min(wanted, kBranches);
  } while (!job.asleep_wanted.compare_exchange_weak(wanted, wanted - now));
  idle_.wake(now);
}

void ThreadPool::add_ready(Stream* stream) {
  KM_ASSERT(stream->pool_ == this, "a stream is listed in another pool than its own");
  if (!stream->listed_.exchange(true)) {
    std::lock_guard lock(ready_lock_);
    ReadyList& list = ready_[static_cast<size_t>(list_of(stream->priority()))];
    KM_ASSERT((list.first == nullptr) == (list.last == nullptr) &&
                  (list.first == nullptr) == (list.count.load() == 0),
              "a list of ready streams has an end without a beginning");
    stream->next_ready_ = nullptr;
    (list.last != nullptr ? list.last->next_ready_ : list.first) = stream;
    list.last = stream;
    list.count.fetch_add(1, std::memory_order_relaxed);
    ready_count_.fetch_add(1);
  }
  wake_up_to(1);
}

/// Takes a stream of the first `lists` priorities, which the caller then owns. Streams that a
/// waiting thread has taken are removed from the list on the way.
Stream* ThreadPool::take_ready(bool gives_grace, int lists) {
  KM_ASSERT(lists >= 0 && lists <= kPriorities, "streams of an unknown priority are taken");
  if (ready_count_.load() == 0) return nullptr;
  const uint64_t now = gives_grace ? now_ticks() : 0;
  std::lock_guard lock(ready_lock_);
  for (ReadyList& list : std::span(ready_).first(static_cast<size_t>(lists))) {
    while (list.first != nullptr) {
      Stream* stream = list.first;
      KM_ASSERT(list.count.load() != 0 && ready_count_.load() >= list.count.load(),
                "a list of ready streams has more than it counts");
      if (gives_grace && now - stream->ready_ticks() < stream->grace_ticks()) break;
      list.first = stream->next_ready_;
      if (list.first == nullptr) list.last = nullptr;
      list.count.fetch_sub(1, std::memory_order_relaxed);
      ready_count_.fetch_sub(1);
      // The flag is cleared before the state is read, because add_ready() relies on this order.
      stream->listed_.store(false);
      if (stream->try_own()) return stream;
    }
  }
  return nullptr;
}

bool ThreadPool::others_wait(const Stream* stream) const {
  if (ready_count_.load(std::memory_order_relaxed) == 0) return false;
  if (census_.spinners() != 0 || idle_.any()) return false;
  if (has_ready_before(list_of(stream->priority()))) return true;
  return now_ticks() - stream->ready_ticks() > kSliceTicks;
}

Stream* ThreadPool::take_closed_stream() {
  std::lock_guard lock(closed_lock_);
  if (closed_.empty()) return nullptr;
  Stream* stream = closed_.back();
  closed_.pop_back();
  return stream;
}

void ThreadPool::keep_closed_stream(Stream* stream) {
  const HostMemoryNeeded needed;  // the caller cannot handle a lack of memory
  std::lock_guard lock(closed_lock_);
  KM_ASSERT(stream->pool_ == this && stream->is_complete(stream->submitted()),
            "a stream that has work, or belongs to another pool, is kept for reuse");
  closed_.push_back(stream);
}

bool ThreadPool::wants_to_share(const Command& command) const {
  return options_.threads > 1 && !options_.in_order && is_worth_sharing(command);
}

uint64_t ThreadPool::publish(Stream* stream, Command* command, uint64_t first_piece) {
  static_assert(kMaxJobs == kMostJobs);
  KM_ASSERT(first_piece < pieces_of(*command), "a command is shared that has nothing left to do");
  uint64_t free = free_jobs_.load(std::memory_order_relaxed);
  do {
    if (free == 0) return 0;
  } while (!free_jobs_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire));
  auto slot = static_cast<uint32_t>(std::countr_zero(free));
  Job& job = jobs_[slot];
  KM_ASSERT((job.state.load(std::memory_order_relaxed) & (kOpen | kParticipants)) == 0,
            "a free job is open or has participants");
  KM_ASSERT((open_jobs_.load() >> slot & 1) == 0, "a free job is listed as open");
  const Sharing sharing = prepare_shared(*command, first_piece, options_.threads, job.parts.get());
  job.most.store(sharing.most, std::memory_order_relaxed);
  job.asleep_wanted.store(0, std::memory_order_relaxed);
  job.stream = stream;
  job.command = command;
  job.list.store(list_of(stream->priority()), std::memory_order_relaxed);
  uint64_t state = (job.state.load(std::memory_order_relaxed) & kGenerationMask) | kOpen | 1;
  job.state.store(state, std::memory_order_release);
  command->run.job = name_of(slot, state);
  open_jobs_.fetch_or(uint64_t{1} << slot);
  call_helpers(job, sharing.threads - 1);
  return name_of(slot, state);
}

bool ThreadPool::enter(uint64_t job) {
  Job& entry = jobs_[slot_of(job)];
  uint64_t state = entry.state.load(std::memory_order_acquire);
  do {
    bool same = (state & kGenerationMask) == (job & kGenerationMask);
    const uint32_t most = entry.most.load(std::memory_order_relaxed);
    if ((state & kOpen) == 0 || !same || (state & kParticipants) >= most) return false;
  } while (!entry.state.compare_exchange_weak(state, state + 1, std::memory_order_acquire));
  return true;
}

bool ThreadPool::leave(uint64_t job) {
  uint32_t slot = slot_of(job);
  Job& entry = jobs_[slot];
  uint64_t bit = uint64_t{1} << slot;
  if ((open_jobs_.load(std::memory_order_relaxed) & bit) != 0) open_jobs_.fetch_and(~bit);
  entry.state.fetch_and(~kOpen);
  uint64_t before = entry.state.fetch_sub(1, std::memory_order_acq_rel);
  KM_ASSERT((before & kParticipants) != 0, "a thread leaves a job without participants");
  KM_ASSERT((before & kGenerationMask) == (job & kGenerationMask),
            "a thread leaves a job whose slot is used for another one");
  if ((before & kParticipants) != 1) return false;
  uint64_t generation = ((before & kGenerationMask) + kGenerationStep) & kGenerationMask;
  entry.state.store(generation, std::memory_order_relaxed);
  KM_ASSERT((free_jobs_.load() & bit) == 0, "a job is released twice");
  free_jobs_.fetch_or(bit, std::memory_order_release);
  return true;
}

/// A worker between two tasks counts as looking for work. If it starts a command without having
/// looked, another thread must be woken.
void ThreadPool::work(Command& command, Executor& executor, Context& context) {
  const bool is_worker = worker_of == this;
  if (is_worker) {
    census_.change({.between = -1});
    if (census_.spinners() == 0 && has_work()) wake_for_more();
  }
  work_on(command, executor, context);
  if (is_worker) census_.change({.between = 1});
}

void ThreadPool::take_part(uint64_t job, Executor* executor, uint64_t until) {
  Job& entry = jobs_[slot_of(job)];
  KM_ASSERT((entry.state.load() & kGenerationMask) == (job & kGenerationMask) &&
                (entry.state.load() & kParticipants) != 0,
            "a thread takes part in a job that it has not entered");
  Stream* stream = entry.stream;
  KM_ASSERT(stream != nullptr && stream->pool_ == this, "a job belongs to another pool's stream");
  entry.command->helpers.fetch_add(1, std::memory_order_relaxed);
  wake_helpers(entry);
  work(*entry.command, *executor, *stream->context());
  if (leave(job)) stream->resume_here(executor, until);
}

void ThreadPool::relieve() {
  if (looking() != 0 || !has_unowned_stream()) return;
  if (idle_.any()) return wake_up_to(1);
  if (spares_.fetch_add(1) < kMaxSpares &&
      start_thread("km-cpu-spare", kWorkerStackBytes, -1, [this] { run_spare(); })) {
    return;
  }
  count_down(spares_);
}

/// The job's name may be old: its launch ended meanwhile, and nothing is left to do.
void ThreadPool::widen(uint64_t job) {
  Job& entry = jobs_[slot_of(job)];
  const uint64_t state = entry.state.load(std::memory_order_acquire);
  if ((state & kOpen) == 0 || (state & kGenerationMask) != (job & kGenerationMask)) return;
  entry.most.store(options_.threads, std::memory_order_relaxed);
  call_helpers(entry, options_.threads - 1);
}

void ThreadPool::run_spare() {
  Executor* const executor = thread_can_fault() ? Executor::acquire() : nullptr;
  if (executor != nullptr) {
    while (Stream* const stream = take_ready(false, kPriorities))
      stream->drive(executor, UINT64_MAX);
    executor->release();
  }
  count_down(spares_);
}

bool ThreadPool::help(uint64_t job, Executor* executor, uint64_t until) {
  if (!enter(job)) return false;
  take_part(job, executor, until);
  return true;
}

}  // namespace km::cpu
