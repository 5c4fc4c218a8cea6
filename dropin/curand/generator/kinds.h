// Kinds of generators: their states in device memory, and the kernels that make their numbers.
#pragma once

#include "dropin/curand/generator/generator.h"

namespace km::curand {

/// Puts the states of a generator's beginning into device memory, in the order of the stream.
cu::CUresult prepare_states(Generator& generator);
/// Makes all that launch() needs for any place in the generator's numbers, in the order of the
/// stream, which is not captured; from now on the place is counted on the device.
cu::CUresult prepare_for_capture(Generator& generator, const Request* request);
/// Queues the kernels that make the numbers, and moves the generator on.
cu::CUresult launch(Generator& generator, uint64_t out, const Request& request);

}  // namespace km::curand
