// Time stamps of records: those of the system's clock, or of one that the program gives.
#pragma once

#include <cstdint>

#include "dropin/cupti/generated/api.h"

namespace km::cupti {

/// The time of the engine's clock (CLOCK_MONOTONIC).
uint64_t engine_now_ns() noexcept;
/// The time stamp of a moment of the engine's clock.
uint64_t stamp_of(uint64_t engine_ns);
/// The time stamp of now.
uint64_t stamp_now();
/// Takes time stamps from the program's function; null: from the system's clock.
void use_clock(CUpti_TimestampCallbackFunc function);

}  // namespace km::cupti
