#include "core/memory/place.h"

#include <cinttypes>

#include "base/text.h"

namespace km {

MemoryUse use_of(const DevicePlace& place, uint64_t size_bytes, AccessKind kind) {
  if (place.memory == nullptr) return {};
  return MemoryUse::of(*place.memory, place.address, size_bytes, kind);
}

MemoryUse use_of_pinned(const FoundMemory& pinned, const void* first, uint64_t size_bytes,
                        AccessKind kind) {
  if (!pinned) return {};
  const auto offset = static_cast<uint64_t>(static_cast<const char*>(first) -
                                            static_cast<const char*>(pinned->host_pointer()));
  return MemoryUse::of(*pinned, pinned->address() + offset, size_bytes, kind);
}

Status require_pointer(const void* pointer, const char* name, uint64_t size_bytes) {
  if (pointer != nullptr || size_bytes == 0) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s is null, and %s of it %s to be copied", name,
                    counted(size_bytes, "byte").c_str(), size_bytes == 1 ? "is" : "are");
}

/// True if an address of one context means the same memory in the other one. Devices whose contexts
/// have address spaces of their own say so.
static bool share_addresses(const Context& a, const Context& b) {
  constexpr int32_t kUnifiedAddressing = 41;  // CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING
  if (&a == &b) return true;
  const Result<int64_t> is_unified =
      a.device().attribute(KM_DEVICE_ATTRIBUTE_CUDA + kUnifiedAddressing);
  return !is_unified || *is_unified != 0;
}

Status require_apart(const DevicePlace& destination, const DevicePlace& source,
                     uint64_t size_bytes) {
  if (destination.address >= source.address + size_bytes ||
      source.address >= destination.address + size_bytes || destination.address == source.address) {
    return {};  // a copy onto itself changes nothing
  }
  if (!share_addresses(destination.memory->context(), source.memory->context())) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT,
                    "source 0x%" PRIx64 " and destination 0x%" PRIx64 " of %s overlap",
                    source.address, destination.address, counted(size_bytes, "byte").c_str());
}

Status require_aligned(const DevicePlace& destination, uint32_t value_size_bytes, uint64_t count) {
  if (count == 0 || destination.address % value_size_bytes == 0) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT,
                    "address 0x%" PRIx64 " is not a multiple of the value's %u bytes",
                    destination.address, value_size_bytes);
}

Result<DevicePlace> place_in_slice(Context& context, Slice& slice, uint64_t offset_bytes,
                                   uint64_t size_bytes, const char* what) {
  KM_TRY(require_same_context(context, slice.context(), what));
  KM_TRY(slice.check_range(offset_bytes, size_bytes, what));
  return DevicePlace{&slice.memory(), slice.address() + offset_bytes};
}

Result<uint64_t> fill_size(uint64_t count, uint32_t value_size_bytes) {
  if (value_size_bytes != 1 && value_size_bytes != 2 && value_size_bytes != 4) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "value_size_bytes is %u; expected 1, 2 or 4",
                      value_size_bytes);
  }
  uint64_t size = 0;
  if (!__builtin_mul_overflow(count, uint64_t{value_size_bytes}, &size)) return size;
  return make_error(KM_ERROR_OUT_OF_BOUNDS,
                    "%" PRIu64 " values of %u bytes are more than 2^64 bytes", count,
                    value_size_bytes);
}

}  // namespace km
