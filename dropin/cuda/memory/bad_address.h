// Findings of the checker about addresses that calls of the driver give.
#pragma once

#include "dropin/cuda/context/context.h"

namespace km::dropin {

/// Notes that a call names a range that lies in no allocation. `what` is the argument.
void note_bad_range(Context& context, CUdeviceptr address, uint64_t size_bytes, const char* what);
/// Notes that a call frees memory at an address at which no allocation begins.
void note_bad_free(Context& context, uint64_t address);
/// Notes that a call gives device memory as the host's, if it does so. The copy is made all the
/// same, because device memory is the host's here.
void note_device_as_host(Context& context, uint64_t address, uint64_t size_bytes, const char* what);

}  // namespace km::dropin
