/* Helpers that C programs would otherwise write themselves. No other header includes this one; it
 * uses only c_api.h.
 *
 * Example:
 *   const float picture[6] = {1, 2, 3, 4, 5, 6};
 *   const km_copy_3d rows = km_rows(3 * sizeof(float), 2, 64, 0);
 *   float corner;
 *   KM_CHECK(km_slice_upload_3d(stream, x, picture, &rows));
 *   KM_CHECK(km_slice_download(stream, x, km_row_offset(64, 1) + 8, &corner, sizeof corner));
 *   KM_CHECK(km_stream_synchronize(stream));
 *   if (corner != 6) abort();
 */
#ifndef KERNELMILL_HELPERS_H
#define KERNELMILL_HELPERS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_api.h"

/* Makes a call, and ends the program with the failure's text if it fails. KM_NOT_READY and
 * KM_TIMEOUT do not count as failures. */
#define KM_CHECK(call)                                                      \
  do {                                                                      \
    const km_status km_check_status = (call);                               \
    if (km_check_status >= 100) {                                           \
      km_print_failure(stderr, __FILE__, __LINE__, #call, km_check_status); \
      exit(EXIT_FAILURE);                                                   \
    }                                                                       \
  } while (0)

/* Makes a call, and returns its status from the function around it unless it is KM_SUCCESS. */
#define KM_RETURN_IF_FAILED(call)                              \
  do {                                                         \
    const km_status km_check_status = (call);                  \
    if (km_check_status != KM_SUCCESS) return km_check_status; \
  } while (0)

/* Prints "FILE:LINE: CALL: NAME: TEXT" for a call of this thread that has just failed. */
static inline void km_print_failure(FILE* to, const char* file, int line, const char* call,
                                    km_status status) {
  char text[4700] = "";
  const char* name = "unknown status";
  (void)km_status_name(status, &name);
  (void)km_last_error_message(text, sizeof text, NULL);
  fprintf(to, "%s:%d: %s: %s: %s\n", file, line, call, name, text);
}

/* The value of a slice's handle, for km_launch_slice and the descriptors of BLAS. */
static inline uint64_t km_slice_value(km_slice slice) { return (uint64_t)slice; }

/* The element type of an arithmetic C value; KM_ELEMENT_TYPE_UNKNOWN for anything else. */
#if !defined(__cplusplus)
#define KM_ELEMENT_TYPE_OF(number)             \
  _Generic((number),                           \
      _Bool: KM_ELEMENT_TYPE_BOOL,             \
      char: KM_ELEMENT_TYPE_CHAR,              \
      signed char: KM_ELEMENT_TYPE_I8,         \
      unsigned char: KM_ELEMENT_TYPE_U8,       \
      short: KM_ELEMENT_TYPE_I16,              \
      unsigned short: KM_ELEMENT_TYPE_U16,     \
      int: KM_ELEMENT_TYPE_I32,                \
      unsigned int: KM_ELEMENT_TYPE_U32,       \
      long: KM_ELEMENT_TYPE_I64,               \
      unsigned long: KM_ELEMENT_TYPE_U64,      \
      long long: KM_ELEMENT_TYPE_I64,          \
      unsigned long long: KM_ELEMENT_TYPE_U64, \
      float: KM_ELEMENT_TYPE_F32,              \
      double: KM_ELEMENT_TYPE_F64,             \
      default: KM_ELEMENT_TYPE_UNKNOWN)

/* Passes the value of a variable as a launch's next argument and checks the variable's type: an int
 * for a float is refused. Structures are passed with km_launch_arg_scalar. */
#define KM_ARGUMENT(launch, number) \
  km_launch_arg_value(launch, &(number), KM_ELEMENT_TYPE_OF(number), 1)
#endif

/* A slice as the argument of parameter `parameter`, from 0, of km_launch_kernel. */
static inline km_launch_slice km_slice_argument(uint32_t parameter, km_slice slice,
                                                uint64_t offset_bytes) {
  km_launch_slice argument;
  argument.parameter = parameter;
  argument.reserved = 0;
  argument.slice = km_slice_value(slice);
  argument.offset_bytes = offset_bytes;
  return argument;
}

/* A vector for BLAS: from element `offset` of the slice on, `increment` elements apart. */
static inline km_blas_vector km_vector(km_slice slice, uint64_t offset, int64_t increment) {
  km_blas_vector vector;
  vector.slice = km_slice_value(slice);
  vector.address = 0;
  vector.offset = offset;
  vector.increment = increment;
  return vector;
}

/* A matrix for BLAS: from element `offset` of the slice on, with lines (rows or columns, by the
 * layout) that begin `leading_dimension` elements apart; 0 for a packed one. */
static inline km_blas_matrix km_matrix(km_slice slice, uint64_t offset,
                                       uint64_t leading_dimension) {
  km_blas_matrix matrix;
  matrix.slice = km_slice_value(slice);
  matrix.address = 0;
  matrix.offset = offset;
  matrix.leading_dimension = leading_dimension;
  matrix.stride = 0;
  return matrix;
}

/* A batch of matrices for BLAS, which begin `stride` elements apart. */
static inline km_blas_matrix km_matrix_batch(km_slice slice, uint64_t offset,
                                             uint64_t leading_dimension, uint64_t stride) {
  km_blas_matrix matrix = km_matrix(slice, offset, leading_dimension);
  matrix.stride = stride;
  return matrix;
}

/* A place for FFT, sparse and solver calls: from element `offset` of the slice on. */
static inline km_array km_place(km_slice slice, uint64_t offset) {
  km_array array;
  array.slice = km_slice_value(slice);
  array.address = 0;
  array.offset = offset;
  array.stride = 0;
  return array;
}

/* The shape of `batch_count` transforms of `size` numbers each, one after the other. */
static inline km_fft_shape km_fft_lines(km_fft_kind kind, km_data_type type, uint64_t size,
                                        uint64_t batch_count) {
  km_fft_shape shape;
  memset(&shape, 0, sizeof shape);
  shape.kind = kind;
  shape.type = type;
  shape.rank = 1;
  shape.sizes[0] = size;
  shape.batch_count = batch_count;
  return shape;
}

/* A sparse matrix in rows with 32-bit indices from 0; the caller adds its arrays. */
static inline km_sparse_matrix km_sparse_csr(uint64_t rows, uint64_t columns, uint64_t nonzeros) {
  km_sparse_matrix matrix;
  memset(&matrix, 0, sizeof matrix);
  matrix.format = KM_SPARSE_FORMAT_CSR;
  matrix.index_size_bytes = 4;
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.nonzeros = nonzeros;
  return matrix;
}

/* A copy of `height` rows of `width_bytes` from the beginning of one memory to the beginning of
 * another; pitches are bytes from row to row, 0 for contiguous rows. */
static inline km_copy_3d km_rows(uint64_t width_bytes, uint64_t height,
                                 uint64_t destination_pitch_bytes, uint64_t source_pitch_bytes) {
  km_copy_3d copy;
  copy.width_bytes = width_bytes;
  copy.height = height;
  copy.depth = 1;
  copy.destination_offset_bytes = 0;
  copy.destination_pitch_bytes = destination_pitch_bytes;
  copy.destination_layer_rows = 0;
  copy.source_offset_bytes = 0;
  copy.source_pitch_bytes = source_pitch_bytes;
  copy.source_layer_rows = 0;
  return copy;
}

/* The offset of a row, from 0, in memory of this pitch. */
static inline uint64_t km_row_offset(uint64_t pitch_bytes, uint64_t row) {
  return pitch_bytes * row;
}

/* The number of blocks of `block_size` threads that cover `count` elements. */
static inline uint32_t km_block_count(uint64_t count, uint32_t block_size) {
  return (uint32_t)((count + block_size - 1) / block_size);
}

#endif
