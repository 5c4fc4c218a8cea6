// The tools of the checker that need no code of their own, and the sets of tools.
#pragma once

#include "base/check/check_tools.h"

namespace km::check_tool {

constexpr uint16_t kLeak = 32;  // memory that is alive when the program ends is reported
constexpr uint16_t kInCode = kMemory | kInit | kRace | kSync | kStreams;
constexpr uint16_t kAll = kInCode | kLeak;
/// How the kernels of the process run, which contexts cannot change.
constexpr uint16_t kOfProcess = kInStep | kSchedule;

}  // namespace km::check_tool

namespace km {

/// The names for messages.
constexpr const char* kAllCheckToolNames = "memory, init, race, sync, streams, leak or all";

}  // namespace km
