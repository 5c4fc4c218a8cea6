// Releases objects whose destructors call the driver, later if the driver may not be called now.
#pragma once

#include <memory>
#include <utility>

#include "backends/cuda/driver/reaper.h"
#include "base/callback/host_function.h"

namespace km::cuda {

/// Destroys an object whose destructor calls the driver. Inside a host function, where driver calls
/// are not permitted, the reaper destroys it.
template <class T>
void let_go(std::unique_ptr<T> last) {
  if (!in_host_function()) return;
  std::shared_ptr<T> kept(std::move(last));
  post_job([kept]() mutable {
    kept.reset();
    return true;
  });
}

/// Makes a shared pointer whose deleter is let_go().
template <class T>
std::shared_ptr<T> share(std::unique_ptr<T> made) {
  return std::shared_ptr<T>(made.release(), [](T* last) { let_go(std::unique_ptr<T>(last)); });
}

}  // namespace km::cuda
