// A context that is current for a while.
#pragma once

#include "dropin/library/driver.h"

namespace km::library {

/// Makes a context current, and restores the previous one at its end.
class CurrentContext {
 public:
  CurrentContext(const Driver& driver, cu::CUcontext context)
      : driver_(driver), result_(driver.cuCtxPushCurrent_v2(context)) {}
  ~CurrentContext() {
    cu::CUcontext popped = nullptr;
    if (result_ == cu::CUDA_SUCCESS) driver_.cuCtxPopCurrent_v2(&popped);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  cu::CUresult result() const { return result_; }

 private:
  const Driver& driver_;
  const cu::CUresult result_;
};

}  // namespace km::library
