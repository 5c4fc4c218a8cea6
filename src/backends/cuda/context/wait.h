// Waits with a timeout, which the driver does not have.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>

#include "backends/cuda/context/context.h"
#include "backends/cuda/driver/entries.h"

namespace km::cuda {

/// Without a timeout it calls `wait`; with a timeout of 0 it calls `ask` once and may return
/// KM_NOT_READY; otherwise it polls `ask` and returns KM_TIMEOUT after the timeout.
template <class Ask, class Wait>
km_status wait_for(Epoch& epoch, uint64_t timeout_ns, Ask ask, Wait wait, kmb_error* error) {
  using Clock = std::chrono::steady_clock;
  constexpr long kShortestNs = 1000, kLongestNs = 200'000;  // between two calls of `ask`
  return guarded(error, [&]() -> Status {
    KM_TRY(epoch.require_alive());
    const Current current(epoch);
    KM_TRY(require_current(epoch, current));
    if (timeout_ns == KMB_WAIT_FOREVER) return epoch.check(wait());
    const Clock::time_point begin = Clock::now();
    long pause_ns = kShortestNs;
    while (true) {
      const Called called = ask();
      if (called.result != cu::CUDA_ERROR_NOT_READY) return epoch.check(called);
      if (timeout_ns == 0) return Error{KM_NOT_READY, {}, 0};
      const auto passed =
          static_cast<uint64_t>((Clock::now() - begin) / std::chrono::nanoseconds(1));
      if (passed >= timeout_ns) return Error{KM_TIMEOUT, {}, 0};
      const timespec pause{0, std::min(pause_ns, static_cast<long>(std::min<uint64_t>(
                                                     timeout_ns - passed, kLongestNs)))};
      nanosleep(&pause, nullptr);
      pause_ns = std::min(pause_ns * 2, kLongestNs);
    }
  });
}

}  // namespace km::cuda
