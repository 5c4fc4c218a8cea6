// NVRTC's functions, bound at run time.
#pragma once

#include <cstddef>

#include "compile/compile.h"

namespace km {

/// The results that need separate treatment; the values are NVRTC's.
enum NvrtcResult : int {
  kNvrtcSuccess = 0,
  kNvrtcOutOfMemory = 1,
  kNvrtcInvalidOption = 5,
  kNvrtcCompilation = 6,
  kNvrtcBuiltinOperationFailure = 7,
  kNvrtcNameExpressionNotValid = 10,
};

struct NvrtcApi {
#define X(required, result, name, parameters) result(*name) parameters = nullptr;
#include "compile/nvrtc_symbols.inc"
#undef X
};

/// A loaded NVRTC with its functions.
struct Nvrtc {
  NvrtcApi api;
  NvrtcInfo info;
};

/// Loads the library at `path`, or by that name from the loader's search path, and queries its
/// version.
Result<Nvrtc> load_nvrtc(const std::string& path);

/// The NVRTC of this process, found and loaded at the first call.
Result<const Nvrtc*> nvrtc();

}  // namespace km
