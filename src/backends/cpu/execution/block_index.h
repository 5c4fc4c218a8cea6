// Block indices within the grid.
#pragma once

#include <cstdint>

#include "simt/abi.h"

namespace km::cpu {

/// Sets the state to the block with this linear index.
inline void set_block(simt::BlockState* state, const simt::LaunchRecord& record, uint64_t index) {
  uint64_t row = index / record.grid[0];
  state->block[0] = static_cast<uint32_t>(index % record.grid[0]);
  state->block[1] = static_cast<uint32_t>(row % record.grid[1]);
  state->block[2] = static_cast<uint32_t>(row / record.grid[1]);
}

/// Sets the state to the first block of the grid's next row.
inline void begin_row(simt::BlockState* state, const simt::LaunchRecord& record) {
  state->block[0] = 0;
  if (++state->block[1] < record.grid[1]) return;
  state->block[1] = 0;
  ++state->block[2];
}

/// Sets the state to the block of this rank in the cluster with this index.
inline void set_block_of_cluster(simt::BlockState* state, const simt::LaunchRecord& record,
                                 uint64_t index, uint32_t rank) {
  for (int i = 0; i < 3; ++i) {
    const uint32_t size = record.cluster[i], count = record.grid[i] / size;
    state->block[i] = static_cast<uint32_t>(index % count) * size + rank % size;
    index /= count;
    rank /= size;
  }
}

}  // namespace km::cpu
