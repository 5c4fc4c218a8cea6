// The PTX modules with the library's kernels.
#pragma once

#include "dropin/library/kernels.h"

namespace km::cublas {

/// Kernels that pack operands and finish products.
library::KernelModule& product_kernels();
/// Kernels for vector routines that km_blas lacks.
library::KernelModule& vector_kernels();
/// Kernels for rotations whose scalars are in device memory.
library::KernelModule& rotation_kernels();
/// Kernels for batches of small matrices: factorisations, solves and inverses.
library::KernelModule& dense_kernels();

/// The suffix of a kernel's name: "f32", "f64", "c32" or "c64"; null if no kernel has the type.
const char* kernel_suffix(km_data_type type);

/// The number of blocks that contain at least `count` threads.
inline unsigned blocks_of(uint64_t count, unsigned threads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

}  // namespace km::cublas
