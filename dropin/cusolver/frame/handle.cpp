#include "dropin/cusolver/frame/handle.h"

namespace km::cusolver {

cusolverStatus_t open_handle(Handle& handle) {
  const Driver* const driver = library::driver();
  if (driver == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (driver->table == nullptr) {
    return frame::fail(CUSOLVER_STATUS_NOT_INITIALIZED,
                       "libcusolver works with Kernelmill's libcuda.so.1 only; another driver is "
                       "loaded");
  }
  LIB_CHECK(library::enter_context(*driver));
  handle.driver = driver;
  return status_of(driver->cuCtxGetCurrent(&handle.context));
}

}  // namespace km::cusolver
