// The files of this installation among those that may be NVIDIA's.
#pragma once

#include <filesystem>

namespace km::library {

/// True if the file is one of this installation's CUDA libraries, of which those for single CUDA
/// versions lie in folders below the others'. A library that opened one in place of NVIDIA's would
/// forward calls to itself.
bool is_own_file(const std::filesystem::path& path);

}  // namespace km::library
