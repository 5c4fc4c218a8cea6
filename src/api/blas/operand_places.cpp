#include "api/blas/operand_places.h"

#include <algorithm>
#include <cinttypes>
#include <cstdlib>

#include "base/text.h"
#include "core/queue/copy.h"

namespace km {

Error operand_is_null(const char* name) {
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s is null", name);
}

Error size_too_large(const char* name, const char* what, uint64_t value) {
  return make_error(KM_ERROR_INVALID_ARGUMENT,
                    "%s%s is %" PRIu64 "; at most %" PRIu64 " is possible", name, what, value,
                    kMostSize);
}

Status check_choice(const char* name, int32_t value, std::initializer_list<int32_t> known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s is %d; it can be %d to %d here", name, value,
                    *known.begin(), *(known.end() - 1));
}

Result<BlasRegion> vector_region(const char* name, int64_t increment, uint64_t count,
                                 uint32_t element_bytes) {
  if (increment == 0 || increment > INT32_MAX || increment < -INT32_MAX) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "%s->increment is %" PRId64
                      "; it can be -2147483647 to 2147483647, but "
                      "not 0",
                      name, increment);
  }
  const auto distance = static_cast<uint64_t>(std::abs(increment));
  BlasRegion region;
  region.lines = distance == 1 ? std::min<uint64_t>(count, 1) : count;
  region.line_bytes = distance == 1 ? count * element_bytes : element_bytes;
  region.pitch_bytes = distance * element_bytes;
  return region;
}

Result<BlasRegion> matrix_region(const char* name, const km_blas_matrix& given, uint64_t count,
                                 uint64_t length, uint64_t batch_count, uint32_t element_bytes) {
  const uint64_t leading = given.leading_dimension;
  if (leading < std::max<uint64_t>(length, 1)) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "%s->leading_dimension is %" PRIu64 "; lines of the matrix have %s", name,
                      leading, counted(length, "element").c_str());
  }
  if (leading > kMostSize) return size_too_large(name, "->leading_dimension", leading);
  BlasRegion region;
  region.lines = count;
  region.line_bytes = length * element_bytes;
  region.pitch_bytes = leading * element_bytes;
  region.batch_count = batch_count;
  if (batch_count > 1 &&
      __builtin_mul_overflow(given.stride, uint64_t{element_bytes}, &region.stride_bytes)) {
    return make_error(KM_ERROR_OUT_OF_BOUNDS, "%s would have more than 2^64 bytes", name);
  }
  return region;
}

Result<DevicePlace> OperandPlaces::find_bytes(Context& context, const char* name,
                                              const OperandPlace& given, uint64_t offset_bytes,
                                              uint64_t size_bytes) {
  if (given.slice != 0) {
    Slice* const slice = call_.get(handle_of<km_slice>(given.slice), name);
    if (slice == nullptr) return call_.take_error();
    if (!context.may_use(slice->context())) {
      KM_TRY(require_same_context(context, slice->context(), name));
    }
    if (given.address != 0) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "%s has a slice and an address 0x%" PRIx64, name,
                        given.address);
    }
    KM_TRY(slice->check_range(offset_bytes, size_bytes, name));
    return DevicePlace{size_bytes == 0 ? nullptr : &slice->memory(),
                       slice->address() + offset_bytes};
  }
  if (size_bytes == 0) return DevicePlace{};
  uint64_t address = 0;
  if (__builtin_add_overflow(given.address, offset_bytes, &address)) {
    return make_error(KM_ERROR_OUT_OF_BOUNDS,
                      "the address of %s and its offset are more than 64 bits", name);
  }
  KM_ASSERT(found_count_ < kMostOperands, "a call has no more arrays");
  FoundMemory& kept = found_[found_count_++];
  KM_ASSIGN(kept, find_device_range(context, address, size_bytes, name));
  return DevicePlace{&*kept, address};
}

Result<BlasOperand> OperandPlaces::find(Context& context, const char* name,
                                        const OperandPlace& given, const BlasRegion& region,
                                        uint32_t element_bytes, uint32_t alignment,
                                        bool is_written) {
  uint64_t size_bytes = 0, offset_bytes = 0;
  if (!region.extent(&size_bytes) ||
      __builtin_mul_overflow(given.offset, uint64_t{element_bytes}, &offset_bytes)) {
    return make_error(KM_ERROR_OUT_OF_BOUNDS, "%s would have more than 2^64 bytes", name);
  }
  KM_ASSIGN(const DevicePlace found, find_bytes(context, name, given, offset_bytes, size_bytes));
  if (size_bytes != 0 && found.address % alignment != 0) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "%s begins at 0x%" PRIx64 ", which is not a multiple of %s", name,
                      found.address, counted(alignment, "byte").c_str());
  }
  BlasOperand operand;
  operand.name = name;
  operand.memory = found.memory;
  operand.region = region;
  operand.region.address = found.address;
  operand.is_written = is_written;
  return operand;
}

}  // namespace km
