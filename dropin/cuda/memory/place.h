// Memory that a call names by address, found in whatever context it belongs to.
#pragma once

#include "core/queue/copy.h"
#include "dropin/cuda/context/context.h"

namespace km::dropin {

/// Device memory, in place until the call returns.
class Place {
 public:
  /// CUDA_ERROR_INVALID_VALUE when the range lies in no allocation.
  CUresult find(Context& context, CUdeviceptr address, uint64_t size_bytes, const char* what);
  /// find() without a message, for addresses that may be the host's.
  bool try_find(Context& context, CUdeviceptr address, uint64_t size_bytes);
  /// Without memory where an empty range was asked for that nothing is mapped at.
  const DevicePlace& place() const { return place_; }
  km::Memory& memory() const { return *place_.memory; }

 private:
  FoundMemory found_;
  Ref<km::Memory> kept_;
  DevicePlace place_;
};

}  // namespace km::dropin
