#include "backends/cpu/execution/executor.h"

#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "backends/cpu/check/undefined_memory.h"
#include "backends/cpu/execution/block_index.h"
#include "backends/cpu/execution/diagnose.h"
#include "backends/cpu/memory/allocations.h"
#include "backends/cpu/threads/futex.h"
#include "backends/cpu/threads/sanitizers.h"
#include "backends/cpu/threads/stack_switch.h"
#include "backends/cpu/trials/trial.h"
#include "base/arch/processor.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/memory/host_allocator.h"

namespace km::cpu {
namespace {

constexpr uint64_t kStackBytes = 8 << 20;  // only touched pages take memory
constexpr uint64_t kStackMarginBytes = 256 << 10;
constexpr uint32_t kWaitTurns = 32;
constexpr uint32_t kSpoiledTurns = 512;

/// The newest executor, from which older_ leads to all others. The list only grows, so that it is
/// read without a lock. KernelThread::enlist() bounds its length.
std::atomic<Executor*> newest_executor{nullptr};

/// The shared window of kernels without shared memory, in which every access faults.
uint8_t* empty_window() {
  static GuardedRange* const range = new GuardedRange(reserve_window());
  return range->data();
}

uint32_t warps_of(const simt::LaunchRecord& record) {
  uint32_t threads = record.block[0] * record.block[1] * record.block[2];
  return (threads + simt::kWarpLanes - 1) / simt::kWarpLanes;
}

Error no_memory(const char* what, uint64_t size_bytes) {
  return make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                    "no memory for the %s of a worker thread (%llu bytes): free some, or raise the "
                    "limit on address space (ulimit -v)",
                    what, static_cast<unsigned long long>(size_bytes));
}

}  // namespace

bool Executor::make() {
  stack_ = GuardedRange::make(kStackBytes);
  if (!stack_) return false;
  guard_.stacks[0] = {stack_.guard_begin(), stack_.begin()};
  state_.host = this;
  return true;
}

Executor* Executor::acquire() {
  for (Executor* executor = newest_executor.load(std::memory_order_acquire); executor != nullptr;
       executor = executor->older_) {
    // The acquire order pairs with release(), so that this thread sees the state that the former
    // one left.
    if (executor->in_use_.exchange(true, std::memory_order_acquire)) continue;
    executor->kernel_thread_.take_over();
    return executor;
  }
  std::unique_ptr<Executor> made(new (std::nothrow) Executor);
  if (!made || !made->make()) return nullptr;
  made->in_use_.store(true);
  made->kernel_thread_.take_over();
  if (!made->kernel_thread_.enlist()) return nullptr;
  made->older_ = newest_executor.load(std::memory_order_relaxed);
  while (!newest_executor.compare_exchange_weak(made->older_, made.get(), std::memory_order_release,
                                                std::memory_order_relaxed)) {
  }
  return made.release();
}

Status Executor::select_window(uint64_t shared_bytes) {
  if (shared_bytes == 0) {
    state_.shared = empty_window();
    return {};
  }
  const uint64_t wanted = round_up(shared_bytes, kPageBytes);
  if (windows_[window_].allowed_bytes() != wanted) window_ = 1 - window_;
  GuardedRange& window = windows_[window_];
  if (!open_window(window, shared_bytes)) return no_memory("shared memory", shared_bytes);
  state_.shared = window.data();
  KM_ASSERT(window.allowed_bytes() == wanted, "a window is open beyond its block's shared memory");
  return {};
}

Status Executor::prepare(const LaunchRun& launch) {
  const CodeUnit& unit = *launch.unit;
  uint32_t threads = launch.record.block[0] * launch.record.block[1] * launch.record.block[2];
  const Prepared wanted = {unit.id, launch.shared_bytes, launch.cluster_blocks, threads};
  if (prepared_ == wanted) return {};
  prepared_ = {};
  if (unit.stack_bytes + kStackMarginBytes > stack_.size_bytes()) {
    stack_ = GuardedRange();
    stack_ = GuardedRange::make(unit.stack_bytes + kStackMarginBytes);
    if (!stack_) return no_memory("stack", unit.stack_bytes);
    guard_.stacks[0] = {stack_.guard_begin(), stack_.begin()};
  }
  state_.warp_count = unit.grid_entry != nullptr ? 1 : warps_of(launch.record);
  KM_ASSERT(state_.warp_count != 0 && state_.warp_count <= kMaxWarps,
            "a block has no warps, or more than it may have");
  if (unit.runs_through()) {
    KM_TRY(select_window(launch.shared_bytes));
    if (!grow_scratch(scratch_, unit.scratch_bytes, unit)) {
      return no_memory("local memory", unit.scratch_bytes);
    }
    state_.scratch = scratch_.data();
  } else if (!residents_.prepare(launch, state_.warp_count)) {
    const uint64_t stacks = unit.stack_bytes * unit.stacks_of_block(state_.warp_count);
    return no_memory("blocks",
                     launch.shared_bytes + unit.scratch_bytes * state_.warp_count + stacks);
  }
  guard_.begin = unit.begin;
  guard_.end = unit.end;
  prepared_ = wanted;
  return {};
}

