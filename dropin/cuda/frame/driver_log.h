// The texts of errors, kept for cuLogs*.
#pragma once

#include "dropin/cuda/frame/call.h"

namespace km::dropin {

/// Keeps a text, for cuLogs* and for the listeners, who hear of it when the call fails.
void keep_log(const char* text) noexcept;

}  // namespace km::dropin
