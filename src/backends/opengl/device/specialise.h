// SPIR-V with values in place of its specialisation constants, which OpenGL's texts cannot have
// everywhere.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace km::opengl {

/// The module with these values of its constants (spirv::SpecialisationConstant), from which the
/// size of blocks follows. Constants without a value keep their own one.
std::vector<uint32_t> specialise(std::span<const uint32_t> module,
                                 const std::map<uint32_t, uint32_t>& values);

}  // namespace km::opengl
