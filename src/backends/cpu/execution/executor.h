// The belongings of a thread that runs generated code: stacks, the shared memory window, scratch
// memory and the state of the block. Workers own one for life; waiting threads of the host borrow
// one.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/execution/fiber_block.h"
#include "backends/cpu/execution/independent_block.h"
#include "backends/cpu/execution/kernel_fault.h"
#include "backends/cpu/execution/launch_run.h"
#include "backends/cpu/execution/privatized_atomics.h"
#include "backends/cpu/execution/resident_blocks.h"
#include "backends/cpu/execution/run_faults.h"
#include "backends/cpu/execution/stall.h"
#include "backends/cpu/fault/fault.h"
#include "backends/cpu/fault/kernel_thread.h"
#include "backends/cpu/memory/address_space.h"
#include "backends/cpu/memory/allocations.h"
#include "base/assert.h"
#include "base/result.h"

namespace km::cpu {

class Executor {
 public:
  /// One that nobody uses, for the calling thread; null when memory is short.
  static Executor* acquire();
  /// Lock-free: also right in a child process after fork.
  void release() {
    KM_ASSERT(in_use_.load(std::memory_order_relaxed), "an executor is given back by nobody");
    in_use_.store(false, std::memory_order_release);
  }

  /// Runs blocks of the launch until none is left, it faults or it is cancelled. The error is
  /// about memory for stacks, windows or scratch.
  Result<Ending> run(LaunchRun& launch);
  /// The part of a command's work that this thread begins with: the same as the last time, if it
  /// can be.
  uint32_t claim_part(BlockRange& range) {
    return range.part_count() == 1 ? 0 : part_ = range.claim(part_);
  }
  /// After run() gave `faulted` or `stopped`.
  const KernelFault& fault() const { return faults_.fault(); }
  /// The first assertion that failed in a run() that gave `returned`; null: none did.
  const KernelFault* assertion() const { return faults_.assertion(); }

  /// The handle by which other threads interrupt this one.
  const KernelThread& kernel_thread() const { return kernel_thread_; }

  // Called by generated code through the runtime table.
  /// `line` in the PTX text counts where it is not 0, else the one that `pc` belongs to.
  [[noreturn]] void raise(simt::FaultKind kind, uint64_t pc, uint64_t address, uint64_t size_bytes,
                          uint32_t thread, uint32_t line = 0);
  /// A thread has failed an assertion; the run goes on. `text` is for the error of the launch.
  void note_assertion(std::string text, uint64_t pc, uint32_t thread);
  /// Ends the run because of the assertion that was noted.
  [[noreturn]] void raise_assertion();
  /// No warp of the running block can go on; `place` is where one of them waits.
  [[noreturn]] void raise_deadlock(const ResidentBlock::Place& place);
  /// Leaves when the launch was cancelled. For functions of the runtime that may take long.
  void check_stop(uint64_t pc);
  /// Leaves with a stack overflow when less than `size_bytes` of stack are left.
  void check_stack(uint64_t size_bytes, uint64_t pc);
  /// The memory around an access that the launch may make, empty: it may not.
  AddressRange find_memory(uint64_t address, uint64_t size_bytes) const;
  void privatize_atomics(uint64_t address, uint32_t size_bytes);
  void flush_privatized() { privatized_.flush(state_); }
  uint32_t first_thread() const { return running_->first_thread; }
  /// The block that runs now, in mode b and c.
  FiberBlock& fiber_block() { return static_cast<FiberBlock&>(*resident_); }
  IndependentBlock& independent_block() { return static_cast<IndependentBlock&>(*resident_); }
  const LaunchRun& launch() const { return *launch_; }

 private:
  friend std::default_delete<Executor>;
  Executor() = default;
  ~Executor() = default;
  bool make();
  Status prepare(const LaunchRun& launch);
  void note_time(const CodeUnit& unit) const;
  Status select_window(uint64_t shared_bytes);
  Ending enter(LaunchRun& launch);
  void clean_up();
  [[noreturn]] void leave(Ending ending);
  static void run_blocks(void* argument);
  void run_grid();
  void run_resident();
  struct Turns {
    bool any_waits = false, all_wait = true, any_finished = false;
  };
  Turns run_turns();
  void idle();
  AddressRange shared_memory() const;

  CodeGuard guard_;
  GuardedRange stack_;
  GuardedRange scratch_;
  std::array<GuardedRange, 2> windows_;  // two, for kernels that alternate
  uint32_t window_ = 0;
  simt::BlockState state_{};
  simt::BlockState* running_ = &state_;  // of the block that runs now
  ResidentBlocks residents_{&guard_};    // modes b and c
  ResidentBlock* resident_ = nullptr;    // the one that runs now
  RunFaults faults_;
  PrivatizedAtomics privatized_;  // mode a
  StallWatch stall_;              // of launches whose blocks may wait

  LaunchRun* launch_ = nullptr;
  /// The launches that this thread has everything for.
  struct Prepared {
    uint64_t unit = 0;  // its id; 0: of no launch
    uint64_t shared_bytes = 0;
    uint32_t cluster_blocks = 1, threads = 0;
    bool operator==(const Prepared&) const = default;
  } prepared_;
  uint64_t ticks_ = 0, blocks_ = 0;    // of this run
  uint32_t part_ = 0, next_part_ = 0;  // claimed, and where the next blocks come from
  void* fake_stack_ = nullptr;
  const void* host_low_ = nullptr;
  size_t host_size_ = 0;

  std::atomic<bool> in_use_{false};
  KernelThread kernel_thread_;
  Executor* older_ = nullptr;  // that was made before this one
};

/// The executor of this thread, made at the first use and kept until the thread ends. Null when the
/// thread cannot run generated code (signals blocked, no memory): then it must only wait.
Executor* executor_of_host_thread();

}  // namespace km::cpu
