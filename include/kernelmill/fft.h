/* Fourier transforms of one to three dimensions, in batches.
 *
 * Example:
 *   const km_fft_shape shape = km_fft_lines(KM_FFT_KIND_COMPLEX, KM_DATA_TYPE_F32, 16, 8);
 *   const km_array values = km_place(x, 0);
 *   km_fft fft;
 *   KM_CHECK(km_fft_create(stream, &shape, &fft));
 *   KM_CHECK(km_fft_execute(fft, KM_FFT_DIRECTION_FORWARD, &values, &values));
 *   KM_CHECK(km_fft_destroy(fft));
 *   KM_CHECK(km_stream_synchronize(stream));
 *
 * A call is queued in the stream of its object and returns at once; the memory that it uses is kept
 * until it is done. A captured call becomes a node of the graph. Transforms are not scaled: forward
 * and then inverse gives the numbers times the number of elements of one transform.
 */
#ifndef KERNELMILL_FFT_H
#define KERNELMILL_FFT_H

#include "blas.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t km_fft_kind;
enum {
  KM_FFT_KIND_INVALID = 0,
  KM_FFT_KIND_COMPLEX = 1,
  KM_FFT_KIND_REAL_TO_COMPLEX = 2, /* half of the result, since the other half are its conjugates */
  KM_FFT_KIND_COMPLEX_TO_REAL = 3  /* the other way; imaginary parts that a real result cannot have
                                      are ignored */
};

typedef int32_t km_fft_direction;
enum { KM_FFT_DIRECTION_INVALID = 0, KM_FFT_DIRECTION_FORWARD = 1, KM_FFT_DIRECTION_INVERSE = 2 };

/* The places of the elements of one side. All 0: densely, one transform after the other, with the
 * last dimension of the complex side of a real transform cut to sizes[rank - 1] / 2 + 1. Otherwise
 * all members are given; the distance may be 0 for one transform. Inputs may overlap each other.
 * The elements of outputs are apart: each dimension, and the batch, steps over all elements of
 * those that have smaller steps. */
typedef struct km_fft_layout {
  uint64_t extents[3]; /* elements in memory for each dimension, of which the first is not used;
                          0 beyond the rank */
  uint64_t stride;     /* elements from one of the last dimension to the next */
  uint64_t distance;   /* elements from one transform to the next */
} km_fft_layout;
KM_CHECK_SIZE(km_fft_layout, 40);

/* Input of km_fft_create. Its layout never changes. */
typedef struct km_fft_shape {
  km_fft_kind kind;
  km_data_type type; /* of real numbers and of the parts of complex ones: F16, BF16, F32 or F64 */
  uint32_t rank;     /* 1 to 3 */
  uint32_t reserved; /* 0 */
  uint64_t sizes[3]; /* the slowest dimension first, of the real side; 0 beyond the rank */
  uint64_t batch_count;
  km_fft_layout input, output;
} km_fft_shape;
KM_CHECK_SIZE(km_fft_shape, 128);

/** Plans transforms in a stream, which the object keeps alive. The handle is the caller's, to be
 * given to km_fft_destroy. BLOCKING: tables are computed. CUDA: cufftCreate, cufftXtMakePlanMany.
 * Status: KM_ERROR_INVALID_ARGUMENT when a pointer is null, a member of `shape` has a value that it
 *   cannot have, a layout is only partly 0, or elements of the output would share memory;
 *   KM_ERROR_OUT_OF_DEVICE_MEMORY when an array has more bytes than the device;
 *   KM_ERROR_NOT_SUPPORTED when the backend has no transforms, or its library none of this shape;
 *   KM_ERROR_BLAS_UNAVAILABLE when its library is missing, with what to install;
 *   the sticky error.
 */
KM_API km_status km_fft_create(km_stream stream, const km_fft_shape* shape,
                               km_fft* out_fft) KM_NOEXCEPT;

/** Drops the caller's handle. Queued calls still run. Null is fine. */
KM_API km_status km_fft_destroy(km_fft fft) KM_NOEXCEPT;

/** Transforms `input` to `output`, which may be the same place, also with another layout; otherwise
 * the input keeps its values. `stride` of the arrays is not used. Real transforms have one
 * direction only. CUDA: cufftSetStream, cufftSetWorkArea, cufftXtExec.
 * Status: KM_ERROR_INVALID_ARGUMENT when `direction` is not one that the kind has, a pointer is
 *   null, an address is not a multiple of the size of an element (both parts of a complex one), or
 *   the arrays overlap without being the same place; KM_ERROR_OUT_OF_BOUNDS when an array reaches
 *   beyond its slice or allocation; KM_ERROR_OUT_OF_DEVICE_MEMORY for memory beside the arrays;
 *   KM_ERROR_INVALID_HANDLE when the `slice` of an array is neither 0 nor a live slice;
 *   KM_ERROR_CONTEXT_MISMATCH when a slice belongs to another context without peer access;
 *   KM_ERROR_NOT_PERMITTED when the output lies in a file mapped read-only; the sticky error.
 */
KM_API km_status km_fft_execute(km_fft fft, km_fft_direction direction, const km_array* input,
                                const km_array* output) KM_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
