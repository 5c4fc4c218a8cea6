/* BLAS level 2 (matrices with vectors) and level 3 (matrices with matrices). blas.h has the objects
 * and the rules for every call.
 *
 * Example:
 *   const float one = 1, zero = 0;
 *   km_blas blas;
 *   km_slice c;
 *   const km_blas_matrix a = km_matrix(x, 0, 16);
 *   KM_CHECK(km_slice_create(context, 256, sizeof(float), KM_SLICE_DEFAULT, &c));
 *   const km_blas_matrix product = km_matrix(c, 0, 16);
 *   KM_CHECK(km_blas_create(stream, KM_BLAS_LAYOUT_ROWS, &blas));
 *   KM_CHECK(km_blas_gemm(blas, KM_DATA_TYPE_F32, KM_BLAS_OPERATION_NONE,
 *                         KM_BLAS_OPERATION_TRANSPOSE, 16, 16, 16, &one, &a, &a, &zero, &product));
 *   KM_CHECK(km_stream_synchronize(stream));
 */
#ifndef KERNELMILL_BLAS_MATRIX_H
#define KERNELMILL_BLAS_MATRIX_H

#include "base.h"
#include "blas.h"

#ifdef __cplusplus
extern "C" {
#endif

/** y = alpha op(A) x + beta y. A is m x n. CUDA: cublas<t>gemv. */
KM_API km_status km_blas_gemv(km_blas blas, km_data_type type, km_blas_operation operation,
                              uint64_t m, uint64_t n, const void* alpha, const km_blas_matrix* a,
                              const km_blas_vector* x, const void* beta,
                              const km_blas_vector* y) KM_NOEXCEPT;

/** km_blas_gemv for a band matrix: m x n with `lower` diagonals below the main one and `upper`
 * above. In memory, line j (a column, or a row when stored by rows) has lower + upper + 1 elements,
 * the main diagonal's at `upper` (by rows: at `lower`). CUDA: cublas<t>gbmv. */
KM_API km_status km_blas_gbmv(km_blas blas, km_data_type type, km_blas_operation operation,
                              uint64_t m, uint64_t n, uint64_t lower, uint64_t upper,
                              const void* alpha, const km_blas_matrix* a, const km_blas_vector* x,
                              const void* beta, const km_blas_vector* y) KM_NOEXCEPT;

/** y = alpha A x + beta y for an n x n matrix that is symmetric or, for complex types, Hermitian;
 * only one triangle of it is read. CUDA: cublas<t>symv, cublas<t>hemv. */
KM_API km_status km_blas_symv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              uint64_t n, const void* alpha, const km_blas_matrix* a,
                              const km_blas_vector* x, const void* beta,
                              const km_blas_vector* y) KM_NOEXCEPT;

/** km_blas_symv for a band matrix with k diagonals above or below the main one, stored with k + 1
 * elements per line. CUDA: cublas<t>sbmv, cublas<t>hbmv. */
KM_API km_status km_blas_sbmv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              uint64_t n, uint64_t k, const void* alpha, const km_blas_matrix* a,
                              const km_blas_vector* x, const void* beta,
                              const km_blas_vector* y) KM_NOEXCEPT;

/** km_blas_symv for a packed triangle, whose n (n + 1) / 2 elements lie one after the other. CUDA:
 * cublas<t>spmv, cublas<t>hpmv. */
KM_API km_status km_blas_spmv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              uint64_t n, const void* alpha, const km_blas_matrix* a,
                              const km_blas_vector* x, const void* beta,
                              const km_blas_vector* y) KM_NOEXCEPT;

/** x = op(A) x for an n x n triangular matrix. CUDA: cublas<t>trmv. */
KM_API km_status km_blas_trmv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                              const km_blas_matrix* a, const km_blas_vector* x) KM_NOEXCEPT;

/** km_blas_trmv for a triangular band matrix with k diagonals next to the main one. CUDA:
 * cublas<t>tbmv. */
KM_API km_status km_blas_tbmv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                              uint64_t k, const km_blas_matrix* a,
                              const km_blas_vector* x) KM_NOEXCEPT;

/** km_blas_trmv for a packed triangle. CUDA: cublas<t>tpmv. */
KM_API km_status km_blas_tpmv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                              const km_blas_matrix* a, const km_blas_vector* x) KM_NOEXCEPT;

