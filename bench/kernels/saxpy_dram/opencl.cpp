#include "hosts/opencl_host.h"
#include "kernels/saxpy_dram/problem.h"

namespace km::bench {
namespace {

class OpenclSaxpyDram : public SaxpyDram {
 public:
  OpenclSaxpyDram() : kernel_(host_.kernel("saxpy_dram", "saxpy")) {
    std::vector<float> x(kCount), y(kCount);
    fill(x.data(), y.data());
    const cl_mem device_x = host_.allocate(4ull * kCount, x.data());
    y_ = host_.allocate(4ull * kCount, y.data());
    kernel_.set_shape(kCount, kBlock);
    kernel_.set_arguments(kFactor, device_x, y_, kCount);
  }
  void run() override { kernel_.run(); }
  std::string check() override {
    std::vector<float> y(kCount);
    host_.download(y_, y.data(), 4ull * kCount);
    return check_values(y.data());
  }

 private:
  OpenclHost host_;
  OpenclKernel kernel_;
  cl_mem y_ = nullptr;
};

const Registration kRegistration("saxpy_dram", make<OpenclSaxpyDram>);

}  // namespace
}  // namespace km::bench
