// The CUDA driver as the libraries beside it use it, found when the first call needs it.
#pragma once

#include "cuda/driver.h"
#include "dropin/library/table.h"

namespace km::library {

struct Driver {
#define KM_LIBRARY_DRIVER(name) decltype(&cu::name) name;
#include "dropin/library/driver.def"
#undef KM_LIBRARY_DRIVER
  const LibraryTable* table;  // null: the driver is not ours
};

/// The driver, initialised; null when there is none, or it has no device: the log says why.
const Driver* driver() noexcept;
/// driver() without cuInit: null when there is no libcuda.so.1.
const Driver* loaded_driver() noexcept;

/// Makes sure that the thread has a context: the primary one of device 0 when none is current.
cu::CUresult enter_context(const Driver& driver) noexcept;

}  // namespace km::library
