#include "backends/cpu/execution/fiber_block.h"

#include <bit>
#include <new>
#include <utility>

#include "backends/cpu/threads/sanitizers.h"
#include "backends/cpu/threads/stack_switch.h"
#include "base/assert.h"

namespace km::cpu {
namespace {

constexpr uint64_t kMinimumStackBytes = 128 << 10;
// For the runtime functions that generated code calls.
constexpr uint64_t kStackMarginBytes = 64 << 10;
// Offsets the tops of the stacks, which would otherwise share cache sets.
constexpr uint64_t kStackStaggerBytes = 17 * 64;

uint32_t bit(uint32_t index) { return uint32_t{1} << index; }

}  // namespace

FiberBlock::~FiberBlock() {
  for (auto& warp : warps_) {
    if (warp) free_tsan_fiber(warp->tsan_fiber);
  }
}

bool FiberBlock::prepare(const CodeUnit& unit, uint64_t shared_bytes, uint32_t warp_count) {
  return ResidentBlock::prepare(unit, shared_bytes, warp_count) &&
         make_stacks(unit.stacks_of_block(warp_count), unit.stack_bytes);
}

/// Allocates stacks of at least `stack_bytes` and the margin for `count` warps; false if there is
/// no memory.
bool FiberBlock::make_stacks(uint32_t count, uint64_t stack_bytes) {
  KM_ASSERT(count != 0 && count <= kMaxWarps, "a block has no warps, or more than it may have");
  const uint64_t needed_bytes = stack_bytes + kStackMarginBytes;
  if (count <= prepared_ && needed_bytes <= stack_bytes_) return true;
  uint64_t size = stack_bytes_;
  if (needed_bytes > size) {
    size = round_up(needed_bytes, kMinimumStackBytes);
    prepared_ = 0;
  }
  for (uint32_t i = prepared_; i < count; ++i) {
    if (!warps_[i]) warps_[i].reset(new (std::nothrow) Warp);
    if (!warps_[i]) return false;
    Warp& warp = *warps_[i];
    warp.set = this;
    warp.index = i;
    warp.stack = GuardedRange::make(size);
    if (!warp.stack) return false;
    reset_warp(warp);
    prepared_ = i + 1;
  }
  stack_bytes_ = size;
  return true;
}

void FiberBlock::reset_warp(Warp& warp) {
  free_tsan_fiber(warp.tsan_fiber);
  warp.tsan_fiber = make_tsan_fiber();
  warp.fake_stack = nullptr;
  stack_abandoned(warp.stack.data(), warp.stack.size_bytes());
  const uint64_t top = warp.stack.end() - warp.index * kStackStaggerBytes;
  warp.position = fiber_prepare(reinterpret_cast<void*>(top), warp_main, &warp);
}

void FiberBlock::warp_main(void* argument) {
  auto* warp = static_cast<Warp*>(argument);
  FiberBlock* set = warp->set;
  const void* low = nullptr;
  size_t size = 0;
  after_switch(nullptr, &low, &size);
  if (set->base_low_ == nullptr) {  // the first switch to a warp comes from the base
    set->base_low_ = low;
    set->base_size_ = size;
  }
  for (;;) {  // one iteration per block: warps keep their stacks
    set->run_warp(warp->index);
    set->finish_warp();
  }
}

void FiberBlock::run_warp(uint32_t index) {
  if (unit_->fiber_entry != nullptr) {
    unit_->fiber_entry(record_, &state_, index);
    return;
  }
  const uint64_t block = state_.block[0];
  unit_->grid_entry(record_, &state_, block, block + 1);
}

void FiberBlock::start() {
  count_ = state_.warp_count;
  KM_ASSERT(count_ != 0 && count_ <= prepared_, "a block begins without a stack for each warp");
  barriers_ = {};
  used_barriers_ = exited_ = yields_ = 0;
  runnable_ = count_ == 32 ? UINT32_MAX : bit(count_) - 1;
  current_ = 0;
  begun_ = true;
}

ResidentBlock::Turn FiberBlock::run(const simt::LaunchRecord* record, const CodeUnit& unit) {
  record_ = record;
  unit_ = &unit;
  if (has_synced_cluster()) release(barriers_[simt::kClusterBarrier]);
  KM_ASSERT(
      begun_ && !running_ && (runnable_ & exited_) == 0,
      "a block runs that has not begun, runs already, or has runnable warps that have exited");
  if (runnable_ == 0 && waits_for_cluster()) return Turn::waiting;
  if ((runnable_ & bit(current_)) == 0) pick_next(&current_);
  running_ = true;
  Warp& next = *warps_[current_];
  if (unit.fiber_entry != nullptr) state_.first_thread = current_ * simt::kWarpLanes;
  guard_->stacks[1] = {next.stack.guard_begin(), next.stack.begin()};
  base_tsan_fiber_ = current_tsan_fiber();
  before_switch(&base_fake_stack_, next.stack.data(), next.stack.size_bytes());
  switch_tsan_fiber(next.tsan_fiber);
  km_cpu_switch(&base_position_, next.position);
  after_switch(base_fake_stack_, nullptr, nullptr);
  running_ = false;
  guard_->stacks[1] = {};
  KM_ASSERT(current_ < count_, "a block continues with a warp that it does not have");
  KM_ASSERT(turn_ != Turn::finished || static_cast<uint32_t>(std::popcount(exited_)) == count_,
            "a block ends before all of its warps");
  if (turn_ == Turn::finished) begun_ = false;
  return turn_;
}

KM_NO_SANITIZE void FiberBlock::return_to_base() {
  if (running_) switch_tsan_fiber(base_tsan_fiber_);
}

void FiberBlock::abandon() {
  if (!begun_) return;
  for (uint32_t i = 0; i < count_; ++i) reset_warp(*warps_[i]);
  begun_ = running_ = false;
  guard_->stacks[1] = {};
}

void FiberBlock::switch_to(uint32_t next) {
  Warp& from = *warps_[current_];
  if (next == from.index) return;
  KM_ASSERT(running_ && (runnable_ & bit(next)) != 0, "a warp that waits or has exited continues");
  Warp& to = *warps_[next];
  current_ = next;
  state_.first_thread = next * simt::kWarpLanes;
  guard_->stacks[1] = {to.stack.guard_begin(), to.stack.begin()};
  before_switch(&from.fake_stack, to.stack.data(), to.stack.size_bytes());
  switch_tsan_fiber(to.tsan_fiber);
  km_cpu_switch(&from.position, to.position);
  after_switch(from.fake_stack, nullptr, nullptr);
}

/// Leaves warp `index` for run(). The next run() continues with warp `current_`.
void FiberBlock::switch_to_base(uint32_t index, Turn turn) {
  KM_ASSERT(running_, "a block that does not run leaves its thread");
  turn_ = turn;
  Warp& from = *warps_[index];
  before_switch(&from.fake_stack, base_low_, base_size_);
  switch_tsan_fiber(base_tsan_fiber_);
  km_cpu_switch(&from.position, base_position_);
  after_switch(from.fake_stack, nullptr, nullptr);
}

bool FiberBlock::is_complete(const Barrier& barrier) const {
  if (barrier.expected != 0) return barrier.arrived * simt::kWarpLanes >= barrier.expected;
  return barrier.arrived + static_cast<uint32_t>(std::popcount(exited_)) >= count_;
}

void FiberBlock::release(Barrier& barrier) {
  for (uint32_t left = barrier.waiting; left != 0; left &= left - 1) {
    warps_[static_cast<uint32_t>(std::countr_zero(left))]->predicates = barrier.predicates;
  }
  KM_ASSERT((barrier.waiting & (runnable_ | exited_)) == 0,
            "a waiting warp is runnable or has exited");
  KM_ASSERT(static_cast<uint32_t>(std::popcount(barrier.waiting)) <= barrier.arrived,
            "more warps wait at a barrier than have arrived");
  runnable_ |= barrier.waiting;
  note_opening(static_cast<uint32_t>(&barrier - barriers_.data()), barrier.expected);
  barrier = {};
}

/// Called when all threads of the block have arrived. A barrier of the cluster may still wait for
/// other blocks.
void FiberBlock::complete(Barrier& barrier) {
  if (&barrier != &barriers_[simt::kClusterBarrier] || sync_cluster()) release(barrier);
}

/// Called if no warp can run. Exited threads then count as arrived even at barriers with an
/// explicit thread count.
bool FiberBlock::release_exited() {
  uint32_t exited = static_cast<uint32_t>(std::popcount(exited_));
  for (uint32_t left = used_barriers_; left != 0; left &= left - 1) {
    Barrier& barrier = barriers_[static_cast<uint32_t>(std::countr_zero(left))];
    bool explicit_count = barrier.waiting != 0 && barrier.expected != 0;
    bool enough = (barrier.arrived + exited) * simt::kWarpLanes >= barrier.expected;
    if (explicit_count && enough) release(barrier);
  }
  return runnable_ != 0;
}

/// Picks the next warp that can run, in cyclic order, so that none starves; false if there is none.
bool FiberBlock::pick_next(uint32_t* out_next) {
  if (runnable_ == 0 && !release_exited()) return false;
  uint32_t above = current_ == 31 ? 0 : runnable_ & ~(bit(current_ + 1) - 1);
  *out_next = static_cast<uint32_t>(std::countr_zero(above != 0 ? above : runnable_));
  KM_ASSERT(*out_next < count_, "a warp that the block does not have is runnable");
  return true;
}

FiberBlock::Barrier& FiberBlock::arrive(uint32_t id, uint32_t thread_count,
                                        uint32_t predicate_count) {
  Barrier& barrier = barriers_[id % kMaxBarriers];
  used_barriers_ |= bit(id % kMaxBarriers);
  barrier.arrived += 1;
  barrier.expected = thread_count;
  barrier.predicates += predicate_count;
  return barrier;
}

bool FiberBlock::barrier_wait(uint32_t id, uint32_t thread_count, uint32_t predicate_count,
                              uint32_t* out_predicates, uint64_t pc) {
  warps_[current_]->pc = pc;
  Barrier& barrier = arrive(id, thread_count, predicate_count);
  barrier.waiting |= bit(current_);
  runnable_ &= ~bit(current_);
  note_arrival(id % kMaxBarriers, current_, true);
  if (is_complete(barrier)) complete(barrier);
  if ((runnable_ & bit(current_)) == 0 && !wait_for_others()) return false;
  if (out_predicates != nullptr) *out_predicates = warps_[current_]->predicates;
  return true;
}

/// Runs other warps until the running one can continue. False if no warp of the block ever can.
bool FiberBlock::wait_for_others() {
  uint32_t next = 0;
  if (pick_next(&next)) {
    switch_to(next);
    return true;
  }
  if (!waits_for_cluster()) return false;
  switch_to_base(current_, Turn::progress);
  return true;
}

void FiberBlock::barrier_arrive(uint32_t id, uint32_t thread_count) {
  Barrier& barrier = arrive(id, thread_count, 0);
  note_arrival(id % kMaxBarriers, current_, false);
  if (is_complete(barrier)) complete(barrier);
}

void FiberBlock::yield(uint64_t pc) {
  KM_ASSERT((runnable_ & bit(current_)) != 0, "a warp that is not runnable yields");
  warps_[current_]->pc = pc;
  uint32_t next = current_;
  pick_next(&next);
  if (++yields_ < static_cast<uint32_t>(std::popcount(runnable_))) {
    switch_to(next);
    return;
  }
  yields_ = 0;
  const uint32_t from = std::exchange(current_, next);
  switch_to_base(from, Turn::waiting);
}

void FiberBlock::finish_warp() {
  const uint32_t from = current_;
  yields_ = 0;
  KM_ASSERT((exited_ & bit(from)) == 0, "a warp ends twice");
  exited_ |= bit(from);
  runnable_ &= ~bit(from);
  for (uint32_t left = used_barriers_; left != 0; left &= left - 1) {
    Barrier& barrier = barriers_[static_cast<uint32_t>(std::countr_zero(left))];
    if (barrier.waiting != 0 && barrier.expected == 0 && is_complete(barrier)) complete(barrier);
  }
  uint32_t next = 0;
  if (pick_next(&next)) {
    switch_to(next);
    return;
  }
  const bool all = static_cast<uint32_t>(std::popcount(exited_)) == count_;
  const Turn stuck = waits_for_cluster() ? Turn::progress : Turn::deadlock;
  // place() reports the current warp, so this must be one that still waits.
  if (!all) current_ = static_cast<uint32_t>(std::countr_one(exited_));
  switch_to_base(from, all ? Turn::finished : stuck);
}

}  // namespace km::cpu
