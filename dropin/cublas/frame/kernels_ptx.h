// The modules of kernels that the library holds.
#pragma once

#include "dropin/library/kernels.h"

namespace km::cublas {

/// Packing and finishing of products.
library::KernelModule& product_kernels();
/// Vectors: what km_blas has no routine for.
library::KernelModule& vector_kernels();
/// Rotations of scalars in device memory.
library::KernelModule& rotation_kernels();
/// Batches of small matrices: factorisations, solutions, inverses.
library::KernelModule& dense_kernels();

/// "f32", "f64", "c32" or "c64" at the end of a kernel's name; null: no such kernels.
const char* kernel_suffix(km_data_type type);

/// The number of blocks that `count` threads need.
inline unsigned blocks_of(uint64_t count, unsigned threads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

}  // namespace km::cublas
