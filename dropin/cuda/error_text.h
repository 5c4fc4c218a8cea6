// Names and texts of CUresults.
#pragma once

#include "cuda/driver.h"

namespace km::dropin {

/// "CUDA_ERROR_INVALID_VALUE"; null for values that are none.
const char* error_name(cu::CUresult result);
/// "invalid argument"; null for values that are none.
const char* error_text(cu::CUresult result);

}  // namespace km::dropin