void Executor::run_grid() {
  uint64_t first = 0, last = 0;
  simt::GridEntry entry = launch_->unit->grid_entry;
  const simt::LaunchRecord& record = launch_->record;
  while (launch_->take(&part_.next, &first, &last)) {
    set_block(&state_, record, first);
    for (uint64_t left = last - first; left != 0; begin_row(&state_, record)) {
      const uint64_t x = state_.block[0], count = std::min(left, record.grid[0] - x);
      KM_ASSERT(count != 0, "a row of blocks has ended, and the next has not begun");
      entry(&record, &state_, x, x + count);
      left -= count;
      run_.blocks += count;
    }
  }
  flush_privatized();
}

void Executor::privatize_atomics(uint64_t address, uint32_t size_bytes) {
  privatized_.keep(state_, launch_->allocations->find(address, size_bytes), size_bytes);
}

/// Runs each resident block until it waits or ends.
Executor::Turns Executor::run_turns() {
  Turns result;
  for (size_t i = 0; i < residents_.running().size();) {
    KM_ASSERT(residents_.running().size() <= kMaxResidentBlocks,
              "a thread has more resident blocks than it may");
    resident_ = residents_.running()[i];
    running_ = resident_->state();
    const ResidentBlock::Turn turn = resident_->run(&launch_->record, *launch_->unit);
    if (turn == ResidentBlock::Turn::deadlock) raise_deadlock(resident_->place());
    const bool waits = turn == ResidentBlock::Turn::waiting;
    result.any_waits = result.any_waits || waits;
    result.all_wait = result.all_wait && waits;
    ++i;
    if (turn != ResidentBlock::Turn::finished) continue;
    result.any_finished = true;
    run_.blocks += residents_.finish(--i) ? 1 : 0;
  }
  return result;
}

/// Runs blocks that may wait. A block usually waits for another thread, which arrives within a
/// moment, and starting the next block at once would delay the blocks that wait for this one. After
/// a wait in vain, the next wait is shorter. Passing barriers counts as progress even in a spin
/// loop, so the next block is also started after kSpoiledTurns turns in which blocks wait and none
/// ends.
void Executor::run_resident() {
  residents_.begin(*launch_, &for_checks_.store);
  uint32_t patience = kWaitTurns;
  for (uint32_t waited = 0, spoiled = 0, idle_turns = 0;;) {
    if (launch_->trial != nullptr) [[unlikely]]
      follow_schedule(launch_->trial->schedule);
    const Turns turns = run_turns();
    check_stop(launch_->unit->begin);
    const bool progress = !turns.all_wait;
    if (progress && waited > 0) patience = kWaitTurns;
    if (progress) stall_.note_progress();
    waited = progress ? 0 : waited + 1;
    spoiled = turns.any_finished ? 0 : spoiled + (turns.any_waits ? 1 : 0);
    if (!residents_.running().empty() && waited < patience && spoiled < kSpoiledTurns) {
      if (!progress) arch::spin_hint();
      continue;
    }
    if (!progress) patience = std::max(patience / 2, 1u);
    waited = spoiled = 0;
    if (residents_.start_next(state_, &part_.next)) continue;
    if (residents_.running().empty()) break;
    if (++idle_turns % 64 == 0) idle();
  }
  if (launch_->trial != nullptr) [[unlikely]]
    launch_->trial->stores.make_all();
  KM_ASSERT(residents_.has_begun_all(), "a run ends with blocks that it claimed and did not start");
  running_ = &state_;
}

/// Begins as many blocks as the schedule has side by side, and orders their turns.
void Executor::follow_schedule(simt::Schedule& schedule) {
  if (schedule.is_over()) {
    faults_.note_stopping();
    guard_.fault = {};
    guard_.fault.pc = launch_->unit->begin;
    leave(Ending::stopped);
  }
  while (residents_.running().size() < schedule.resident_blocks() &&
         residents_.start_next(state_, &part_.next)) {
  }
  residents_.mix(schedule);
}

/// Called if no block of this thread makes progress and no other can be started.
void Executor::idle() {
  launch_->relief->relieve();
  if (stall_.note_wait()) {
    log(LogLevel::kWarn, "cpu", "%s", describe_stall(residents_.running(), *launch_).c_str());
  }
  sched_yield();
}

