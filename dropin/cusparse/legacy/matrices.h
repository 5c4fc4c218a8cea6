// Matrices of the functions of single formats, whose indices have 32 bits.
#pragma once

#include "dropin/cusparse/matrix/entries.h"

namespace km::cusparse {

/// The matrix's arrays as functions of single formats have them.
struct IntArrays {
  const void* values;
  const int* offsets;
  const int* indices;
};

/// Checks sizes that may not be negative.
cusparseStatus_t check_sizes(std::initializer_list<int> sizes);
/// Stores the size of a workspace that the function does without, if its matrix's sizes are right.
template <class Size>
cusparseStatus_t give_size(cusparseHandle_t handle, std::initializer_list<int> sizes, Size* place,
                           const char* name = "pBufferSizeInBytes",
                           const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle&) -> cusparseStatus_t {
    LIB_TRY(check_sizes(sizes));
    return give(name, place, static_cast<Size>(kNoWorkspace));
  };
  return call(handle, body, function);
}
cusparseStatus_t check_direction(cusparseDirection_t direction);

/// Reads the settings of a matrix.
cusparseStatus_t read_settings(const char* name, cusparseMatDescr_t id, MatDescr* out);

/// A matrix in CSR format.
SpMat csr_of(int rows, int cols, int64_t nnz, const MatDescr& settings, cudaDataType type,
             const IntArrays& arrays);
/// A matrix in BSR format of `rows` x `cols` blocks.
SpMat bsr_of(cusparseDirection_t direction, int rows, int cols, int64_t block_count,
             const MatDescr& settings, cudaDataType type, const IntArrays& arrays, int row_block,
             int col_block);

/// The number of elements from an address in device memory to the end of its allocation, for arrays
/// whose size only the device knows; 0 for null. CUSPARSE_STATUS_INVALID_VALUE if it lies in none.
cusparseStatus_t find_capacity(const Handle& handle, const char* name, const void* address,
                               uint64_t element_bytes, int64_t* count);
/// The smaller capacity of a matrix's indices and values.
cusparseStatus_t find_capacity(const Handle& handle, const IntArrays& arrays,
                               uint64_t element_bytes, int64_t* count);

/// A count that work makes, for a place in host or device memory as the pointer mode says; the
/// place may be null. `run` fills an int64_t in.
template <class Run>
cusparseStatus_t submit_count(const Handle& handle, Arrays& arrays, const char* name,
                              uint64_t estimated_ns, int* place, Run run) {
  if (place == nullptr || handle.has_device_pointers()) {
    arrays.written("the place for the number of elements", place, place == nullptr ? 0 : 1,
                   sizeof(int));
    return submit(handle, arrays, name, 1, estimated_ns, [run, place](uint64_t) {
      int64_t count = 0;
      const cu::CUresult done = run(&count);
      if (place != nullptr) write_element<int32_t>(place, 0, static_cast<int32_t>(count));
      return done;
    });
  }
  const auto count = std::make_shared<int64_t>(0);
  LIB_TRY(submit_and_wait(handle, arrays, name, estimated_ns,
                          [run, count](uint64_t) { return run(count.get()); }));
  return give("the place for the number of elements", place, static_cast<int>(*count));
}

/// The time of work with some steps per element.
inline uint64_t time_of(int64_t elements, int64_t steps = 4) {
  return static_cast<uint64_t>(std::max<int64_t>(elements, 0)) * static_cast<uint64_t>(steps);
}

}  // namespace km::cusparse
