// The listener of the driver's and the runtime's calls.
#pragma once

#include "dropin/library/driver.h"

namespace km::cupti {

/// Begins or stops to hear of calls. CUDA_ERROR_NOT_FOUND if the driver tells of none.
cu::CUresult listen_to_calls(const library::Driver& driver, bool on);

}  // namespace km::cupti
