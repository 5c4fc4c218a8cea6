// Memory of fftw_malloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace km::cufftw {

/// Memory for vectors, which free() frees; null if there is none.
inline void* allocate(size_t size_bytes) {
  constexpr size_t kAlignment = 64;
  if (size_bytes > SIZE_MAX - kAlignment) return nullptr;
  return std::aligned_alloc(kAlignment, (size_bytes + kAlignment) / kAlignment * kAlignment);
}

}  // namespace km::cufftw
