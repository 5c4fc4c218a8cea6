// Kinds of generators: their states in device memory, and the kernels that generate their numbers.
#pragma once

#include "dropin/curand/generator/generator.h"

namespace km::curand {

/// Creates the states for the sequence's beginning in device memory, in stream order.
cu::CUresult prepare_states(Generator& generator);
/// Creates everything that launch() needs at any position, in the order of the stream, which is not
/// being captured. From then on the position is kept on the device.
cu::CUresult prepare_for_capture(Generator& generator, const Request* request);
/// Queues the kernels that generate the numbers, and advances the position.
cu::CUresult launch(Generator& generator, uint64_t out, const Request& request);

}  // namespace km::curand
