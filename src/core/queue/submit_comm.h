// Operations of communicators, queued or captured.
#pragma once

#include <span>

#include "core/library/comm.h"

namespace km {

/// Queues the operations, which are of one stream, or captures them as one node.
Status submit_comm(std::span<const CommRequest> requests);

}  // namespace km
