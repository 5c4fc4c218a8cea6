// The texts of errors, kept for cuLogs*.
#pragma once

#include "dropin/cuda/call.h"

namespace km::dropin {

/// Keeps a text, and tells it those who asked to be told.
void keep_log(const char* text) noexcept;

}  // namespace km::dropin
