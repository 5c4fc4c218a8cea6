// The libraries' kernels, compiled from PTX that is part of the library.
#pragma once

#include <atomic>

#include "dropin/library/driver.h"

namespace km::library {

/// A PTX module, which the driver loads when one of its kernels is first launched. No lock is held
/// meanwhile, because a callback of CUPTI may launch the module's kernels.
class KernelModule {
 public:
  constexpr explicit KernelModule(const char* ptx) : ptx_(ptx) {}

  /// Launches a kernel whose only parameter is a structure.
  template <class Parameters>
  cu::CUresult launch(const Driver& driver, cu::CUstream stream, const char* kernel,
                      const unsigned (&grid)[3], unsigned block, const Parameters& parameters) {
    return launch_bytes(driver, stream, kernel, grid, block, const_cast<Parameters*>(&parameters));
  }

 private:
  cu::CUresult load(const Driver& driver);
  cu::CUresult launch_bytes(const Driver& driver, cu::CUstream stream, const char* kernel,
                            const unsigned (&grid)[3], unsigned block, void* parameters);

  const char* const ptx_;
  std::atomic<cu::CUlibrary> library_{nullptr};
};

/// Memory that is allocated and freed in a stream's order.
class StreamMemory {
 public:
  StreamMemory(const Driver& driver, cu::CUstream stream) : driver_(driver), stream_(stream) {}
  ~StreamMemory() {
    if (address_ != 0) driver_.cuMemFreeAsync(address_, stream_);
  }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  cu::CUresult allocate(uint64_t size_bytes) {
    return driver_.cuMemAllocAsync(&address_, size_bytes, stream_);
  }
  cu::CUdeviceptr address() const { return address_; }

 private:
  const Driver& driver_;
  const cu::CUstream stream_;
  cu::CUdeviceptr address_ = 0;
};

}  // namespace km::library
