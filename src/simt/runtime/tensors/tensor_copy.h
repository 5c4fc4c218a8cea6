// Copies and reductions between tensors in global memory and boxes in shared memory, by tensor maps
// (TensorRuntime::copy_tensor): cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
#pragma once

#include <cstdint>

#include "base/cuda/tensor_map.h"
#include "simt/abi.h"

namespace km::simt {

enum class TensorOperation : uint8_t { load, store, add, min, max, inc, dec, and_, or_, xor_ };
inline bool is_reduction(TensorOperation operation) { return operation > TensorOperation::store; }

/// A form of the instructions, which generated code refers to as a constant.
struct TensorCopyForm {
  uint32_t line = 0;  // in the PTX text
  TensorOperation operation = TensorOperation::load;
  TensorMode mode = TensorMode::tiled;
  uint8_t rank = 0;
  bool is_multicast = false;
};

/// The operands and results of 32 lanes.
struct TensorCopySlots {
  uint64_t maps[kWarpLanes];    // addresses of tensor maps
  uint64_t shared[kWarpLanes];  // addresses of boxes
  uint64_t sizes[kWarpLanes];   // result: bytes copied
  int32_t coordinates[kMostTensorDimensions][kWarpLanes];
  uint32_t offsets[kMostPixelDimensions][kWarpLanes];  // im2col
  uint32_t ranks[kWarpLanes];                          // multicast: bit mask of the blocks
  uint64_t own_rank, cluster_bits, cluster_blocks;     // multicast
};

/// The fields of a tensor map that tensormap.replace writes.
enum class TensorMapField : uint32_t {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  swizzle_atomicity,
  fill_mode,
};

/// The fault of an invalid tensor map; its size field holds a TensorMapProblem or a
/// TensorCopyProblem.
constexpr auto kBadTensorMap = static_cast<FaultKind>(0x102);
enum class TensorCopyProblem : uint32_t {
  other_rank = 0x100,  // the map's rank differs from the instruction's
  other_mode,          // the map's mode differs from the instruction's
  operation_of_type,   // the reduction does not exist for this type
  out_of_range,        // tensormap.replace: dimension out of range
};
/// The end of a sentence that names the problem, of either kind.
const char* tensor_problem_text(uint64_t problem);

struct TensorFault {
  FaultKind kind = FaultKind::none;
  uint64_t address = 0, size_bytes = 0;
};

/// The shared-memory side of a copy, and the check of its accesses.
struct TensorPlace {
  uint8_t* shared_window = nullptr;  // start of shared memory, the origin of swizzle patterns
  uint64_t box = 0;                  // address in shared memory
  /// Returns false if the launch may not access these bytes; null: no check. `content` is what is
  /// stored there, or null.
  bool (*may_access)(void* context, uint64_t address, uint64_t size_bytes,
                     const uint8_t* content) = nullptr;
  void* context = nullptr;
  /// Receives what a load writes to the box. `content` is null if the box has it already.
  void (*report_box)(void* context, uint64_t size_bytes, const uint8_t* content) = nullptr;
  /// Memory for a box, in which a load makes the content before it is reported; null: there is
  /// none.
  uint8_t* image = nullptr;
  uint64_t shared_bytes = 0;  // from `shared_window` on, and of `image`
};

/// Performs the copy of one lane. Memory faults are left to the signal handler.
TensorFault copy_tensor(const TensorCopyForm& form, const TensorCopySlots& slots, uint32_t lane,
                        const TensorPlace& place, uint64_t* out_size_bytes);

/// Writes one field of the map at `map`, which is valid or zero; returns the problem, or 0.
uint64_t replace_field(TensorMap* map, TensorMapField field, uint32_t ordinal, uint64_t value);

}  // namespace km::simt
