// `kernelmill kernels --emit`: a kernel as a compute shader.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/kernels/source.h"

namespace km::tools {

/// The languages of --emit, as the command names them.
std::vector<std::string> shader_languages();

/// A ShaderRequest says of which kernel a shader is asked for, and in which language.
struct ShaderRequest {
  Source source;  // CUDA C++ or PTX
  CompileOptions options;
  std::vector<std::string> instances;
  std::string kernel;  // a name in the source or in the PTX; empty: the only one
  std::string language;
  bool has_arena = false;  // device memory is one buffer, also where the language has pointers
  /// The size of blocks and words of dynamic shared memory (spirv::Options::shape).
  std::array<uint32_t, 4> shape{};
};

/// The shader: words for "spirv", text for the others. KM_ERROR_UNSUPPORTED_PTX names an
/// instruction that has no counterpart in the language.
Result<std::string> make_shader(const ShaderRequest& request);

}  // namespace km::tools
