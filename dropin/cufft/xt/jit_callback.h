// Callbacks that are compiled when a plan is made: code for link-time optimisation, or PTX.
#pragma once

#include <memory>
#include <string>

#include "dropin/cufft/plan/plan.h"

namespace km::cufft {

/// Compiles a function of the given name and loads it. Code for link-time optimisation wants
/// NVIDIA's nvJitLink and NVRTC.
cufftResult load_jit_callback(const Driver& driver, const std::string& function,
                              const std::string& code, cufftXtCallbackType type, Callback* out);

}  // namespace km::cufft
