#include "hosts/opencl_host.h"
#include "kernels/launch_sync/problem.h"

namespace km::bench {
namespace {

class OpenclLaunchSync : public LaunchSync {
 public:
  OpenclLaunchSync() : kernel_(host_.kernel("launch_sync", "empty")) {
    kernel_.set_shape(kBlock, kBlock);
    kernel_.set_arguments(host_.allocate(256));
  }
  void run() override { kernel_.run(); }

 private:
  OpenclHost host_;
  OpenclKernel kernel_;
};

const Registration kRegistration("launch_sync", make<OpenclLaunchSync>);

}  // namespace
}  // namespace km::bench