/** Solves op(A) z = x and puts z into x, for an n x n triangular matrix. A singular matrix is not
 * detected. CUDA: cublas<t>trsv. */
KM_API km_status km_blas_trsv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                              const km_blas_matrix* a, const km_blas_vector* x) KM_NOEXCEPT;

/** km_blas_trsv for a triangular band matrix with k diagonals next to the main one. CUDA:
 * cublas<t>tbsv. */
KM_API km_status km_blas_tbsv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                              uint64_t k, const km_blas_matrix* a,
                              const km_blas_vector* x) KM_NOEXCEPT;

/** km_blas_trsv for a packed triangle. CUDA: cublas<t>tpsv. */
KM_API km_status km_blas_tpsv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                              const km_blas_matrix* a, const km_blas_vector* x) KM_NOEXCEPT;

/** A = alpha x y^T + A. A is m x n. CUDA: cublas<t>ger, cublas<t>geru. */
KM_API km_status km_blas_ger(km_blas blas, km_data_type type, uint64_t m, uint64_t n,
                             const void* alpha, const km_blas_vector* x, const km_blas_vector* y,
                             const km_blas_matrix* a) KM_NOEXCEPT;

/** A = alpha x y^H + A: km_blas_ger with the complex conjugates of y. CUDA: cublas<t>gerc. */
KM_API km_status km_blas_gerc(km_blas blas, km_data_type type, uint64_t m, uint64_t n,
                              const void* alpha, const km_blas_vector* x, const km_blas_vector* y,
                              const km_blas_matrix* a) KM_NOEXCEPT;

/** A = alpha x x^T + A; only one triangle of A is read and written; for complex types A = alpha x
 * x^H + A with a real `alpha` (f32 or f64). CUDA: cublas<t>syr, cublas<t>her. */
KM_API km_status km_blas_syr(km_blas blas, km_data_type type, km_blas_triangle triangle, uint64_t n,
                             const void* alpha, const km_blas_vector* x,
                             const km_blas_matrix* a) KM_NOEXCEPT;

/** A = alpha x y^T + alpha y x^T + A in one triangle; for complex types A = alpha x y^H +
 * conj(alpha) y x^H + A. CUDA: cublas<t>syr2, cublas<t>her2. */
KM_API km_status km_blas_syr2(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              uint64_t n, const void* alpha, const km_blas_vector* x,
                              const km_blas_vector* y, const km_blas_matrix* a) KM_NOEXCEPT;

/** km_blas_syr for a packed triangle. CUDA: cublas<t>spr, cublas<t>hpr. */
KM_API km_status km_blas_spr(km_blas blas, km_data_type type, km_blas_triangle triangle, uint64_t n,
                             const void* alpha, const km_blas_vector* x,
                             const km_blas_matrix* a) KM_NOEXCEPT;

/** km_blas_syr2 for a packed triangle. CUDA: cublas<t>spr2, cublas<t>hpr2. */
KM_API km_status km_blas_spr2(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              uint64_t n, const void* alpha, const km_blas_vector* x,
                              const km_blas_vector* y, const km_blas_matrix* a) KM_NOEXCEPT;

/** C = alpha op(A) op(B) + beta C. C is m x n, op(A) m x k, op(B) k x n. f16 and bf16 are
 * multiplied and added in f32, `alpha` and `beta` are f32, and each element is rounded once. CUDA:
 * cublas<t>gemm, cublasGemmEx. */
KM_API km_status km_blas_gemm(km_blas blas, km_data_type type, km_blas_operation operation_a,
                              km_blas_operation operation_b, uint64_t m, uint64_t n, uint64_t k,
                              const void* alpha, const km_blas_matrix* a, const km_blas_matrix* b,
                              const void* beta, const km_blas_matrix* c) KM_NOEXCEPT;

/** km_blas_gemm for `batch_count` matrices each, which begin `stride` elements apart. A stride of 0
 * uses the same A or B for all. CUDA: cublas<t>gemmStridedBatched, cublasGemmStridedBatchedEx. */
KM_API km_status km_blas_gemm_strided_batched(km_blas blas, km_data_type type,
                                              km_blas_operation operation_a,
                                              km_blas_operation operation_b, uint64_t m, uint64_t n,
                                              uint64_t k, const void* alpha,
                                              const km_blas_matrix* a, const km_blas_matrix* b,
                                              const void* beta, const km_blas_matrix* c,
                                              uint64_t batch_count) KM_NOEXCEPT;

