// Calls of the driver by the backend's own threads, which must be over before the driver's static
// objects are destroyed at the end of the process.
#pragma once

#include <cstdint>

namespace km::vulkan {

/// A time in which a thread of the backend may call the driver. Threads of the host need none: the
/// host ends them before it ends the process.
class DriverUse {
 public:
  /// The thread never comes back if the process is ending. It must hold no lock.
  DriverUse();
  ~DriverUse();
  DriverUse(const DriverUse&) = delete;
  DriverUse& operator=(const DriverUse&) = delete;
};

/// Called when the process exits: no use begins any more. Waits for those that have begun,
/// until now_ns() has passed the deadline.
void end_driver_uses(uint64_t deadline_ns);

/// True from then on: the static objects of the driver and of its layers may be gone.
bool are_driver_uses_over();

}  // namespace km::vulkan
