// Calls of BLAS, queued or captured.
#pragma once

#include "core/blas/blas.h"

namespace km {

/// Queues the call in the object's stream, or captures it.
Status submit_blas(Blas& blas, const BlasWork& work);

}  // namespace km
