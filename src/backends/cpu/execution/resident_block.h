// Blocks that are suspended while they wait (modes b and c), with the memory that each needs. A
// thread runs several of them in turn, and starts more while all of its own wait.
#pragma once

#include <cstdint>
#include <memory>

#include "backends/cpu/check/block_checks.h"
#include "backends/cpu/execution/cluster.h"
#include "backends/cpu/execution/code_unit.h"
#include "backends/cpu/memory/address_space.h"
#include "simt/abi.h"
#include "simt/kernel/warpgroup_rules.h"
#include "simt/runtime/tensors/tensor_storage.h"

namespace km::cpu {

/// The most blocks that one thread runs at the same time.
constexpr uint32_t kMaxResidentBlocks = 256;

constexpr uint32_t kMaxWarps = 32;
constexpr uint32_t kMaxBarriers = simt::kWarpgroupBarrier + simt::kMostWarpgroups;

class ResidentBlock {
 public:
  enum class Turn { finished, progress, waiting, deadlock };

  ResidentBlock() = default;
  ResidentBlock(const ResidentBlock&) = delete;
  ResidentBlock& operator=(const ResidentBlock&) = delete;
  virtual ~ResidentBlock();

  /// Allocates memory for blocks of this kernel; false if there is none.
  virtual bool prepare(const CodeUnit& unit, uint64_t shared_bytes, uint32_t warp_count);
  /// Starts a block; `state` has everything but the memory. If `cluster` is not null, shared memory
  /// comes from it.
  void begin(const simt::BlockState& state, uint32_t thread_count, Cluster* cluster, uint32_t rank);
  /// Runs every warp that can continue until it waits.
  virtual Turn run(const simt::LaunchRecord* record, const CodeUnit& unit) = 0;

  /// The place where a warp of a waiting block is: the address of an instruction or a line in the
  /// PTX text; 0 if unknown.
  struct Place {
    uint64_t pc = 0;
    uint32_t line = 0;
    uint32_t first_thread = 0;  // of the warp
  };
  virtual Place place() const = 0;

  /// Sets the order of the warps and lanes of blocks that begin later; null: the usual one.
  void set_schedule(simt::Schedule* schedule) { schedule_ = schedule; }
  /// Starts the checker on a block that has begun.
  void begin_checks(const BlockChecks::Block& block);
  /// Stops it, for blocks of launches without a checker.
  void end_checks() { is_checked_ = false; }
  /// The checker's knowledge of the block; null: it is not checked.
  BlockChecks* checks() { return is_checked_ ? checks_.get() : nullptr; }

  simt::BlockState* state() { return &state_; }
  const simt::BlockState* state() const { return &state_; }
  Cluster* cluster() const { return cluster_; }
  uint8_t* window() const { return window_.data(); }
  simt::TensorStorage& tensor_storage() { return tensor_storage_; }

 protected:
  virtual void start() = 0;
  /// Tells the checker that a warp arrives at a barrier.
  void note_arrival(uint32_t barrier, uint32_t warp, bool waits) {
    if (is_checked_) [[unlikely]]
      checks_->clock().arrive(barrier, warp, waits);
  }
  /// Tells the checker that a barrier of so many threads (0: all) opens.
  void note_opening(uint32_t barrier, uint32_t expected) {
    if (is_checked_) [[unlikely]]
      open_checked(barrier, expected);
  }
  /// Called when all threads of the block are at the cluster's barrier. True if those of all its
  /// blocks are.
  bool sync_cluster();
  /// True while it waits for other blocks there.
  bool waits_for_cluster() const { return waits_for_cluster_; }
  /// True if the block waited there and the other blocks have arrived.
  bool has_synced_cluster();

  simt::BlockState state_{};
  uint64_t scratch_bytes_ = 0;  // for each warp
  uint32_t thread_count_ = 0;
  simt::Schedule* schedule_ = nullptr;

 private:
  void open_checked(uint32_t barrier, uint32_t expected);

  Cluster* cluster_ = nullptr;
  uint32_t cluster_round_ = 0;
  bool waits_for_cluster_ = false;
  simt::TensorStorage tensor_storage_;
  GuardedRange window_, scratch_;
  bool is_checked_ = false;
  std::unique_ptr<BlockChecks> checks_;
  bool has_shared_ = false;  // false: the window may still have the size of another kernel
};

/// Reserves address space for shared memory, whose offsets are signed 32-bit numbers from its
/// beginning.
GuardedRange reserve_window();
/// Reserves the window at its first use, and makes exactly `shared_bytes` of it accessible.
bool open_window(GuardedRange& window, uint64_t shared_bytes);
/// Enlarges scratch memory, which loses its content.
bool grow_scratch(GuardedRange& scratch, uint64_t needed_bytes, const CodeUnit& unit);

}  // namespace km::cpu
