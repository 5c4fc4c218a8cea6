#include "backends/cpu/warps.h"

#include <bit>
#include <new>

#include "backends/cpu/sanitizers.h"
#include "backends/cpu/stack_switch.h"

namespace km::cpu {
namespace {

constexpr uint64_t kMinimumStackBytes = 128 << 10;
constexpr uint64_t kStackMarginBytes = 64 << 10;  // for what generated code calls

uint32_t bit(uint32_t index) { return uint32_t{1} << index; }

}  // namespace

Warps::~Warps() {
  for (auto& warp : warps_) {
    if (warp) free_tsan_fiber(warp->tsan_fiber);
  }
}

bool Warps::prepare(uint32_t count, uint64_t stack_bytes) {
  if (count <= prepared_ && stack_bytes <= stack_bytes_) return true;
  uint64_t size = stack_bytes_;
  if (stack_bytes > size || size == 0) {
    size = round_up(stack_bytes + kStackMarginBytes, kMinimumStackBytes);
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

void Warps::reset_warp(Warp& warp) {
  free_tsan_fiber(warp.tsan_fiber);
  warp.tsan_fiber = make_tsan_fiber();
  warp.fake_stack = nullptr;
  stack_abandoned(warp.stack.data(), warp.stack.size_bytes());
  warp.position = fiber_prepare(reinterpret_cast<void*>(warp.stack.end()), warp_main, &warp);
}

void Warps::warp_main(void* argument) {
  auto* warp = static_cast<Warp*>(argument);
  Warps* set = warp->set;
  const void* low = nullptr;
  size_t size = 0;
  after_switch(nullptr, &low, &size);
  if (set->base_low_ == nullptr) {  // only a switch from the base comes before this is known
    set->base_low_ = low;
    set->base_size_ = size;
  }
  for (;;) {  // one turn per block
    set->entry_(set->record_, set->state_, warp->index);
    set->finish_warp();
  }
}

bool Warps::run_block(const simt::LaunchRecord* record, simt::BlockState* state,
                      simt::WarpEntry entry, uint32_t count) {
  record_ = record;
  state_ = state;
  entry_ = entry;
  count_ = count;
  barriers_ = {};
  exited_ = 0;
  stuck_ = false;
  runnable_ = count == 32 ? UINT32_MAX : bit(count) - 1;
  current_ = 0;
  running_ = true;
  state->first_thread = 0;
  Warp& first = *warps_[0];
  guard_->stacks[1] = {first.stack.guard_begin(), first.stack.begin()};
  base_tsan_fiber_ = current_tsan_fiber();
  before_switch(&base_fake_stack_, first.stack.data(), first.stack.size_bytes());
  switch_tsan_fiber(first.tsan_fiber);
  km_cpu_switch(&base_position_, first.position);
  after_switch(base_fake_stack_, nullptr, nullptr);
  if (stuck_) {
    abandon();
    return false;
  }
  running_ = false;
  guard_->stacks[1] = {};
  return true;
}

KM_NO_SANITIZE void Warps::return_to_base() {
  if (running_) switch_tsan_fiber(base_tsan_fiber_);
}

void Warps::abandon() {
  if (!running_) return;
  for (uint32_t i = 0; i < count_; ++i) reset_warp(*warps_[i]);
  running_ = false;
  guard_->stacks[1] = {};
}

void Warps::switch_to(uint32_t next) {
  Warp& from = *warps_[current_];
  if (next == from.index) return;
  Warp& to = *warps_[next];
  current_ = next;
  state_->first_thread = next * simt::kWarpLanes;
  guard_->stacks[1] = {to.stack.guard_begin(), to.stack.begin()};
  before_switch(&from.fake_stack, to.stack.data(), to.stack.size_bytes());
  switch_tsan_fiber(to.tsan_fiber);
  km_cpu_switch(&from.position, to.position);
  after_switch(from.fake_stack, nullptr, nullptr);
}

void Warps::switch_to_base() {
  Warp& from = *warps_[current_];
  before_switch(&from.fake_stack, base_low_, base_size_);
  switch_tsan_fiber(base_tsan_fiber_);
  km_cpu_switch(&from.position, base_position_);
  after_switch(from.fake_stack, nullptr, nullptr);
}

bool Warps::is_complete(const Barrier& barrier) const {
  if (barrier.expected != 0) return barrier.arrived * simt::kWarpLanes >= barrier.expected;
  return barrier.arrived + static_cast<uint32_t>(std::popcount(exited_)) >= count_;
}

void Warps::release(Barrier& barrier) {
  for (uint32_t left = barrier.waiting; left != 0; left &= left - 1) {
    warps_[static_cast<uint32_t>(std::countr_zero(left))]->predicates = barrier.predicates;
  }
  runnable_ |= barrier.waiting;
  barrier = {};
}

/// Nobody can run: exited threads count as arrived at barriers with an explicit count as well.
bool Warps::release_exited() {
  uint32_t exited = static_cast<uint32_t>(std::popcount(exited_));
  for (Barrier& barrier : barriers_) {
    bool explicit_count = barrier.waiting != 0 && barrier.expected != 0;
    bool enough = (barrier.arrived + exited) * simt::kWarpLanes >= barrier.expected;
    if (explicit_count && enough) release(barrier);
  }
  return runnable_ != 0;
}

/// In turn, so that every warp gets on.
bool Warps::pick_next(uint32_t* out_next) {
  if (runnable_ == 0 && !release_exited()) return false;
  uint32_t above = current_ == 31 ? 0 : runnable_ & ~(bit(current_ + 1) - 1);
  *out_next = static_cast<uint32_t>(std::countr_zero(above != 0 ? above : runnable_));
  return true;
}

Warps::Barrier& Warps::arrive(uint32_t id, uint32_t thread_count, uint32_t predicate_count) {
  Barrier& barrier = barriers_[id % kMaxBarriers];
  barrier.arrived += 1;
  barrier.expected = thread_count;
  barrier.predicates += predicate_count;
  return barrier;
}

bool Warps::barrier_wait(uint32_t id, uint32_t thread_count, uint32_t predicate_count,
                         uint32_t* out_predicates) {
  Barrier& barrier = arrive(id, thread_count, predicate_count);
  barrier.waiting |= bit(current_);
  runnable_ &= ~bit(current_);
  if (is_complete(barrier)) {
    release(barrier);
  } else {
    uint32_t next = 0;
    if (!pick_next(&next)) return false;
    switch_to(next);
  }
  if (out_predicates != nullptr) *out_predicates = warps_[current_]->predicates;
  return true;
}

bool Warps::barrier_arrive(uint32_t id, uint32_t thread_count) {
  Barrier& barrier = arrive(id, thread_count, 0);
  if (is_complete(barrier)) release(barrier);
  return true;
}

void Warps::yield() {
  uint32_t next = 0;
  if (pick_next(&next)) switch_to(next);
}

void Warps::finish_warp() {
  exited_ |= bit(current_);
  runnable_ &= ~bit(current_);
  for (Barrier& barrier : barriers_) {
    if (barrier.waiting != 0 && barrier.expected == 0 && is_complete(barrier)) release(barrier);
  }
  uint32_t next = 0;
  if (pick_next(&next)) {
    switch_to(next);
    return;
  }
  stuck_ = static_cast<uint32_t>(std::popcount(exited_)) != count_;
  switch_to_base();
}

}  // namespace km::cpu
