/* Factors, solvers, eigenvalues and singular values of dense matrices, by a BLAS object.
 *
 * Example:
 *   const km_blas_matrix a = km_matrix(x, 0, 4), b = km_matrix(x, 16, 4);
 *   const km_array info = km_place(x, 32);
 *   const km_blas_triangle lower = KM_BLAS_TRIANGLE_LOWER;
 *   km_blas blas;
 *   KM_CHECK(km_blas_create(stream, KM_BLAS_LAYOUT_COLUMNS, &blas));
 *   KM_CHECK(km_solve_potrf(blas, KM_DATA_TYPE_F32, lower, 4, 1, &a, &info));
 *   KM_CHECK(km_solve_potrs(blas, KM_DATA_TYPE_F32, lower, 4, 1, 1, &a, &b, &info));
 *   KM_CHECK(km_blas_destroy(blas));
 *
 * Calls are queued and captured like those of BLAS, and return the same statuses (blas.h), also
 * KM_ERROR_NOT_SUPPORTED when the device's libraries have no such routine. `type` is f32, f64, c32
 * or c64; real numbers of complex matrices (eigenvalues, singular values) are f32 or f64. Each call
 * works on `batch_count` matrices, whose arrays begin `stride` elements apart; those that are only
 * read may have a stride of 0, which is one array for all. `info` is one int32_t for each matrix,
 * also for one without elements: 0, or the number i from 1 on of what LAPACK reports for the
 * routine, such as the leading minor that is not positive definite. Results of a matrix whose info
 * is not 0 are unspecified. With numbers that are not finite, results are NaN or info is not 0.
 * Matrices have the BLAS object's layout. docs/guide/solve.md names the library that is used.
 */
#ifndef KERNELMILL_SOLVE_H
#define KERNELMILL_SOLVE_H

#include "blas.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t km_solve_vectors;
enum {
  KM_SOLVE_VECTORS_INVALID = 0,
  KM_SOLVE_VECTORS_NONE = 1,
  KM_SOLVE_VECTORS_THIN = 2, /* as many as there are values */
  KM_SOLVE_VECTORS_ALL = 3
};

/** A = L L^H or U^H U, the Cholesky factor in the triangle of `a` that is read. CUDA:
 * cusolverDn<t>potrf. */
KM_API km_status km_solve_potrf(km_blas blas, km_data_type type, km_blas_triangle triangle,
                                uint64_t n, uint64_t batch_count, const km_blas_matrix* a,
                                const km_array* info) KM_NOEXCEPT;

/** Solves A X = B by potrf's factor; X overwrites the n x columns matrix B. CUDA:
 * cusolverDn<t>potrs. */
KM_API km_status km_solve_potrs(km_blas blas, km_data_type type, km_blas_triangle triangle,
                                uint64_t n, uint64_t columns, uint64_t batch_count,
                                const km_blas_matrix* a, const km_blas_matrix* b,
                                const km_array* info) KM_NOEXCEPT;

/** P A = L U of an m x n matrix, which the factors overwrite. `pivots` gets min(m, n) int32_t: row
 * i was exchanged with row `pivots[i]`, from 1 on. CUDA: cusolverDn<t>getrf. */
KM_API km_status km_solve_getrf(km_blas blas, km_data_type type, uint64_t m, uint64_t n,
                                uint64_t batch_count, const km_blas_matrix* a,
                                const km_array* pivots, const km_array* info) KM_NOEXCEPT;

/** Solves op(A) X = B by getrf's factors; X overwrites the n x columns matrix B. On the CPU, info
 * is i and B is left as it is if `pivots[i - 1]` is not the number of a row; on GPUs, pivots have
 * to be getrf's. CUDA: cusolverDn<t>getrs. */
KM_API km_status km_solve_getrs(km_blas blas, km_data_type type, km_blas_operation operation,
                                uint64_t n, uint64_t columns, uint64_t batch_count,
                                const km_blas_matrix* a, const km_array* pivots,
                                const km_blas_matrix* b, const km_array* info) KM_NOEXCEPT;

/** A = Q R of an m x n matrix: R in the upper triangle of `a`, below it and in the min(m, n)
 * numbers of `tau` the reflections that make Q. CUDA: cusolverDn<t>geqrf. */
KM_API km_status km_solve_geqrf(km_blas blas, km_data_type type, uint64_t m, uint64_t n,
                                uint64_t batch_count, const km_blas_matrix* a, const km_array* tau,
                                const km_array* info) KM_NOEXCEPT;

/** The first `n` columns of Q of m rows from the k reflections of geqrf, which they overwrite; n is
 * at most m, and k at most n. CUDA: cusolverDn<t>orgqr, cusolverDn<t>ungqr. */
KM_API km_status km_solve_orgqr(km_blas blas, km_data_type type, uint64_t m, uint64_t n, uint64_t k,
                                uint64_t batch_count, const km_blas_matrix* a, const km_array* tau,
                                const km_array* info) KM_NOEXCEPT;

/** C = op(Q) C or C op(Q) for an m x n matrix C and the k reflections of geqrf in the columns of
 * `a`, which has as many rows as Q. Complex types know no transposition without conjugation. CUDA:
 * cusolverDn<t>ormqr, cusolverDn<t>unmqr. */
KM_API km_status km_solve_ormqr(km_blas blas, km_data_type type, km_blas_side side,
                                km_blas_operation operation, uint64_t m, uint64_t n, uint64_t k,
                                uint64_t batch_count, const km_blas_matrix* a, const km_array* tau,
                                const km_blas_matrix* c, const km_array* info) KM_NOEXCEPT;

/** The eigenvalues of a symmetric or Hermitian matrix in ascending order, n real numbers; with
 * vectors (NONE or ALL), they overwrite `a` column by column, otherwise `a` is destroyed. CUDA:
 * cusolverDn<t>syevd, cusolverDn<t>heevd. */
KM_API km_status km_solve_syevd(km_blas blas, km_data_type type, km_solve_vectors vectors,
                                km_blas_triangle triangle, uint64_t n, uint64_t batch_count,
                                const km_blas_matrix* a, const km_array* eigenvalues,
                                const km_array* info) KM_NOEXCEPT;

/** A = U S V^H of an m x n matrix, which is destroyed: the min(m, n) singular values, real and in
 * descending order, U with m rows and V^H with n columns. `u` and `vh` may be null without vectors.
 * CUDA: cusolverDn<t>gesvd. */
KM_API km_status km_solve_gesvd(km_blas blas, km_data_type type, km_solve_vectors vectors,
                                uint64_t m, uint64_t n, uint64_t batch_count,
                                const km_blas_matrix* a, const km_array* singular_values,
                                const km_blas_matrix* u, const km_blas_matrix* vh,
                                const km_array* info) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
