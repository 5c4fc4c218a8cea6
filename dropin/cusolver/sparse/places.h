// Arrays of the program's, in host memory or in device memory: the sparse part copies them,
// computes on the calling thread and copies results back, in the order of the handle's stream.
#pragma once

#include "dropin/cusolver/frame/handle.h"
#include "dropin/cusolver/sparse/csr.h"

namespace km::cusolver {

/// Copies arrays of one call.
class Places {
 public:
  /// `is_host` tells that the arrays lie in host memory.
  Places(Handle& handle, bool is_host) : handle_(handle), is_host_(is_host) {}

  /// CUSOLVER_STATUS_NOT_SUPPORTED in a capture, for which calls of this kind cannot wait.
  cusolverStatus_t begin();

  template <class T>
  cusolverStatus_t read(const char* name, const T* from, int64_t count, std::vector<T>* out) {
    if (count < 0) return invalid("the size of %s is below 0", name);
    if (count > INT32_MAX) return invalid("%s has too many elements", name);
    out->resize(static_cast<size_t>(count));
    return read_bytes(name, from, out->data(), out->size() * sizeof(T));
  }
  template <class T>
  cusolverStatus_t write(const char* name, T* to, const std::vector<T>& values) {
    return write_bytes(name, to, values.data(), values.size() * sizeof(T));
  }

 private:
  cusolverStatus_t read_bytes(const char* name, const void* from, void* out, size_t size_bytes);
  cusolverStatus_t write_bytes(const char* name, void* to, const void* values, size_t size_bytes);

  Handle& handle_;
  const bool is_host_;
};

/// Reads the base of indices, 0 or 1, of a matrix that a program describes to cuSPARSE.
cusolverStatus_t read_base(cusparseMatDescr_t description, int* base);

/// The arrays of a sparse matrix.
struct CsrArrays {
  int rows, columns, count;
  cusparseMatDescr_t description;
  const int *starts, *indices;
};

/// Reads and checks a matrix's pattern. CUSOLVER_STATUS_INVALID_VALUE if rows overlap or an index
/// leaves the matrix.
cusolverStatus_t read_pattern(Places& places, const CsrArrays& arrays, Pattern* out);

template <class T>
cusolverStatus_t read_matrix(Places& places, const CsrArrays& arrays, const T* values,
                             Csr<Native<T>>* out) {
  LIB_TRY(read_pattern(places, arrays, out));
  return places.read("the values", native(values), arrays.count, &out->values);
}

}  // namespace km::cusolver
