// Objects whose destructors call the driver: they go later where that is not permitted now.
#pragma once

#include <memory>
#include <utility>

#include "backends/cuda/driver/reaper.h"
#include "base/callback/host_function.h"

namespace km::cuda {

/// Lets an object go whose destructor calls the driver: later, where that is not permitted now.
template <class T>
void let_go(std::unique_ptr<T> last) {
  if (!in_host_function()) return;
  std::shared_ptr<T> kept(std::move(last));
  post_job([kept]() mutable {
    kept.reset();
    return true;
  });
}

/// Shares an object; the last reference is let go like that.
template <class T>
std::shared_ptr<T> share(std::unique_ptr<T> made) {
  return std::shared_ptr<T>(made.release(), [](T* last) { let_go(std::unique_ptr<T>(last)); });
}

}  // namespace km::cuda
