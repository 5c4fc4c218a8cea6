// Work that a library queues, captured as a graph.
#pragma once

#include <functional>

#include "backends/cuda/context/epoch.h"

namespace km::cuda {

/// Captures what `record` queues in its stream as a graph, which the caller owns. The context must
/// be current.
Status capture_work(Epoch& epoch, const std::function<Status(cu::CUstream)>& record,
                    cu::CUgraph* out_graph);

}  // namespace km::cuda
