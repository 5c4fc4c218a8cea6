// Texts of CUresults.
#pragma once

#include "cuda/driver.h"

namespace km::dropin {

/// A result's text, such as "invalid argument"; null for values that are not CUresults.
const char* error_text(cu::CUresult result);

}  // namespace km::dropin
