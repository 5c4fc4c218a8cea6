// The primary context of a GPU, which the library shares with the rest of the process.
#pragma once

#include <memory>
#include <mutex>

#include "backends/cuda/context/epoch.h"
#include "backends/cuda/context/gpu.h"

namespace km::cuda {

/// The state that all handles of one GPU share. It lives as long as the process.
class PrimaryContext {
 public:
  static Result<PrimaryContext*> open(uint32_t ordinal);

  const Gpu& gpu() const { return gpu_; }

  /// Returns the current epoch, or retains the primary context if there is none.
  Result<std::shared_ptr<Epoch>> retain();
  /// Called after `lost` failed: resets the primary context, which destroys everything in it, and
  /// retains it again.
  Result<std::shared_ptr<Epoch>> replace(const std::shared_ptr<Epoch>& lost);

  struct Priorities {
    int least = 0, greatest = 0;
  };
  Result<Priorities> priorities();

 private:
  explicit PrimaryContext(uint32_t ordinal) : gpu_(ordinal) {}
  Result<std::shared_ptr<Epoch>> retain_locked();

  Gpu gpu_;

  std::mutex mutex_;  // guards the members below
  std::weak_ptr<Epoch> current_;
  bool knows_priorities_ = false;
  Priorities priorities_;
};

}  // namespace km::cuda
