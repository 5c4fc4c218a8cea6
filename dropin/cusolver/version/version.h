// The CUDA version of this library, for source files that are compiled into both versions.
#pragma once

namespace km::cusolver {

/// The version that cusolverGetVersion returns: 11703 for 11.7.3.
extern const int kVersion;

}  // namespace km::cusolver
