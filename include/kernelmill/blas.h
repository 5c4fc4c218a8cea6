/* BLAS objects, and level 1 (vectors). Matrices are in blas_matrix.h.
 *
 * Example:
 *   const float two = 2;
 *   km_blas blas;
 *   const km_blas_vector values = km_vector(x, 0, 1);
 *   KM_CHECK(km_blas_create(stream, KM_BLAS_LAYOUT_ROWS, &blas));
 *   KM_CHECK(km_blas_scal(blas, KM_DATA_TYPE_F32, 256, &two, &values));
 *   KM_CHECK(km_blas_destroy(blas));
 *   KM_CHECK(km_stream_synchronize(stream));
 *
 * Every call is queued in the stream of its object and returns at once; the memory that it uses is
 * kept until it is done. `type` is the type of the elements; f16 and bf16 are for km_blas_gemm and
 * its batches. Scalars (`alpha` and the like) are read from the host's memory before the call
 * returns, and are of `type` unless the comment says otherwise; results of reductions go to device
 * memory, as all other results do. Vectors with a negative increment begin at their end, as in
 * BLAS. A size of 0 has the effect that BLAS specifies, which is none for most routines. A `beta`
 * of 0 overwrites the result without reading its old values. An array that is written may
 * interleave with others in the same slice, but may not share elements with them. A captured call
 * becomes a node of the graph. docs/guide/blas.md names the BLAS library that is used.
 *
 * In addition to the statuses in base.h, each call that takes arrays can return
 *  - KM_ERROR_INVALID_HANDLE when the `slice` of an array is neither 0 nor a live slice;
 *  - KM_ERROR_CONTEXT_LOST when the context of a slice was reset after its creation;
 *  - KM_ERROR_INVALID_ARGUMENT when an enumeration has a value that the routine does not take, a
 *    pointer is null, a count, increment or leading dimension is beyond 2^31 - 1, an increment is
 *    0, a leading dimension is shorter than a line, an address is not a multiple of the size of a
 *    number, or an array that is written overlaps another;
 *  - KM_ERROR_OUT_OF_BOUNDS when an array reaches beyond its slice or allocation;
 *  - KM_ERROR_CONTEXT_MISMATCH when a slice belongs to another context without peer access;
 *  - KM_ERROR_NOT_PERMITTED when an array that is written lies in a file mapped read-only;
 *  - KM_ERROR_BLAS_UNAVAILABLE when the BLAS library is missing, and the message says what to
 *    install;
 *  - the sticky error.
 */
#ifndef KERNELMILL_BLAS_H
#define KERNELMILL_BLAS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Types of elements. */
typedef int32_t km_data_type;
enum {
  KM_DATA_TYPE_INVALID = 0,
  KM_DATA_TYPE_F32 = 1,
  KM_DATA_TYPE_F64 = 2,
  KM_DATA_TYPE_C32 = 3, /* complex: two f32, the real part first */
  KM_DATA_TYPE_C64 = 4, /* complex: two f64 */
  KM_DATA_TYPE_F16 = 5,
  KM_DATA_TYPE_BF16 = 6
};

typedef int32_t km_blas_layout;
enum { KM_BLAS_LAYOUT_INVALID = 0, KM_BLAS_LAYOUT_ROWS = 1, KM_BLAS_LAYOUT_COLUMNS = 2 };

typedef int32_t km_blas_operation;
enum {
  KM_BLAS_OPERATION_INVALID = 0,
  KM_BLAS_OPERATION_NONE = 1,
  KM_BLAS_OPERATION_TRANSPOSE = 2,
  KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE = 3
};

typedef int32_t km_blas_triangle;
enum { KM_BLAS_TRIANGLE_INVALID = 0, KM_BLAS_TRIANGLE_LOWER = 1, KM_BLAS_TRIANGLE_UPPER = 2 };

typedef int32_t km_blas_diagonal;
enum {
  KM_BLAS_DIAGONAL_INVALID = 0,
  KM_BLAS_DIAGONAL_STORED = 1,
  KM_BLAS_DIAGONAL_UNIT = 2 /* all ones, which are not read */
};

typedef int32_t km_blas_side;
enum { KM_BLAS_SIDE_INVALID = 0, KM_BLAS_SIDE_LEFT = 1, KM_BLAS_SIDE_RIGHT = 2 };

/* Inputs of km_blas_...: the location of a vector or matrix. Its layout never changes. */
typedef struct km_blas_vector {
  uint64_t slice;    /* the handle's value; 0: `address` is used */
  uint64_t address;  /* a device address; 0 with a slice */
  uint64_t offset;   /* elements from there to the first one in memory */
  int64_t increment; /* elements from one to the next; ignored for a single result */
} km_blas_vector;
KM_CHECK_SIZE(km_blas_vector, 32);

typedef struct km_blas_matrix {
  uint64_t slice, address, offset;
  uint64_t leading_dimension; /* elements from line to line (columns or rows); 0 for packed ones */
  uint64_t stride;            /* elements from one matrix of a batch to the next, otherwise 0 */
} km_blas_matrix;
KM_CHECK_SIZE(km_blas_matrix, 40);

