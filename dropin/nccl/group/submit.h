// Operations of a call as work of streams.
#pragma once

#include <vector>

#include "dropin/nccl/group/group.h"

namespace km::nccl {

/// Queues the operations: those of one stream are one piece of work, in which they go on together.
ncclResult_t submit(const std::vector<Request>& requests);

}  // namespace km::nccl
