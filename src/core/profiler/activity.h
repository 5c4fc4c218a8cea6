// A listener that hears of every operation of every context, whether a profile is recorded or not:
// for profilers outside of the library.
#pragma once

#include <cstdint>

#include "backend/interface.h"

namespace km {

/// The context and the device of an operation.
struct ActivityOrigin {
  uint64_t context_number;  // Context::number()
  uint32_t device_ordinal;
};

/// Called on any thread, possibly several at a time; it must not call the library.
using ActivityListener = void (*)(const ActivityOrigin& origin, const kmb_profile_record& record);

/// Sets the listener for the process; null: none. Contexts report to it once
/// Context::follow_activity() has been called; those that begin later do so from their beginning.
void set_activity_listener(ActivityListener listener) noexcept;
ActivityListener activity_listener() noexcept;

}  // namespace km
