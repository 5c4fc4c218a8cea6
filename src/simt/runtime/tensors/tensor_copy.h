// Copies and reductions between tensors in global memory and boxes in shared memory, by tensor maps
// (TensorRuntime::copy_tensor): cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
#pragma once

#include <cstdint>

#include "base/cuda/tensor_map.h"
#include "simt/abi.h"

namespace km::simt {

enum class TensorOperation : uint8_t { load, store, add, min, max, inc, dec, and_, or_, xor_ };
inline bool is_reduction(TensorOperation operation) { return operation > TensorOperation::store; }

/// One form of the instructions; a constant of the object.
struct TensorCopyForm {
  uint32_t line = 0;  // in the PTX text
  TensorOperation operation = TensorOperation::load;
  TensorMode mode = TensorMode::tiled;
  uint8_t rank = 0;
  bool is_multicast = false;
};

/// Operands of 32 lanes, and what comes back.
struct TensorCopySlots {
  uint64_t maps[kWarpLanes];    // addresses of tensor maps
  uint64_t shared[kWarpLanes];  // addresses of boxes
  uint64_t sizes[kWarpLanes];   // out: bytes that were copied
  int32_t coordinates[kMostTensorDimensions][kWarpLanes];
  uint32_t offsets[kMostPixelDimensions][kWarpLanes];  // im2col
  uint32_t ranks[kWarpLanes];                          // multicast: the blocks, a bit for each
  uint64_t own_rank, cluster_bits, cluster_blocks;     // multicast
};

/// The parts of a tensor map that tensormap.replace writes.
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

/// A tensor map that cannot be used: the size of this fault is a TensorMapProblem or a
/// TensorCopyProblem.
constexpr auto kBadTensorMap = static_cast<FaultKind>(0x102);
enum class TensorCopyProblem : uint32_t {
  other_rank = 0x100,  // than the instruction's
  other_mode,          // than the instruction's
  operation_of_type,   // the reduction has none of this type
  out_of_range,        // tensormap.replace: of a dimension
};
/// A text that names the problem, as the end of a sentence; `problem` is one of either kind.
const char* tensor_problem_text(uint64_t problem);

struct TensorFault {
  FaultKind kind = FaultKind::none;
  uint64_t address = 0, size_bytes = 0;
};

/// The place of a copy in shared memory, and the test of its accesses.
struct TensorPlace {
  uint8_t* shared_window = nullptr;  // offset 0 of shared memory, from which swizzles count
  uint64_t box = 0;                  // address in shared memory
  /// False if the launch may not access these bytes; null: not checked.
  bool (*may_access)(void* context, uint64_t address, uint64_t size_bytes) = nullptr;
  void* context = nullptr;
};

/// Makes the copy for one lane of the slots. Faults of memory are left to the signal handler.
TensorFault copy_tensor(const TensorCopyForm& form, const TensorCopySlots& slots, uint32_t lane,
                        const TensorPlace& place, uint64_t* out_size_bytes);

/// Writes one part of the map at `map`, which holds one or is zero; gives what is wrong or 0.
uint64_t replace_field(TensorMap* map, TensorMapField field, uint32_t ordinal, uint64_t value);

}  // namespace km::simt
