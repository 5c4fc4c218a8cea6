// NVIDIA's nvJitLink, which alone compiles code for link-time optimisation (LTO-IR).
#pragma once

#include <string>
#include <vector>

#include "dropin/nvjitlink/nvjitlink.h"

namespace km::nvjitlink {

/// An input that only NVIDIA's library can read.
struct LinkTimeInput {
  nvJitLinkInputType type;
  std::string bytes, name;
};

/// True if NVIDIA's library is installed.
bool has_nvidia_linker();
/// The advice for a machine without it.
inline constexpr const char* kNoNvidiaLinker =
    "link-time optimisation (-lto) needs NVIDIA's nvJitLink, which was not found: install the "
    "Python package nvidia-nvjitlink, name the library by KM_NVJITLINK, or compile without -lto";

/// Compiles and links the inputs to PTX, by the program's options. What NVIDIA's library says is
/// appended to the logs.
nvJitLinkResult compile_link_time_inputs(const std::vector<LinkTimeInput>& inputs,
                                         const std::vector<std::string>& options, std::string* ptx,
                                         std::string* errors, std::string* infos);

}  // namespace km::nvjitlink
