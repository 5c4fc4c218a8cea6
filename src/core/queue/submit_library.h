// Calls of libraries beside BLAS, queued or captured.
#pragma once

#include "core/library/library_work.h"

namespace km {

/// Queues the call in the stream, or captures it. KM_ERROR_NOT_SUPPORTED if the stream's backend
/// has no such libraries.
Status submit_library(Stream& stream, const LibraryWork& work);

}  // namespace km