void Executor::run_blocks(void* argument) {
  auto* self = static_cast<Executor*>(argument);
  after_switch(nullptr, &self->host_stack_.low, &self->host_stack_.size_bytes);
  if (self->launch_->unit->runs_through()) {
    self->run_grid();
  } else {
    self->run_resident();
  }
  if (self->launch_->unit->nontemporal_stores) arch::store_fence();
  before_switch(nullptr, self->host_stack_.low, self->host_stack_.size_bytes);
}

Ending Executor::enter(LaunchRun& launch) {
  KM_ASSERT(current_guard == nullptr, "a thread enters generated code from generated code");
  KM_ASSERT(guard_.begin < guard_.end && guard_.begin == launch.unit->begin,
            "the guard names the code of another kernel");
  KM_ASSERT(stack_ && stack_.size_bytes() >= launch.unit->stack_bytes,
            "a kernel runs on a stack that is too small for it");
  launch_ = &launch;
  running_ = &state_;
  guard_.stop = launch.stop;
  guard_.fault = {};
  faults_.begin();
  state_.abandoned = 0;
  run_.blocks = 0;
  privatized_.begin(state_);
  own_.tensors.is_used = own_.checks.is_used = false;
  if (launch.counters != nullptr) [[unlikely]]
    run_.counters.clear();
  if (launch.checks != nullptr) [[unlikely]]
    launch.checks->add_store(&for_checks_.store);
  part_.next = claim_part(launch.range);
  if (!launch.unit->runs_through()) stall_.begin(launch.stall);
  before_switch(&fake_stack_, stack_.data(), stack_.size_bytes());
  // The signal handler on this thread reads the guard, so the compiler must not move the stores
  // across the call.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  current_guard = &guard_;
  auto ending = static_cast<Ending>(
      km_cpu_enter(&guard_, reinterpret_cast<void*>(stack_.end()), run_blocks, this));
  KM_ASSERT(current_guard == &guard_, "generated code is left with the guard of something else");
  current_guard = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (ending != Ending::returned) {
    if (running_ != &state_ && launch.unit->independent_entry == nullptr)
      fiber_block().return_to_base();
    before_switch(nullptr, host_stack_.low, host_stack_.size_bytes);
  }
  after_switch(fake_stack_, nullptr, nullptr);
  stall_.end();
  if (launch.counters != nullptr) [[unlikely]]
    launch.counters->add(run_.counters);
  if (launch.checks != nullptr) [[unlikely]]
    launch.checks->remove_store(&for_checks_.store);
  if (ending != Ending::returned) {
    privatized_.drop(state_);
    clean_up();
    faults_.complete(ending, guard_.fault, *running_);
  }
  return ending;
}

/// Discards the state of generated code that was left in the middle.
void Executor::clean_up() {
  stack_abandoned(stack_.data(), stack_.size_bytes());
  residents_.abandon();
  arch::end_vector_code();
}

/// In mode a, a block begins when its first instruction comes here.
simt::TensorStorage& Executor::tensor_storage() {
  if (running_ != &state_) return resident_->tensor_storage();
  if (own_.tensors.begins(state_)) own_.tensors.state.begin();
  return own_.tensors.state;
}

