// A GPU, and the primary context that it shares with the rest of the process.
#pragma once

#include <memory>
#include <mutex>

#include "backends/cuda/epoch.h"

namespace km::cuda {

/// The state that all handles of one GPU share; lives as long as the process.
class Gpu {
 public:
  static Result<Gpu*> open(uint32_t ordinal);

  uint32_t ordinal() const { return ordinal_; }
  cu::CUdevice device() const { return device_; }
  Result<int> attribute(cu::CUdevice_attribute attribute) const;
  bool has_pools() const { return has_pools_; }
  /// The GPU reads memory of the host that is not page-locked by itself, at any time.
  bool reads_pageable() const { return reads_pageable_; }

  /// The primary context: the one that is retained already, else retained now.
  Result<std::shared_ptr<Epoch>> retain();
  /// After `lost` failed: destroys everything in the primary context and retains it again.
  Result<std::shared_ptr<Epoch>> replace(const std::shared_ptr<Epoch>& lost);

  struct Priorities {
    int least = 0, greatest = 0;
  };
  Result<Priorities> priorities();

 private:
  explicit Gpu(uint32_t ordinal) : ordinal_(ordinal) {}
  Status read();
  Result<std::shared_ptr<Epoch>> retain_locked();

  const uint32_t ordinal_;
  cu::CUdevice device_ = 0;
  bool has_pools_ = false, reads_pageable_ = false;

  std::mutex mutex_;
  std::weak_ptr<Epoch> current_;
  bool knows_priorities_ = false;
  Priorities priorities_;
};

class Device {
 public:
  explicit Device(Gpu& gpu) : gpu_(gpu) {}
  Gpu& gpu() const { return gpu_; }

 private:
  Gpu& gpu_;
};

}  // namespace km::cuda
