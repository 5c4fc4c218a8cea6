// The table of services that the CUDA libraries other than libcuda.so.1 get through
// cuGetExportTable.
#pragma once

#include "dropin/cuda/frame/call.h"

namespace km::dropin {

/// The library::LibraryTable if `id` is its id; otherwise null.
const void* find_library_table(const CUuuid* id);

}  // namespace km::dropin
