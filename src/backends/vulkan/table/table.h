// The vtable of the backend, for whichever interface its devices are reached by.
#pragma once

#include "backend/interface.h"
#include "backends/vulkan/driver/driver_interface.h"

namespace km::vulkan {

/// The vtable under the interface's name; called once, by the plugin's exported function.
const kmb_backend* table_for(const DriverInterface& chosen);

}  // namespace km::vulkan
