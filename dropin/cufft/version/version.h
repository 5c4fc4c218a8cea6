// The version of this library, for source files that are compiled into both versions.
#pragma once

namespace km::cufft {

/// The version that cufftGetVersion returns: 11401 for 11.4.1.
extern const int kVersion;

}  // namespace km::cufft
