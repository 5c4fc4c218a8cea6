// Names and texts of the runtime's errors.
#pragma once

#include "dropin/cudart/frame/types.h"

namespace km::cudart {

/// A name such as "cudaErrorInvalidValue"; null if the number is not an error.
const char* error_name(cudaError_t error) noexcept;
/// A text such as "invalid argument"; null if the number is not an error.
const char* error_text(cudaError_t error) noexcept;
/// True if the error persists until the device is reset, because a kernel has failed.
bool is_sticky(cudaError_t error) noexcept;

}  // namespace km::cudart
