// BLAS calls, by OpenBLAS or, for f16 and bf16, by the backend's own code.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/interface.h"
#include "backends/cpu/blas/openblas.h"
#include "backends/cpu/command/task.h"

namespace km::cpu {

/// Makes a task of the call for up to `threads` threads.
Result<std::shared_ptr<const Task>> make_blas_task(const kmb_blas_call& call, uint32_t threads);

/// A copy of the call with the current values of its scalars in device memory.
kmb_blas_call read_device_scalars(const kmb_blas_call& call);

/// Runs one call through OpenBLAS.
void run_openblas(const OpenBlas& library, const kmb_blas_call& call);

/// The cut of a call into rows and columns of its output and matrices of a batch.
struct BlasCut {
  uint64_t rows = 1, columns = 1, batches = 1;
  bool is_triangle = false;  // only the blocks on and beside the diagonal
  uint64_t pieces() const {
    return (is_triangle ? rows * (rows + 1) / 2 : rows * columns) * batches;
  }
};
BlasCut cut_blas(const kmb_blas_call& call, uint32_t threads);
/// Runs one piece of a cut call.
void run_blas_piece(const OpenBlas& library, const kmb_blas_call& call, const BlasCut& cut,
                    uint64_t piece);

uint32_t blas_element_bytes(km_data_type type);
/// The offset in bytes from the matrix's first element.
uint64_t blas_element_offset(const kmb_blas_call& call, const kmb_blas_array& matrix, uint64_t row,
                             uint64_t column);
/// The estimated time of the call on one thread.
float blas_estimated_ns(const kmb_blas_call& call);
const char* blas_name(const kmb_blas_call& call);

/// [begin, end) of part `index` of `count`, at multiples of `grain`.
struct BlasRange {
  uint64_t begin, end;
  uint64_t size() const { return end - begin; }
};
BlasRange blas_range(uint64_t size, uint64_t count, uint64_t index, uint64_t grain);
/// The number of parts of at least `least` each that a size is cut into.
uint64_t blas_parts(uint64_t size, uint64_t most, uint64_t least);
/// Cuts an m x n result for `threads` threads into pieces that are as square as possible.
void cut_rectangle(uint64_t m, uint64_t n, uint64_t threads, uint64_t least, BlasCut* out);

}  // namespace km::cpu
