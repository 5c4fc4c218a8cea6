// BLAS calls: by OpenBLAS, and for f16 and bf16 by our own code.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/interface.h"
#include "backends/cpu/blas/openblas.h"
#include "backends/cpu/command/task.h"

namespace km::cpu {

/// The call as work for up to `threads` threads.
Result<std::shared_ptr<const Task>> make_blas_task(const kmb_blas_call& call, uint32_t threads);

/// The call with the values that its scalars in device memory have now.
kmb_blas_call read_device_scalars(const kmb_blas_call& call);

/// One call of OpenBLAS.
void run_openblas(const OpenBlas& library, const kmb_blas_call& call);

/// How a call is cut up: into rows and columns of what it writes, and matrices of a batch.
struct BlasCut {
  uint64_t rows = 1, columns = 1, batches = 1;
  bool is_triangle = false;  // the blocks on and beside the diagonal
  uint64_t pieces() const {
    return (is_triangle ? rows * (rows + 1) / 2 : rows * columns) * batches;
  }
};
BlasCut cut_blas(const kmb_blas_call& call, uint32_t threads);
/// Does one piece.
void run_blas_piece(const OpenBlas& library, const kmb_blas_call& call, const BlasCut& cut,
                    uint64_t piece);

uint32_t blas_element_bytes(km_data_type type);
/// Bytes from the matrix's first element to this one.
uint64_t blas_element_offset(const kmb_blas_call& call, const kmb_blas_array& matrix, uint64_t row,
                             uint64_t column);
/// About the time that the call takes one thread.
float blas_ticks(const kmb_blas_call& call);
const char* blas_name(const kmb_blas_call& call);

/// [begin, end) of part `index` of `count`, at multiples of `grain`.
struct BlasRange {
  uint64_t begin, end;
  uint64_t size() const { return end - begin; }
};
BlasRange blas_range(uint64_t size, uint64_t count, uint64_t index, uint64_t grain);
/// Parts that a size is worth cutting into, of at least `least` each.
uint64_t blas_parts(uint64_t size, uint64_t most, uint64_t least);
/// The cut of an m x n result for `threads` threads, as square as it can be.
void cut_rectangle(uint64_t m, uint64_t n, uint64_t threads, uint64_t least, BlasCut* out);

}  // namespace km::cpu
