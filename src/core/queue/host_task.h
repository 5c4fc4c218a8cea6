// Tasks of libraries: work of the host in a stream, queued or captured.
#pragma once

#include <span>

#include "backend/interface.h"
#include "core/memory/submission.h"

namespace km {

/// Queues the task in the stream, or captures it. KM_ERROR_NOT_SUPPORTED if the stream's backend
/// has no tasks.
Status submit_task(Stream& stream, const kmb_task& task, std::span<MemoryUse> uses);

}  // namespace km
