// Properties of a GPU, which the driver reports.
#pragma once

#include <cstdint>

#include "backends/cuda/driver/driver.h"

namespace km::cuda {

/// The properties of one GPU, read at its first use. It lives as long as the process.
class Gpu {
 public:
  explicit Gpu(uint32_t ordinal) : ordinal_(ordinal) {}
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  /// Reads the properties from the driver; must be called first.
  Status read();

  uint32_t ordinal() const { return ordinal_; }
  cu::CUdevice device() const { return device_; }
  Result<int> attribute(cu::CUdevice_attribute attribute) const;
  bool has_pools() const { return has_pools_; }
  /// True if the GPU reads host memory that is not page-locked directly, at any time.
  bool reads_pageable() const { return reads_pageable_; }

 private:
  const uint32_t ordinal_;
  cu::CUdevice device_ = 0;
  bool has_pools_ = false, reads_pageable_ = false;
};

}  // namespace km::cuda
