#include "simt/runtime/tensors/tensor_storage.h"

#include <algorithm>
#include <new>

namespace km::simt {

std::optional<uint32_t> TensorStorage::allocate(uint32_t columns) {
  if (!words_) {
    words_.reset(new (std::nothrow) uint32_t[uint64_t{kTensorLanes} * kTensorColumns]());
    scratch_.reset(new (std::nothrow) TensorCoreScratch);
    if (!scratch_) words_.reset();
    if (!words_) return std::nullopt;
  }
  const uint32_t units = columns / kTensorUnit;
  for (uint32_t first = 0; first + units <= kUnits; first += units) {
    const auto begin = owners_.begin() + first;
    if (!std::all_of(begin, begin + units, [](uint8_t owner) { return owner == kFree; })) continue;
    std::fill(begin, begin + units, static_cast<uint8_t>(first));
    return first * kTensorUnit;
  }
  return std::nullopt;
}

bool TensorStorage::release(uint32_t first, uint32_t columns) {
  if (first % kTensorUnit != 0 || first > kTensorColumns || columns > kTensorColumns - first)
    return false;
  const uint32_t unit = first / kTensorUnit, units = columns / kTensorUnit;
  const auto begin = owners_.begin() + unit;
  if (!std::all_of(begin, begin + units, [&](uint8_t owner) { return owner == unit; }))
    return false;
  if (unit + units < kUnits && owners_[unit + units] == unit) return false;
  std::fill(begin, begin + units, kFree);
  return true;
}

bool TensorStorage::has(uint32_t first, uint32_t columns) const {
  if (first > kTensorColumns || columns > kTensorColumns - first) return false;
  const auto begin = owners_.begin();
  return std::none_of(begin + first / kTensorUnit,
                      begin + (first + columns + kTensorUnit - 1) / kTensorUnit,
                      [](uint8_t owner) { return owner == kFree; });
}

const char* tensor_memory_problem_text(TensorProblem problem) {
  switch (problem) {
    case TensorProblem::column_count:
      return "columns are allocated and released in powers of two from 32 to 512";
    case TensorProblem::no_room:
      return "deadlock: tcgen05.alloc waits for ever, because the columns that the block has left "
             "are too few, and no other warp of it can release some; call tcgen05.dealloc first";
    case TensorProblem::relinquished:
      return "tcgen05.alloc follows tcgen05.relinquish_alloc_permit of the same block";
    case TensorProblem::no_allocation:
      return "tcgen05.dealloc names columns that are not those of one tcgen05.alloc";
    case TensorProblem::not_allocated:
      return "some of the columns are not allocated";
    case TensorProblem::other_lanes:
      return "a warp can access the 32 lanes of its place in its warpgroup only";
    case TensorProblem::lane_alignment:
      return "the lane is not one that this shape can start at";
    case TensorProblem::no_pair:
      return "'.cta_group::2' needs a cluster with an even number of blocks";
    case TensorProblem::shape:
      return "the instruction descriptor has rows (M) or columns (N) that this kind does not have";
    case TensorProblem::type:
      return "the instruction descriptor has a type that this kind does not have";
    case TensorProblem::sparsity:
      return "the instruction descriptor's bit for sparsity does not fit the instruction";
    case TensorProblem::swizzle:
      return "the matrix descriptor has a swizzle mode that does not exist for this matrix";
    case TensorProblem::transposed_type:
      return "matrices of this type cannot be transposed";
    case TensorProblem::scale_type:
      return "the instruction descriptor has a type of scales that this kind does not have";
    case TensorProblem::unsupported_k:
      return "products of 96 elements are not supported by this version";
    case TensorProblem::sparse_rows:
      return "products of a sparse A with fewer than 128 rows in a block are not supported by this "
             "version";
    case TensorProblem::column_shift:
      return "shifts of columns by the zero-column mask are not supported by this version";
    case TensorProblem::out_of_range:
      return "lanes or columns lie beyond the end of tensor memory";
    case TensorProblem::none:
      break;
  }
  return "it cannot be used";
}

}  // namespace km::simt
