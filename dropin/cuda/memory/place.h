// Resolves an address that a call names, in whichever context the memory belongs to.
#pragma once

#include "core/queue/copy.h"
#include "dropin/cuda/context/context.h"

namespace km::dropin {

/// Device memory that stays alive until the call returns.
class Place {
 public:
  /// CUDA_ERROR_INVALID_VALUE if the range is not inside one allocation.
  CUresult find(Context& context, CUdeviceptr address, uint64_t size_bytes, const char* what);
  /// Like find(), but without logging an error, for addresses that may be the host's.
  bool try_find(Context& context, CUdeviceptr address, uint64_t size_bytes);
  /// Has no memory if the range is empty and nothing is mapped there.
  const DevicePlace& place() const { return place_; }
  km::Memory& memory() const { return *place_.memory; }

 private:
  FoundMemory found_;
  Ref<km::Memory> kept_;
  DevicePlace place_;
};

}  // namespace km::dropin
