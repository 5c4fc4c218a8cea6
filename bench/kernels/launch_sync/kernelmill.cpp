#include "hosts/kernelmill_host.h"
#include "kernels/launch_sync/problem.h"

namespace km::bench {
namespace {

class KernelmillLaunchSync : public LaunchSync {
 public:
  KernelmillLaunchSync() : kernel_(host_.kernel("launch_sync", "empty")) {
    kernel_.set_shape({{1, 1, 1}, {kBlock, 1, 1}, 0});
    kernel_.set_arguments(host_.allocate(256));
  }
  void run() override { kernel_.run(); }

 private:
  KernelmillHost host_;
  KernelmillKernel kernel_;
};

const Registration kRegistration("launch_sync", make<KernelmillLaunchSync>);

}  // namespace
}  // namespace km::bench
