// The resources of a thread that runs generated code: stacks, the shared memory window, scratch
// memory and the state of the block. A worker owns an executor for life; a waiting host thread
// borrows one.
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
  /// Returns a free executor for the calling thread; null without memory.
  static Executor* acquire();
  /// Lock-free, so that a child process may call it after fork.
  void release() {
    KM_ASSERT(in_use_.load(std::memory_order_relaxed),
              "an executor that no thread holds is released");
    in_use_.store(false, std::memory_order_release);
  }

  /// Runs blocks of the launch until none is left, one faults or the launch is cancelled. Fails
  /// without memory for stacks, windows or scratch.
  Result<Ending> run(LaunchRun& launch);
  /// Makes the thread begin in part `part` of the next range. Neighbours have parts side by side,
  /// so that a thread that is done takes from memory near it, if the machine has more than one.
  void prefer_part(uint32_t part) { part_.claimed = part; }
  /// Claims the part of a command's work that this thread starts with: the last one's, if it is
  /// free, because its caches may still hold that part's data.
  uint32_t claim_part(BlockRange& range) {
    const uint32_t count = range.part_count(), claimed = range.claim(part_.claimed);
    if (count == 1 || count < part_.count) return claimed;
    part_.count = count;
    return part_.claimed = claimed;
  }
  /// Valid after run() returned `faulted` or `stopped`.
  const KernelFault& fault() const { return faults_.fault(); }
  /// The first assertion that failed in a run() that returned `returned`; null if none failed.
  const KernelFault* assertion() const { return faults_.assertion(); }

  /// The handle by which other threads interrupt this one.
  const KernelThread& kernel_thread() const { return kernel_thread_; }

  // Called by generated code through the runtime table. `line` is the line in the PTX text; if it
  // is 0, the line of `pc` is used.
  [[noreturn]] void raise(simt::FaultKind kind, uint64_t pc, uint64_t address, uint64_t size_bytes,
                          uint32_t thread, uint32_t line = 0);
  /// Records a failed assertion of a thread; the run continues. `text` becomes the launch's error.
  void note_assertion(std::string text, uint64_t pc, uint32_t thread);
  /// Ends the run because of the recorded assertion.
  [[noreturn]] void raise_assertion();
  /// Ends the run because no warp of the running block can continue; `place` is where one of them
  /// waits.
  [[noreturn]] void raise_deadlock(const ResidentBlock::Place& place);
  /// Leaves the run if the launch was cancelled. For functions of the runtime that may take long.
  void check_stop(uint64_t pc);
  /// Leaves the run with a stack overflow if less than `size_bytes` of stack are left.
  void check_stack(uint64_t size_bytes, uint64_t pc);
  /// The memory around an address that the launch may access; empty if it may not.
  AddressRange find_memory(uint64_t address, uint64_t size_bytes) const;
  /// Memory around the address of which all bytes are defined, at most about `most_bytes` on each
  /// side; empty if there is none. It stays so while the present block runs.
  AddressRange find_defined(uint64_t address, uint64_t most_bytes) const;
  void privatize_atomics(uint64_t address, uint32_t size_bytes);
  void flush_privatized() { privatized_.flush(state_); }
  uint32_t first_thread() const { return running_->first_thread; }
  /// The running block, in modes b and c.
  FiberBlock& fiber_block() { return static_cast<FiberBlock&>(*resident_); }
  IndependentBlock& independent_block() { return static_cast<IndependentBlock&>(*resident_); }
  const LaunchRun& launch() const { return *launch_; }
  /// The tensor memory of the running block.
  simt::TensorStorage& tensor_storage();
  /// Memory as large as the block's shared memory, for the content of a checked copy; null: there
  /// is none.
  uint8_t* box_image();
  /// The checker's knowledge of the running block; null: it is not checked.
  BlockChecks* block_checks() { return running_ == &state_ ? own_checks() : resident_->checks(); }
  /// The counters of this thread; null: the launch counts nothing.
  WarpCounters* counters() { return launch_->counters != nullptr ? &run_.counters : nullptr; }
  /// The shared memory that the running block may access; in a cluster, that of all its blocks.
  AddressRange shared_memory() const;
  /// The local memory of the running block's threads, with what their code keeps beside it.
  AddressRange local_memory() const;
  /// The launch's parameters.
  AddressRange parameters() const;
  /// True if the running block's warps are fibers, so that one of them may wait for another.
  bool has_fibers() const { return running_ != &state_ && launch_->unit->fiber_entry != nullptr; }
  /// The running block's cluster; null if it is alone in it, or never meets it.
  Cluster* cluster() const { return running_ == &state_ ? nullptr : resident_->cluster(); }

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
  void follow_schedule(simt::Schedule& schedule);
  BlockChecks* own_checks();

  CodeGuard guard_;
  GuardedRange stack_;
  GuardedRange scratch_;
  std::array<GuardedRange, 2> windows_;  // two, for kernels that alternate
  uint32_t window_ = 0;
  simt::BlockState state_{};
  simt::BlockState* running_ = &state_;  // of the running block
  ResidentBlocks residents_{&guard_};    // modes b and c
  ResidentBlock* resident_ = nullptr;    // the running block
  RunFaults faults_;
  PrivatizedAtomics privatized_;  // for mode a
  StallWatch stall_;              // for launches whose blocks may wait
  /// A part of a block's state in mode a, where blocks begin unseen, and the block it belongs to.
  template <typename State>
  struct OfBlock {
    State state;
    std::array<uint32_t, 3> block{};
    bool is_used = false;
    /// True if the running block is another one than at the last call.
    bool begins(const simt::BlockState& running) {
      const uint32_t(&now)[3] = running.block;
      // The comparison of arrays would be a call of memcmp.
      const bool begins =
          !is_used || block[0] != now[0] || block[1] != now[1] || block[2] != now[2];
      block = std::to_array(now);
      is_used = true;
      return begins;
    }
  };
  /// The tensor memory and the checks of the block in mode a.
  struct OwnBlock {
    OfBlock<simt::TensorStorage> tensors;
    OfBlock<BlockChecks> checks;
  } own_;

  LaunchRun* launch_ = nullptr;
  /// The launches for which this thread has all memory.
  struct Prepared {
    uint64_t unit = 0;  // the code's id; 0: no launch
    uint64_t shared_bytes = 0;
    uint32_t cluster_blocks = 1, threads = 0;
    bool operator==(const Prepared&) const = default;
  } prepared_;
  /// The time and the number of blocks of this run, and what their warps did.
  struct Run {
    uint64_t ticks = 0, blocks = 0;
    WarpCounters counters;
  } run_;
  /// The memory of this thread for launches that are checked.
  struct ForChecks {
    ReportedStore store;
    std::vector<uint8_t> box_image;
  } for_checks_;
  /// The part that the thread claimed in the range with the most parts so far, so that short
  /// launches on few threads do not move it, and the one that its next blocks come from.
  struct Part {
    uint32_t claimed = 0, count = 1, next = 0;
  } part_;
  void* fake_stack_ = nullptr;
  /// The stack of the thread that runs the code.
  struct HostStack {
    const void* low = nullptr;
    size_t size_bytes = 0;
  } host_stack_;

  std::atomic<bool> in_use_{false};
  KernelThread kernel_thread_;
  Executor* older_ = nullptr;  // the executor that was created before this one
};

/// Returns this thread's executor, which is created at the first call and kept until the thread
/// ends. Null if the thread cannot run generated code (signals are blocked, or there is no memory):
/// then it must only wait.
Executor* executor_of_host_thread();

}  // namespace km::cpu
