#include "dropin/cudart/frame/last_error.h"

#include "dropin/cudart/frame/errors.h"

namespace km::cudart {

std::atomic<uint64_t> reset_epoch{1};

namespace {

struct Noted {
  cudaError_t error = cudaSuccess;
  uint64_t epoch = 0;  // number of resets when the error was recorded
};
thread_local Noted noted;

}  // namespace

cudaError_t record(cudaError_t error) noexcept {
  const cudaError_t known = error_name(error) != nullptr ? error : cudaErrorUnknown;
  noted = {known, reset_epoch.load(std::memory_order_acquire)};
  return known;
}

cudaError_t last_error() noexcept {
  if (is_sticky(noted.error) && noted.epoch != reset_epoch.load(std::memory_order_acquire)) {
    noted.error = cudaSuccess;
  }
  return noted.error;
}

cudaError_t take_last_error() noexcept {
  const cudaError_t error = last_error();
  if (!is_sticky(error)) noted.error = cudaSuccess;
  return error;
}

}  // namespace km::cudart
