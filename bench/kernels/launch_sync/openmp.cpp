#include <atomic>

#include "kernels/launch_sync/problem.h"

namespace km::bench {
namespace {

/// Fork and join of an empty parallel region: what starting work costs there.
class OpenmpLaunchSync : public LaunchSync {
 public:
  void run() override {
#pragma omp parallel
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
};

const Registration kRegistration("launch_sync", make<OpenmpLaunchSync>);

}  // namespace
}  // namespace km::bench
