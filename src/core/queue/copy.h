// Copies and fills of device addresses, queued or captured.
#pragma once

#include "core/memory/place.h"

namespace km {

Status upload(Stream& stream, const DevicePlace& destination, const void* source,
              uint64_t size_bytes);
Status download(Stream& stream, const DevicePlace& source, void* destination, uint64_t size_bytes);
Status copy(Stream& stream, const DevicePlace& destination, const DevicePlace& source,
            uint64_t size_bytes);
/// Stores `count` values of 1, 2 or 4 bytes.
Status fill(Stream& stream, const DevicePlace& destination, uint32_t value,
            uint32_t value_size_bytes, uint64_t count);
/// Replaces the error of a copy from or to a mapped file that was truncated by one that names the
/// file.
Status explain_file(Status status, const Memory& device, const void* host);
/// Copies between contexts of one backend, which may belong to different devices.
Status copy_peer(Stream& stream, const DevicePlace& destination, const DevicePlace& source,
                 uint64_t size_bytes);

}  // namespace km
