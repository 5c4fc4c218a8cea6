// Copies and fills by device address, queued or captured.
#pragma once

#include "core/memory/place.h"

namespace km {

Status upload(Stream& stream, const DevicePlace& destination, const void* source,
              uint64_t size_bytes);
Status download(Stream& stream, const DevicePlace& source, void* destination, uint64_t size_bytes);
Status copy(Stream& stream, const DevicePlace& destination, const DevicePlace& source,
            uint64_t size_bytes);
/// `count` values of 1, 2 or 4 bytes.
Status fill(Stream& stream, const DevicePlace& destination, uint32_t value,
            uint32_t value_size_bytes, uint64_t count);
/// A copy that failed because a mapped file became shorter is an error of that file.
Status explain_file(Status status, const Memory& device, const void* host);
/// Between contexts of one backend, which may be of different devices.
Status copy_peer(Stream& stream, const DevicePlace& destination, const DevicePlace& source,
                 uint64_t size_bytes);

}  // namespace km
