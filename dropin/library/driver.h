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

/// The driver, initialised; null when there is none, when it has no device, and in a child of a
/// process that used it: the log says why.
const Driver* driver();
/// driver() without cuInit: null when there is no libcuda.so.1.
const Driver* loaded_driver();
/// The services of our driver, once driver() has found it; null before, and for another driver.
const LibraryTable* table_if_loaded() noexcept;

/// True where the program may not call a library: in a host function of a stream, or in another
/// callback of the driver. Libraries ask before they take a lock, since its holder may wait for
/// that very function.
inline bool is_in_callback() noexcept {
  const LibraryTable* const table = table_if_loaded();
  return table != nullptr && table->is_in_callback();
}

/// Makes sure that the thread has a context: the primary one of device 0 when none is current, and
/// a current primary one again after its reset.
cu::CUresult enter_context(const Driver& driver);

/// The life of a context. A reset of the device ends that of the primary one, whose handle stays.
class ContextLife {
 public:
  /// Notes the current context.
  cu::CUresult note_current(const Driver& driver);
  void forget() noexcept { context_ = nullptr; }
  bool is_noted() const noexcept { return context_ != nullptr; }
  /// Null when none is noted.
  cu::CUcontext context() const noexcept { return context_; }
  /// False when the context is gone: what it held is gone, too, and its addresses may be others'.
  bool goes_on(const Driver& driver) const;

 private:
  cu::CUcontext context_ = nullptr;
  unsigned long long id_ = 0;
};

}  // namespace km::library
