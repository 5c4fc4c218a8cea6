// Mode b: the warps of a block are fibers of one thread, each with a guarded stack, which switch at
// barriers and in spin loops. In mode a, a block with spin loops that wait for other blocks is a
// single fiber.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "backends/cpu/execution/resident_block.h"
#include "backends/cpu/fault/fault.h"
#include "backends/cpu/memory/address_space.h"
#include "simt/abi.h"

namespace km::cpu {

/// A resident block whose warps are fibers.
class FiberBlock : public ResidentBlock {
 public:
  explicit FiberBlock(CodeGuard* guard) : guard_(guard) {}
  ~FiberBlock() override;

  bool prepare(const CodeUnit& unit, uint64_t shared_bytes, uint32_t warp_count) override;
  /// Runs the block's warps. The caller is on the stack of the engine, called the base below.
  Turn run(const simt::LaunchRecord* record, const CodeUnit& unit) override;

  /// Tells ThreadSanitizer that the base runs again. It must be the first call after a fault has
  /// left run().
  void return_to_base();
  /// Discards the warps that a fault has interrupted. It follows return_to_base().
  void abandon();

  // Waits at a barrier; called by the running warp. False if no warp of the block can ever
  // continue.
  bool barrier_wait(uint32_t id, uint32_t thread_count, uint32_t predicate_count,
                    uint32_t* out_predicates, uint64_t pc);
  /// Arrives at a barrier without waiting.
  void barrier_arrive(uint32_t id, uint32_t thread_count);
  /// Called by a warp that waits for memory to change. Runs another warp or, if all that can run
  /// have yielded in turn, returns to the thread's other blocks.
  void yield(uint64_t pc);
  /// True if no other warp of the block can run before this one does something.
  bool runs_alone() const { return runnable_ == uint32_t{1} << current_; }
  Place place() const override { return {warps_[current_]->pc, 0, current_ * simt::kWarpLanes}; }

  /// The low end of the running warp's stack; 0 if no warp runs.
  uint64_t stack_low() const { return running_ ? warps_[current_]->stack.begin() : 0; }

 private:
  /// A warp with its stack, and the state that a suspended warp needs.
  struct Warp {
    FiberBlock* set = nullptr;
    GuardedRange stack;
    void* position = nullptr;
    void* fake_stack = nullptr;
    void* tsan_fiber = nullptr;
    uint32_t index = 0;
    uint32_t predicates = 0;
    uint64_t pc = 0;  // where the warp last waited
  };
  /// An arrival count with the warps that wait for it.
  struct Barrier {
    uint32_t arrived = 0;   // number of warps
    uint32_t expected = 0;  // number of threads, 0: all of the block
    uint32_t predicates = 0;
    uint32_t waiting = 0;  // one bit per warp
  };

  void start() override;
  void run_warp(uint32_t index);
  bool make_stacks(uint32_t count, uint64_t stack_bytes);
  static void warp_main(void* argument);
  void reset_warp(Warp& warp);
  void switch_to(uint32_t next);
  void switch_to_base(uint32_t index, Turn turn);
  Barrier& arrive(uint32_t id, uint32_t thread_count, uint32_t predicate_count);
  bool is_complete(const Barrier& barrier) const;
  void release(Barrier& barrier);
  void complete(Barrier& barrier);
  bool wait_for_others();
  bool release_exited();
  bool pick_next(uint32_t* out_next);
  void finish_warp();

  CodeGuard* guard_;
  uint64_t stack_bytes_ = 0;
  std::array<std::unique_ptr<Warp>, kMaxWarps> warps_;
  std::array<Barrier, kMaxBarriers> barriers_{};
  uint32_t prepared_ = 0;

  // The block that is running or suspended.
  const simt::LaunchRecord* record_ = nullptr;
  const CodeUnit* unit_ = nullptr;
  uint32_t count_ = 0;
  uint32_t current_ = 0;
  uint32_t runnable_ = 0;  // one bit per warp
  uint32_t exited_ = 0;    // one bit per warp
  uint32_t used_barriers_ = 0;
  uint32_t yields_ = 0;  // since the block last left its thread, or a warp ended
  bool begun_ = false;   // a warp may have frames on its stack
  bool running_ = false;
  Turn turn_ = Turn::finished;  // the result of run()
  void* base_position_ = nullptr;
  void* base_fake_stack_ = nullptr;
  void* base_tsan_fiber_ = nullptr;
  const void* base_low_ = nullptr;
  size_t base_size_ = 0;
};

}  // namespace km::cpu
