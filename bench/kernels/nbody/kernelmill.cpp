#include "hosts/kernelmill_host.h"
#include "kernels/nbody/problem.h"

namespace km::bench {
namespace {

class KernelmillNbody : public Nbody {
 public:
  KernelmillNbody() : kernel_(host_.kernel("nbody", "nbody")) {
    const uint64_t bodies = host_.allocate(16ull * kCount, bodies_.data());
    accelerations_ = host_.allocate(16ull * kCount);
    kernel_.set_shape({{kCount / kBlock, 1, 1}, {kBlock, 1, 1}, 0});
    kernel_.set_arguments(bodies, accelerations_, kCount);
  }
  void run() override { kernel_.run(); }
  std::string check() override {
    std::vector<float> result(4 * kCount);
    host_.download(accelerations_, result.data(), 16ull * kCount);
    return check_accelerations([&](int i, int c) { return result[4 * i + c]; });
  }

 private:
  KernelmillHost host_;
  KernelmillKernel kernel_;
  uint64_t accelerations_ = 0;
};

const Registration kRegistration("nbody", make<KernelmillNbody>);

}  // namespace
}  // namespace km::bench
