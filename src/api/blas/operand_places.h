// The places of the arrays of a call: slices and addresses, resolved and checked.
#pragma once

#include <array>
#include <initializer_list>

#include "api/call.h"
#include "core/blas/blas.h"
#include "core/memory/place.h"

namespace km {

/// The fields that km_blas_vector, km_blas_matrix and km_array share.
struct OperandPlace {
  uint64_t slice, address, offset;
};
template <class Given>
OperandPlace place_of(const Given& given) {
  return {given.slice, given.address, given.offset};
}

/// Resolves the places of one call's arrays, and keeps their memory until the call returns.
class OperandPlaces {
 public:
  explicit OperandPlaces(Call& call) : call_(call) {}

  /// The array of this region, whose address it completes. Elements of `alignment` bytes have to be
  /// aligned. At most kMostOperands arrays.
  Result<BlasOperand> find(Context& context, const char* name, const OperandPlace& given,
                           const BlasRegion& region, uint32_t element_bytes, uint32_t alignment,
                           bool is_written);

 private:
  Result<DevicePlace> find_bytes(Context& context, const char* name, const OperandPlace& given,
                                 uint64_t offset_bytes, uint64_t size_bytes);

  Call& call_;
  std::array<FoundMemory, kMostOperands> found_;  // the allocations of raw addresses
  uint32_t found_count_ = 0;
};

/// The error of a null pointer.
Error operand_is_null(const char* name);
/// The error of a size beyond those of BLAS libraries, which are 32-bit signed.
constexpr uint64_t kMostSize = INT32_MAX;
Error size_too_large(const char* name, const char* what, uint64_t value);

/// Fails if a value of an enumeration is not one of the known ones, which are consecutive.
Status check_choice(const char* name, int32_t value, std::initializer_list<int32_t> known);

/// The region of a vector's elements from its increment.
Result<BlasRegion> vector_region(const char* name, int64_t increment, uint64_t count,
                                 uint32_t element_bytes);
/// The region of a matrix's lines of `length` elements, or of a batch of matrices.
Result<BlasRegion> matrix_region(const char* name, const km_blas_matrix& given, uint64_t count,
                                 uint64_t length, uint64_t batch_count, uint32_t element_bytes);

}  // namespace km
