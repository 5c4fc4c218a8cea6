/* Products and solvers of sparse matrices, by a BLAS object.
 *
 * Example:
 *   const float one = 1, zero = 0;
 *   const km_blas_vector from = km_vector(x, 0, 1), to = km_vector(x, 64, 1);
 *   km_sparse_matrix a = km_sparse_csr(32, 32, 32);
 *   km_blas blas;
 *   a.offsets = km_place(x, 128);
 *   a.indices = km_place(x, 192);
 *   a.values = km_place(x, 224);
 *   KM_CHECK(km_blas_create(stream, KM_BLAS_LAYOUT_ROWS, &blas));
 *   KM_CHECK(km_sparse_mv(blas, KM_DATA_TYPE_F32, KM_BLAS_OPERATION_NONE, &one, &a, &from, &zero,
 *                         &to));
 *   KM_CHECK(km_blas_destroy(blas));
 *
 * Calls are queued and captured like those of BLAS, and return the same statuses (blas.h). `type`
 * is f32, f64, c32 or c64; values, dense operands and scalars have it. Increments of vectors are at
 * least 1, dense matrices have the BLAS object's layout, and the strides of arrays are not used.
 *
 * Offsets and indices are read when a call runs. One that points outside of the matrix, or offsets
 * that do not ascend, end the context with KM_ERROR_ILLEGAL_ADDRESS on CPUs, as a fault of a kernel
 * does; NVIDIA's library may read outside of the arrays instead. The nonzeros of a row need no
 * order, and those in one place count together. A beta of 0 overwrites, and does not read what was
 * there.
 */
#ifndef KERNELMILL_SPARSE_H
#define KERNELMILL_SPARSE_H

#include "blas.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t km_sparse_format;
enum {
  KM_SPARSE_FORMAT_INVALID = 0,
  KM_SPARSE_FORMAT_CSR = 1, /* the nonzeros row by row */
  KM_SPARSE_FORMAT_CSC = 2, /* the nonzeros column by column */
  KM_SPARSE_FORMAT_COO = 3  /* the row and the column of each nonzero, sorted by rows */
};

/* Input of km_sparse_...: a matrix and where it lies. Its layout never changes. */
typedef struct km_sparse_matrix {
  km_sparse_format format;
  uint32_t index_size_bytes; /* 4 or 8, of offsets and indices */
  uint32_t index_base;       /* 0 or 1: what the first row and column are called */
  uint32_t reserved;         /* 0 */
  uint64_t rows, columns, nonzeros;
  km_array offsets; /* CSR: rows + 1 numbers; CSC: columns + 1; COO: the row of each nonzero */
  km_array indices; /* the column of each nonzero; CSC: its row */
  km_array values;
} km_sparse_matrix;
KM_CHECK_SIZE(km_sparse_matrix, 136);

/** y = alpha op(A) x + beta y. CUDA: cusparseSpMV. */
KM_API km_status km_sparse_mv(km_blas blas, km_data_type type, km_blas_operation operation,
                              const void* alpha, const km_sparse_matrix* a, const km_blas_vector* x,
                              const void* beta, const km_blas_vector* y) KM_NOEXCEPT;

/** C = alpha op(A) op(B) + beta C with `columns` columns of op(B) and C. CUDA: cusparseSpMM. */
KM_API km_status km_sparse_mm(km_blas blas, km_data_type type, km_blas_operation operation_a,
                              km_blas_operation operation_b, uint64_t columns, const void* alpha,
                              const km_sparse_matrix* a, const km_blas_matrix* b, const void* beta,
                              const km_blas_matrix* c) KM_NOEXCEPT;

/** Solves op(A) y = alpha x for a triangular matrix; nonzeros of the other triangle are not used,
 * nor is the diagonal if it is KM_BLAS_DIAGONAL_UNIT. y may be x. CUDA: cusparseSpSV. */
KM_API km_status km_sparse_sv(km_blas blas, km_data_type type, km_blas_operation operation,
                              km_blas_triangle triangle, km_blas_diagonal diagonal,
                              const void* alpha, const km_sparse_matrix* a, const km_blas_vector* x,
                              const km_blas_vector* y) KM_NOEXCEPT;

/** Solves op(A) C = alpha B for a triangular matrix and `columns` columns. C may be B. CUDA:
 * cusparseSpSM. */
KM_API km_status km_sparse_sm(km_blas blas, km_data_type type, km_blas_operation operation,
                              km_blas_triangle triangle, km_blas_diagonal diagonal,
                              uint64_t columns, const void* alpha, const km_sparse_matrix* a,
                              const km_blas_matrix* b, const km_blas_matrix* c) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
