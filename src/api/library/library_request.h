// The arguments of a call of a library beside BLAS, checked in their order; the first error is
// reported.
#pragma once

#include <initializer_list>

#include "api/blas/operand_places.h"
#include "api/call.h"
#include "core/library/library_work.h"

namespace km {

/// Once an argument was wrong, further ones are not looked at.
class LibraryRequest {
 public:
  /// `name` is that of the function, and has static lifetime.
  LibraryRequest(Call& call, const char* name, kmb_library_kind kind);

  kmb_library_call& call() { return work_.call; }
  /// True if an argument was wrong or there is nothing to do, so that others need no look.
  bool failed() const { return !status_; }
  void fail(Error error);
  /// The call has nothing to do: submit() succeeds if no argument is wrong.
  void set_empty() { is_empty_ = true; }

  /// Takes the stream in which the call is queued, and the object that keeps the backend's.
  void set_owner(Stream& stream, ContextChild& holder);
  /// The BLAS object of the call, whose stream and engine become the owner; null if it is not one.
  Blas* blas(km_blas blas);

  /// Stores the type of elements of a call that has the types of LAPACK.
  void type(km_data_type value, km_data_type* out);
  void operation(const char* name, km_blas_operation value, km_blas_operation* out);
  void triangle(km_blas_triangle value, km_blas_triangle* out);
  /// Stores a value of an enumeration if it is one of the known ones, which are consecutive.
  void choice(const char* name, int32_t value, std::initializer_list<int32_t> known, int32_t* out);
  /// Stores a size of at most 2^31 - 1.
  void size(const char* name, uint64_t value, uint64_t* out);
  /// Stores the parts of a scalar of a type.
  void scalar(const char* name, const void* value, km_data_type type, double* out);

  /// The use of an array.
  struct Use {
    bool is_written = false;
    bool may_be_output = false;  // may begin where an output does: an operation in place
  };
  /// Stores the address of an array of this region, whose numbers of `alignment` bytes are aligned.
  void place(const char* name, const OperandPlace& given, const BlasRegion& region,
             uint32_t element_bytes, uint32_t alignment, Use use, uint64_t* out_address);
  void vector(const char* name, const km_blas_vector* given, uint64_t count, km_data_type type,
              Use use, kmb_blas_array* out);
  /// Dense matrices of the layout, as many as `batch_count`.
  void matrix(const char* name, const km_blas_matrix* given, km_blas_layout layout, uint64_t rows,
              uint64_t columns, uint64_t batch_count, km_data_type type, Use use,
              kmb_blas_array* out);
  /// `count` numbers of `element_bytes` for each matrix of a batch.
  void array(const char* name, const km_array* given, uint64_t count, uint64_t batch_count,
             uint32_t element_bytes, Use use, kmb_blas_array* out);

  /// Queues the call, or returns the first error.
  Status submit();

 private:
  Call& call_;
  OperandPlaces places_;
  Stream* stream_ = nullptr;
  LibraryWork work_;
  bool is_empty_ = false;
  Status status_;
};

}  // namespace km