uint8_t* Executor::box_image() {
  const HostMemoryOptional optional;
  try {
    std::vector<uint8_t>& image = for_checks_.box_image;
    image.resize(std::max<size_t>(image.size(), launch_->shared_bytes));
    return image.data();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// In mode a, a block begins when its first report comes here.
BlockChecks* Executor::own_checks() {
  if (launch_->checks == nullptr) return nullptr;
  if (own_.checks.begins(state_)) {
    const HostMemoryNeeded needed;  // generated code is on the stack
    BlockChecks::Block block = checked_block(*launch_, state_, &for_checks_.store);
    block.shared.begin = reinterpret_cast<uint64_t>(state_.shared);
    block.scratch = {scratch_.begin(), scratch_.size_bytes()};
    own_.checks.state.begin(block);
  }
  return &own_.checks.state;
}

AddressRange Executor::shared_memory() const {
  const Cluster* const cluster = running_ == &state_ ? nullptr : resident_->cluster();
  if (cluster == nullptr) {
    return {reinterpret_cast<uint64_t>(running_->shared), launch_->shared_bytes};
  }
  return {reinterpret_cast<uint64_t>(cluster->shared_of(0)), cluster->shared_bytes()};
}

AddressRange Executor::local_memory() const {
  return {reinterpret_cast<uint64_t>(running_->scratch),
          launch_->unit->scratch_bytes * running_->warp_count};
}

AddressRange Executor::parameters() const {
  return {reinterpret_cast<uint64_t>(launch_->record.params), launch_->param_bytes};
}

AddressRange Executor::find_memory(uint64_t address, uint64_t size_bytes) const {
  const AddressRange shared = shared_memory();
  if (shared.holds(address, size_bytes)) return shared;
  const AddressRange scratch = local_memory(), params = parameters();
  if (scratch.holds(address, size_bytes)) return scratch;
  if (params.holds(address, size_bytes)) return params;
  const AddressRange workspace{launch_->record.workspace, sizeof launch_->workspace};
  if (launch_->record.workspace != 0 && workspace.holds(address, size_bytes)) return workspace;
  return launch_->allocations->find(address, size_bytes);
}

AddressRange Executor::find_defined(uint64_t address, uint64_t most_bytes) const {
  const AddressRange memory = find_memory(address, 1);
  if (memory.is_empty()) return {};
  return UndefinedMemory::instance().defined_around(address, memory, most_bytes);
}

/// Updates the unit's estimate of the time per block.
void Executor::note_time(const CodeUnit& unit) const {
  KM_ASSERT(run_.blocks != 0, "a run took time for no block");
  // In shorter runs, entering generated code takes most of the time.
  constexpr uint64_t kLeastTicks = ticks_of_ns(1'000);
  const float now = ns_of_ticks(run_.ticks) / static_cast<float>(run_.blocks);
  const float old = unit.block_ns.load(std::memory_order_relaxed);
  const bool is_short = run_.ticks < kLeastTicks;
  if (is_short && old != 0 && now > old) return;  // a short run only gives an upper bound
  // The estimate rises at once and falls slowly.
  const bool counts_alone = is_short || old == 0 || now > 4 * old;
  unit.block_ns.store(counts_alone ? now : 0.75F * old + 0.25F * now, std::memory_order_relaxed);
}

Result<Ending> Executor::run(LaunchRun& launch) {
  KM_ASSERT(in_use_.load(), "an executor that no thread has acquired runs");
  KM_TRY(prepare(launch));
  kernel_thread_.begin(launch.owner);
  Ending ending = Ending::stopped;
  if (launch.stop == nullptr || launch.stop->load() == 0) {
    uint64_t begin = now_ticks();
    keep_handler_in_front(begin);
    ending = enter(launch);
    run_.ticks = now_ticks() - begin;
    // An assertion is reported whatever ended the run, because it failed first.
    if (ending != Ending::returned && faults_.take_assertion()) ending = Ending::faulted;
    if (run_.blocks != 0) note_time(*launch.unit);
  } else {
    faults_.set_not_begun();
  }
  kernel_thread_.end();
  if (ending != Ending::returned) launch.range.close();
  return ending;
}

KM_NO_SANITIZE void Executor::leave(Ending ending) {
  km_cpu_leave(&guard_, static_cast<uint64_t>(ending));
}

KM_NO_SANITIZE void Executor::raise(simt::FaultKind kind, uint64_t pc, uint64_t address,
                                    uint64_t size_bytes, uint32_t thread, uint32_t line) {
  faults_.note_raised(kind, pc, address, size_bytes, thread, line);
  leave(kind == simt::FaultKind::stopped ? Ending::stopped : Ending::faulted);
}

void Executor::note_assertion(std::string text, uint64_t pc, uint32_t thread) {
  running_->abandoned = 1;
  faults_.note_assertion(std::move(text), pc, *running_, thread);
}

KM_NO_SANITIZE void Executor::raise_assertion() { leave(Ending::faulted); }

KM_NO_SANITIZE void Executor::raise_deadlock(const ResidentBlock::Place& place) {
  faults_.note_deadlock(place);
  leave(Ending::faulted);
}

void Executor::check_stop(uint64_t pc) {
  if (launch_->stop != nullptr && launch_->stop->load(std::memory_order_relaxed) != 0) {
    faults_.note_stopping();
    guard_.fault = {};
    guard_.fault.pc = pc;
    leave(Ending::stopped);
  }
}

void Executor::check_stack(uint64_t size_bytes, uint64_t pc) {
  auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  const CodeUnit& unit = *launch_->unit;
  const bool own_stack = !unit.runs_through() && unit.independent_entry == nullptr;
  const uint64_t low = own_stack ? fiber_block().stack_low() : stack_.begin();
  if (here - low >= size_bytes) return;
  guard_.fault =
      Fault{.signal = SIGSEGV, .code = 0, .pc = pc, .address = low, .stack_overflow = true};
  leave(Ending::faulted);
}

Executor* executor_of_host_thread() {
  static constinit thread_local Executor* held = nullptr;
  static constinit thread_local bool has_ended = false;
  struct End {
    ~End() {
      has_ended = true;
      if (held != nullptr) std::exchange(held, nullptr)->release();
    }
  };
  if (held != nullptr) return thread_can_fault() ? held : nullptr;
  // A thread whose thread-local objects have been destroyed gets no executor, because it could not
  // return it.
  if (has_ended || !thread_can_fault()) return nullptr;
  held = Executor::acquire();
  thread_local End end;
  return held;
}

}  // namespace km::cpu
