// SPIR-V to the text of other shading languages, by SPIRV-Cross: its C library is opened at run
// time.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace km::shaders {

enum class Language : uint8_t {
  glsl_of_vulkan,  // GLSL 4.60 with Vulkan's push constants and specialisation constants
  glsl,            // of OpenGL
  glsl_es,         // of OpenGL ES
  msl,             // Metal's language
  hlsl,
};

/// The text of a module with one compute shader. KM_ERROR_BACKEND_UNAVAILABLE if there is no
/// SPIRV-Cross, with what to install; KM_ERROR_NOT_SUPPORTED, with SPIRV-Cross's own reason, if the
/// language lacks something that the module has. `version` is that of the language, as its texts
/// begin: 430, 310, or a shader model such as 60; 0: the newest that is known.
Result<std::string> text_of(std::span<const uint32_t> spirv, Language language,
                            uint32_t version = 0);

/// Opens SPIRV-Cross, once for the process.
Status load_spirv_cross();

}  // namespace km::shaders
