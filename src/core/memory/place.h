// Places in device memory that calls name, and the checks of copies and fills on them.
#pragma once

#include "core/memory/slice.h"
#include "core/memory/submission.h"

namespace km {

/// A place in device memory that a call names. It is checked, and its memory cannot be destroyed
/// until the call returns.
struct DevicePlace {
  Memory* memory = nullptr;  // null: an empty range
  uint64_t address = 0;
};

/// The place [offset_bytes, offset_bytes + size_bytes) in a slice; fails if it exceeds the slice or
/// the slice belongs to another context.
Result<DevicePlace> place_in_slice(Context& context, Slice& slice, uint64_t offset_bytes,
                                   uint64_t size_bytes, const char* what);

/// The use of a place; no use if the place is empty.
MemoryUse use_of(const DevicePlace& place, uint64_t size_bytes, AccessKind kind);
/// The use of page-locked host memory; no use if the range is not page-locked.
MemoryUse use_of_pinned(const FoundMemory& pinned, const void* first, uint64_t size_bytes,
                        AccessKind kind);

// These functions check arguments of copies and fills.
Status require_pointer(const void* pointer, const char* name, uint64_t size_bytes);
Status require_apart(const DevicePlace& destination, const DevicePlace& source,
                     uint64_t size_bytes);
Status require_aligned(const DevicePlace& destination, uint32_t value_size_bytes, uint64_t count);

/// Returns count * value_size_bytes; fails if the product overflows or no value has that size.
Result<uint64_t> fill_size(uint64_t count, uint32_t value_size_bytes);

}  // namespace km
