// The CUDA driver as the other libraries use it, loaded when the first call needs it.
#pragma once

#include "cuda/driver.h"
#include "dropin/library/table.h"

namespace km::library {

struct Driver {
#define KM_LIBRARY_DRIVER(name) decltype(&cu::name) name;
#include "dropin/library/driver.def"
#undef KM_LIBRARY_DRIVER
  const LibraryTable* table;  // null: the driver is not Kernelmill's
};

/// The initialised driver. Null if there is none, if it has no device, or in a forked child of a
/// process that used it; the log gives the reason.
const Driver* driver();
/// Like driver(), but without cuInit: null if there is no libcuda.so.1.
const Driver* loaded_driver();
/// The services of Kernelmill's driver once driver() has found it. Null before that, and for
/// another driver.
const LibraryTable* table_if_loaded() noexcept;

/// True if the program may not call a library: inside a stream's host function or another callback
/// of the driver. Libraries check this before they take a lock, whose holder may be waiting for
/// that function.
inline bool is_in_callback() noexcept {
  const LibraryTable* const table = table_if_loaded();
  return table != nullptr && table->is_in_callback();
}

/// Makes a context current if the thread has none: device 0's primary context. After a reset, a
/// current primary context is retained again.
cu::CUresult enter_context(const Driver& driver);

/// Tracks one life of a context. A device reset ends its primary context, whose handle stays valid,
/// so the handle alone does not show that memory is gone.
class ContextLife {
 public:
  /// Remembers the current context.
  cu::CUresult note_current(const Driver& driver);
  void forget() noexcept { context_ = nullptr; }
  bool is_noted() const noexcept { return context_ != nullptr; }
  /// Null before note_current().
  cu::CUcontext context() const noexcept { return context_; }
  /// Returns false if the context has ended: its objects no longer exist, and their addresses may
  /// be in use again.
  bool goes_on(const Driver& driver) const;

 private:
  cu::CUcontext context_ = nullptr;
  unsigned long long id_ = 0;
};

}  // namespace km::library
