// SPIR-V to WGSL, by the program naga.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace km::shaders {

/// The text of a module with one compute shader. KM_ERROR_BACKEND_UNAVAILABLE if there is no
/// program naga on PATH, with what to install; KM_ERROR_NOT_SUPPORTED with naga's reason.
Result<std::string> wgsl_of(std::span<const uint32_t> spirv);

}  // namespace km::shaders
