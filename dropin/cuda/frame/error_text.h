// Texts of CUresults.
#pragma once

#include "cuda/driver.h"

namespace km::dropin {

/// "invalid argument"; null for values that are none.
const char* error_text(cu::CUresult result);

}  // namespace km::dropin
