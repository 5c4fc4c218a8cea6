#include "hosts/kernelmill_host.h"
#include "kernels/saxpy_dram/problem.h"

namespace km::bench {
namespace {

class KernelmillSaxpyDram : public SaxpyDram {
 public:
  KernelmillSaxpyDram() : kernel_(host_.kernel("saxpy_dram", "saxpy")) {
    std::vector<float> x(kCount), y(kCount);
    fill(x.data(), y.data());
    const uint64_t device_x = host_.allocate(4ull * kCount, x.data());
    y_ = host_.allocate(4ull * kCount, y.data());
    kernel_.set_shape({{kCount / kBlock, 1, 1}, {kBlock, 1, 1}, 0});
    kernel_.set_arguments(kFactor, device_x, y_, kCount);
  }
  void run() override { kernel_.run(); }
  std::string check() override {
    std::vector<float> y(kCount);
    host_.download(y_, y.data(), 4ull * kCount);
    return check_values(y.data());
  }

 private:
  KernelmillHost host_;
  KernelmillKernel kernel_;
  uint64_t y_ = 0;
};

const Registration kRegistration("saxpy_dram", make<KernelmillSaxpyDram>);

}  // namespace
}  // namespace km::bench
