// Mode b: the warps of one block, each on a guarded stack of its own, switched at barriers and in
// loops that wait. Mode a, where loops wait for other blocks: the same with one stack for all
// warps. All of it happens on one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "backends/cpu/execution/resident_block.h"
#include "backends/cpu/fault/fault.h"
#include "backends/cpu/memory/address_space.h"
#include "simt/abi.h"

namespace km::cpu {

class FiberBlock : public ResidentBlock {
 public:
  explicit FiberBlock(CodeGuard* guard) : guard_(guard) {}
  ~FiberBlock() override;

  bool prepare(const CodeUnit& unit, uint64_t shared_bytes, uint32_t warp_count) override;
  /// Called on the engine's stack.
  Turn run(const simt::LaunchRecord* record, const CodeUnit& unit) override;

  /// After a fault has left run(): tells the sanitizers whose stack this is, first of all.
  void return_to_base();
  /// Then forgets the warps that were left in the middle.
  void abandon();

  // Called by the running warp. False: no warp can ever go on.
  bool barrier_wait(uint32_t id, uint32_t thread_count, uint32_t predicate_count,
                    uint32_t* out_predicates, uint64_t pc);
  void barrier_arrive(uint32_t id, uint32_t thread_count);
  /// The warp waits for memory to change: others go on, and when all that can run wait as well, the
  /// thread's other blocks.
  void yield(uint64_t pc);
  Place place() const override { return {warps_[current_]->pc, 0, current_ * simt::kWarpLanes}; }

  /// Room below the running warp's stack pointer; 0 when no warp runs.
  uint64_t stack_low() const { return running_ ? warps_[current_]->stack.begin() : 0; }

 private:
  struct Warp {
    FiberBlock* set = nullptr;
    GuardedRange stack;
    void* position = nullptr;
    void* fake_stack = nullptr;
    void* tsan_fiber = nullptr;
    uint32_t index = 0;
    uint32_t barrier = 0;
    uint32_t predicates = 0;
    uint64_t pc = 0;  // where it waited last
  };
  struct Barrier {
    uint32_t arrived = 0;   // warps
    uint32_t expected = 0;  // threads, 0: all of the block
    uint32_t predicates = 0;
    uint32_t waiting = 0;  // a bit per warp
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

  // The block that runs.
  const simt::LaunchRecord* record_ = nullptr;
  const CodeUnit* unit_ = nullptr;
  uint32_t count_ = 0;
  uint32_t current_ = 0;
  uint32_t runnable_ = 0;  // a bit per warp
  uint32_t exited_ = 0;    // warps
  uint32_t used_barriers_ = 0;
  uint32_t yields_ = 0;  // since the block last gave its thread away, or a warp ended
  bool begun_ = false;   // some warp may have frames on its stack
  bool running_ = false;
  Turn turn_ = Turn::finished;  // how run() ends
  void* base_position_ = nullptr;
  void* base_fake_stack_ = nullptr;
  void* base_tsan_fiber_ = nullptr;
  const void* base_low_ = nullptr;
  size_t base_size_ = 0;
};

}  // namespace km::cpu