/** C = alpha A B + beta C, or alpha B A + beta C with the side right, for a symmetric A, only one
 * triangle of which is read. B and C are m x n. CUDA: cublas<t>symm. */
KM_API km_status km_blas_symm(km_blas blas, km_data_type type, km_blas_side side,
                              km_blas_triangle triangle, uint64_t m, uint64_t n, const void* alpha,
                              const km_blas_matrix* a, const km_blas_matrix* b, const void* beta,
                              const km_blas_matrix* c) KM_NOEXCEPT;

/** km_blas_symm for a Hermitian A; for real types it is km_blas_symm. CUDA: cublas<t>hemm. */
KM_API km_status km_blas_hemm(km_blas blas, km_data_type type, km_blas_side side,
                              km_blas_triangle triangle, uint64_t m, uint64_t n, const void* alpha,
                              const km_blas_matrix* a, const km_blas_matrix* b, const void* beta,
                              const km_blas_matrix* c) KM_NOEXCEPT;

/** C = alpha A A^T + beta C, or alpha A^T A + beta C with a transposition, in one triangle of C. C
 * is n x n, A n x k or k x n. CUDA: cublas<t>syrk. */
KM_API km_status km_blas_syrk(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, uint64_t n, uint64_t k,
                              const void* alpha, const km_blas_matrix* a, const void* beta,
                              const km_blas_matrix* c) KM_NOEXCEPT;

/** C = alpha A A^H + beta C, or alpha A^H A + beta C with a conjugate transposition, in one
 * triangle; `alpha` and `beta` are real. For real types it is km_blas_syrk. CUDA: cublas<t>herk. */
KM_API km_status km_blas_herk(km_blas blas, km_data_type type, km_blas_triangle triangle,
                              km_blas_operation operation, uint64_t n, uint64_t k,
                              const void* alpha, const km_blas_matrix* a, const void* beta,
                              const km_blas_matrix* c) KM_NOEXCEPT;

/** C = alpha A B^T + alpha B A^T + beta C, or alpha A^T B + alpha B^T A + beta C with a
 * transposition, in one triangle. CUDA: cublas<t>syr2k. */
KM_API km_status km_blas_syr2k(km_blas blas, km_data_type type, km_blas_triangle triangle,
                               km_blas_operation operation, uint64_t n, uint64_t k,
                               const void* alpha, const km_blas_matrix* a, const km_blas_matrix* b,
                               const void* beta, const km_blas_matrix* c) KM_NOEXCEPT;

/** C = alpha A B^H + conj(alpha) B A^H + beta C, or alpha A^H B + conj(alpha) B^H A + beta C with a
 * conjugate transposition, in one triangle; `beta` is real. For real types it is km_blas_syr2k.
 * CUDA: cublas<t>her2k. */
KM_API km_status km_blas_her2k(km_blas blas, km_data_type type, km_blas_triangle triangle,
                               km_blas_operation operation, uint64_t n, uint64_t k,
                               const void* alpha, const km_blas_matrix* a, const km_blas_matrix* b,
                               const void* beta, const km_blas_matrix* c) KM_NOEXCEPT;

/** B = alpha op(A) B, or alpha B op(A) with the side right, for a triangular A. B is m x n. CUDA:
 * cublas<t>trmm, in place. */
KM_API km_status km_blas_trmm(km_blas blas, km_data_type type, km_blas_side side,
                              km_blas_triangle triangle, km_blas_operation operation,
                              km_blas_diagonal diagonal, uint64_t m, uint64_t n, const void* alpha,
                              const km_blas_matrix* a, const km_blas_matrix* b) KM_NOEXCEPT;

/** Solves op(A) X = alpha B, or X op(A) = alpha B with the side right, and puts X into B, for a
 * triangular A. A singular matrix is not detected. CUDA: cublas<t>trsm. */
KM_API km_status km_blas_trsm(km_blas blas, km_data_type type, km_blas_side side,
                              km_blas_triangle triangle, km_blas_operation operation,
                              km_blas_diagonal diagonal, uint64_t m, uint64_t n, const void* alpha,
                              const km_blas_matrix* a, const km_blas_matrix* b) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
