// The memory that one request of a warp takes, computed from its addresses as a GPU would.
#pragma once

#include <cstdint>

namespace km::cpu {

constexpr uint32_t kSectorBytes = 32;    // the unit in which a GPU fetches global memory
constexpr uint32_t kBankRowBytes = 128;  // what all 32 banks of shared memory give at once

/// Work of the memory, and the least that the same data would take in the best order.
struct RequestCost {
  uint32_t taken = 0, ideal = 0;
};

/// The lanes of a warp that access memory, with the size of each one's access.
struct WarpRequest {
  const uint64_t* addresses = nullptr;  // of each lane, multiples of the size
  uint32_t lanes = 0;                   // one bit for each that accesses memory; not 0
  uint32_t size_bytes = 0;              // a power of two
};

/// The sectors of global memory that a request touches.
RequestCost sectors_of(const WarpRequest& request);

/// The wavefronts of a request to shared memory: 32 banks of 4 bytes, lanes of one word share it,
/// and accesses of 8 and 16 bytes take half and quarter warps. `excludes`: lanes share no word, as
/// atomics do not. Wavefronts beyond the ideal ones are bank conflicts.
RequestCost wavefronts_of(const WarpRequest& request, bool excludes);

}  // namespace km::cpu
