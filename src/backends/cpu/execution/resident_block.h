// Blocks that are suspended while they wait (modes b and c), with the memory that each needs. A
// thread runs several of them in turn, and starts more while all of its own wait.
#pragma once

#include <cstdint>

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
  virtual ~ResidentBlock() = default;

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

  simt::BlockState* state() { return &state_; }
  const simt::BlockState* state() const { return &state_; }
  Cluster* cluster() const { return cluster_; }
  uint8_t* window() const { return window_.data(); }
  simt::TensorStorage& tensor_storage() { return tensor_storage_; }

 protected:
  virtual void start() = 0;
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

 private:
  Cluster* cluster_ = nullptr;
  uint32_t cluster_round_ = 0;
  bool waits_for_cluster_ = false;
  simt::TensorStorage tensor_storage_;
  GuardedRange window_, scratch_;
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
