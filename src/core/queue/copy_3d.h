// Copies and fills of rows and layers that are not contiguous.
#pragma once

#include "core/memory/rows.h"

namespace km {

/// Both places are the starts of the extents, offsets included.
Status upload_3d(Stream& stream, const DevicePlace& destination, const void* source,
                 const Copy3d& shape);
Status download_3d(Stream& stream, const DevicePlace& source, void* destination,
                   const Copy3d& shape);
Status copy_3d(Stream& stream, const DevicePlace& destination, const DevicePlace& source,
               const Copy3d& shape);

Status fill_2d(Stream& stream, const DevicePlace& destination, const Fill2d& shape);

}  // namespace km