/* Numbers that lie densely, such as the pivots of a matrix. */
typedef struct km_array {
  uint64_t slice, address, offset;
  uint64_t stride; /* elements from the array of one matrix of a batch to the next, otherwise 0 */
} km_array;
KM_CHECK_SIZE(km_array, 32);

/** An object for BLAS calls in a stream, which it keeps alive. `layout` holds for all matrices of
 * all its calls. The handle is the caller's, to be given to km_blas_destroy. CUDA: cublasCreate,
 * cublasSetStream.
 * Status: KM_ERROR_INVALID_ARGUMENT when `layout` is not a km_blas_layout; KM_ERROR_NOT_SUPPORTED
 *   when the backend has no BLAS; the sticky error.
 */
KM_API km_status km_blas_create(km_stream stream, km_blas_layout layout,
                                km_blas* out_blas) KM_NOEXCEPT;

/** Drops the caller's handle. Queued calls still run. Null is fine. */
KM_API km_status km_blas_destroy(km_blas blas) KM_NOEXCEPT;

/** y = alpha x + y. CUDA: cublas<t>axpy. */
KM_API km_status km_blas_axpy(km_blas blas, km_data_type type, uint64_t n, const void* alpha,
                              const km_blas_vector* x, const km_blas_vector* y) KM_NOEXCEPT;

/** x = alpha x. CUDA: cublas<t>scal. */
KM_API km_status km_blas_scal(km_blas blas, km_data_type type, uint64_t n, const void* alpha,
                              const km_blas_vector* x) KM_NOEXCEPT;

/** y = x. CUDA: cublas<t>copy. */
KM_API km_status km_blas_copy(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                              const km_blas_vector* y) KM_NOEXCEPT;

/** Exchanges x and y. CUDA: cublas<t>swap. */
KM_API km_status km_blas_swap(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                              const km_blas_vector* y) KM_NOEXCEPT;

/** result = the sum of x_i y_i: one element of `type`. CUDA: cublas<t>dot, cublas<t>dotu. */
KM_API km_status km_blas_dot(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                             const km_blas_vector* y, const km_blas_vector* result) KM_NOEXCEPT;

/** km_blas_dot with the complex conjugates of x. CUDA: cublas<t>dotc. */
KM_API km_status km_blas_dotc(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                              const km_blas_vector* y, const km_blas_vector* result) KM_NOEXCEPT;

/** result = the Euclidean norm of x: one real element, for c32 an f32, for c64 an f64. CUDA:
 * cublas<t>nrm2. */
KM_API km_status km_blas_nrm2(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                              const km_blas_vector* result) KM_NOEXCEPT;

/** result = the sum of the magnitudes of the elements of x, one real element. For complex types, a
 * magnitude is the sum of those of both parts. CUDA: cublas<t>asum. */
KM_API km_status km_blas_asum(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                              const km_blas_vector* result) KM_NOEXCEPT;

/** result = the index, from 0, of the first element of x with the largest magnitude, one uint64_t;
 * UINT64_MAX when n is 0. For complex types, a magnitude is the sum of those of both parts. CUDA:
 * cublas<t>iamax, which counts from 1. */
KM_API km_status km_blas_iamax(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                               const km_blas_vector* result) KM_NOEXCEPT;

/** A plane rotation: x_i = c x_i + s y_i, y_i = c y_i - s x_i. `c` and `s` are real: f32 for c32,
 * f64 for c64. CUDA: cublas<t>rot. */
KM_API km_status km_blas_rot(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                             const km_blas_vector* y, const void* c, const void* s) KM_NOEXCEPT;

/** A modified plane rotation by the five `parameters` of rotmg: a flag (-2, -1, 0 or 1), h11, h21,
 * h12, h22. Real types only. CUDA: cublas<t>rotm. */
KM_API km_status km_blas_rotm(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                              const km_blas_vector* y, const void* parameters) KM_NOEXCEPT;

/** The rotation that turns (a, b) into (r, 0): `c` and `s` for km_blas_rot. r goes to `a`; for real
 * types, `b` becomes the one number from which both can be computed. All are in the host's memory
 * and of `type`, except `c`, which is real. They may share memory: `a` and `b` are read before `a`,
 * `b`, `c` and `s` are written, in this order. CUDA: cublas<t>rotg.
 * Status: KM_ERROR_INVALID_ARGUMENT when `type` is not f32, f64, c32 or c64, or a pointer is null.
 */
KM_API km_status km_blas_rotg(km_data_type type, void* a, void* b, void* c, void* s) KM_NOEXCEPT;

/** The five `parameters` of km_blas_rotm that turn (sqrt(d1) x1, sqrt(d2) y1) so that the second
 * number becomes 0; `d1`, `d2` and `x1` become those of the result. Entries that the flag implies
 * are left as they are. All are in the host's memory and may share it: they are read before `d1`,
 * `d2`, `x1` and `parameters` are written, in this order. CUDA: cublas<t>rotmg.
 * Status: KM_ERROR_INVALID_ARGUMENT when `type` is neither f32 nor f64, or a pointer is null.
 */
KM_API km_status km_blas_rotmg(km_data_type type, void* d1, void* d2, void* x1, const void* y1,
                               void* parameters) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
