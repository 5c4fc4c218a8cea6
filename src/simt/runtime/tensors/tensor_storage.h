// Tensor memory of compute capability 10.0: 128 lanes of 512 words for each block. A tensor address
// has the lane in its upper and the column in its lower half.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "simt/abi.h"
#include "simt/runtime/tensors/tensor_core_scratch.h"

namespace km::simt {

constexpr uint32_t kTensorLanes = 128, kTensorColumns = 512;
constexpr uint32_t kTensorUnit = 32;  // columns are allocated in multiples of this

constexpr uint32_t tensor_lane(uint32_t address) { return address >> 16; }
constexpr uint32_t tensor_column(uint32_t address) { return address & 0xffff; }

/// The tensor memory of one block, with the allocation of its columns. Its words are created at the
/// first allocation and keep their contents from block to block.
class TensorStorage {
 public:
  /// Starts a block, which has nothing allocated.
  void begin() {
    owners_.fill(kFree);
    is_relinquished_ = false;
  }
  /// Allocates a power of two of columns at a multiple of their number; none if there is no room.
  /// Fails, too, without host memory.
  std::optional<uint32_t> allocate(uint32_t columns);
  /// Releases what allocate() returned; false if these columns are not one allocation.
  bool release(uint32_t first, uint32_t columns);
  /// The block may not allocate any more.
  void relinquish() { is_relinquished_ = true; }
  bool is_relinquished() const { return is_relinquished_; }
  /// True if all of these columns are allocated.
  bool has(uint32_t first, uint32_t columns) const;

  /// The words of a lane.
  uint32_t* lane(uint32_t index) { return words_.get() + uint64_t{index} * kTensorColumns; }

  /// Memory for products, once something is allocated.
  TensorCoreScratch* scratch() { return scratch_.get(); }

 private:
  static constexpr uint32_t kUnits = kTensorColumns / kTensorUnit;
  static constexpr uint8_t kFree = 255;

  std::unique_ptr<uint32_t[]> words_;
  std::unique_ptr<TensorCoreScratch> scratch_;
  // The first unit of the allocation that each unit of columns belongs to.
  std::array<uint8_t, kUnits> owners_ = [] {
    std::array<uint8_t, kUnits> all{};
    all.fill(kFree);
    return all;
  }();
  bool is_relinquished_ = false;
};

/// The reasons why an instruction of tensor memory ends the launch.
enum class TensorProblem : uint32_t {
  none,
  column_count,     // alloc, dealloc: not a power of two from 32 to 512
  no_room,          // alloc: waits for columns that nobody releases
  relinquished,     // alloc after relinquish_alloc_permit
  no_allocation,    // dealloc of columns that are not one allocation
  not_allocated,    // an access of other columns
  other_lanes,      // ld, st: lanes of another warp
  lane_alignment,   // lanes that do not start where the shape requires
  no_pair,          // .cta_group::2 without a pair of blocks
  shape,            // M or N that the kind does not have
  type,             // a type that the kind does not have
  sparsity,         // the descriptor's bit for sparsity contradicts the instruction
  swizzle,          // a mode that does not exist, or not for this type
  transposed_type,  // the transposed layout does not exist for the type
  scale_type,       // a type of scales that the kind does not have
  unsupported_k,    // products of 96 elements
  sparse_rows,      // a sparse A of fewer than 128 rows in a block
  column_shift,     // a descriptor of zero columns that shifts columns
  out_of_range,     // lanes or columns beyond the end of tensor memory
};
/// The fault of such an instruction; its size field holds the TensorProblem, its address the value
/// that is wrong.
constexpr auto kBadTensorMemory = static_cast<FaultKind>(0x103);
/// The end of a sentence that names the problem.
const char* tensor_memory_problem_text(TensorProblem problem);

}  // namespace km::simt
