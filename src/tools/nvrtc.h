// The CUDA C++ compiler of this process, as commands report it.
#pragma once

#include <string>

#include "base/result.h"

namespace km::tools {

/// An NVRTC that was found and loaded.
struct NvrtcFound {
  std::string release;  ///< "13.5.37"
  std::string path;     ///< the library's file
};

/// Finds NVRTC by compiling an empty source. The library's error lists the places it searched.
Result<NvrtcFound> find_nvrtc();

}  // namespace km::tools
