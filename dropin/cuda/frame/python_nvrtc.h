// NVRTC for Python programs that look for it among the packages of their environment before they
// ask the dynamic linker: NVIDIA's would give them machine code of GPUs.
#pragma once

namespace km::dropin {

/// Loads our NVRTC of the version that lies among the packages; such programs ask first whether
/// the process has one. Does nothing where there is none.
void load_nvrtc_of_python();

}  // namespace km::dropin
