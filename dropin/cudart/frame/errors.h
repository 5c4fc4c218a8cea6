// Names and texts of the runtime's errors.
#pragma once

#include "dropin/cudart/frame/types.h"

namespace km::cudart {

/// "cudaErrorInvalidValue"; null for numbers that are no error.
const char* error_name(cudaError_t error) noexcept;
/// "invalid argument"; null for numbers that are no error.
const char* error_text(cudaError_t error) noexcept;
/// True when the error stays until the device is reset: a kernel has failed.
bool is_sticky(cudaError_t error) noexcept;

}  // namespace km::cudart
