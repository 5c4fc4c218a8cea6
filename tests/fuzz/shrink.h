// Makes a kernel that goes wrong as small as it can be.
#pragma once

#include <functional>

#include "kernel.h"

namespace km::fuzz {

/// Tries to take out statements, threads and results as long as `still_wrong` says yes, at most
/// `tries` times.
Kernel shrink(Kernel kernel, const std::function<bool(const Kernel&)>& still_wrong, unsigned tries);

}  // namespace km::fuzz
