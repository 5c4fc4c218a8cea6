#include "hosts/opencl_host.h"
#include "kernels/nbody/problem.h"

namespace km::bench {
namespace {

class OpenclNbody : public Nbody {
 public:
  OpenclNbody() : kernel_(host_.kernel("nbody", "nbody")) {
    const cl_mem bodies = host_.allocate(16ull * kCount, bodies_.data());
    accelerations_ = host_.allocate(16ull * kCount);
    kernel_.set_shape(kCount, kBlock);
    kernel_.set_arguments(bodies, accelerations_, kCount);
  }
  void run() override { kernel_.run(); }
  std::string check() override {
    std::vector<float> result(4 * kCount);
    host_.download(accelerations_, result.data(), 16ull * kCount);
    return check_accelerations([&](int i, int c) { return result[4 * i + c]; });
  }

 private:
  OpenclHost host_;
  OpenclKernel kernel_;
  cl_mem accelerations_ = nullptr;
};

const Registration kRegistration("nbody", make<OpenclNbody>);

}  // namespace
}  // namespace km::bench
