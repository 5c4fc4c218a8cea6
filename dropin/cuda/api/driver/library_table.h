// The table of services that the CUDA libraries beside libcuda.so.1 find by cuGetExportTable.
#pragma once

#include "dropin/cuda/frame/call.h"

namespace km::dropin {

/// The library::LibraryTable when `id` is its id, else null.
const void* find_library_table(const CUuuid* id);

}  // namespace km::dropin
