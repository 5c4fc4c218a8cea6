#include "hosts/opencl_host.h"
#include "kernels/sgemm_tiled16/problem.h"

namespace km::bench {
namespace {

class OpenclSgemm : public SgemmTiled16 {
 public:
  OpenclSgemm() : kernel_(host_.kernel("sgemm_tiled16", "sgemm")) {
    const cl_mem a = host_.allocate(4ull * kElements, a_.data());
    const cl_mem b = host_.allocate(4ull * kElements, b_.data());
    c_ = host_.allocate(4ull * kElements);
    kernel_.set_shape(kSize, kTile, kSize, kTile);
    kernel_.set_arguments(a, b, c_, kSize);
  }
  void run() override { kernel_.run(); }
  std::string check() override {
    std::vector<float> result(kElements);
    host_.download(c_, result.data(), 4ull * kElements);
    return check_product(result.data());
  }

 private:
  OpenclHost host_;
  OpenclKernel kernel_;
  cl_mem c_ = nullptr;
};

const Registration kRegistration("sgemm_tiled16", make<OpenclSgemm>);

}  // namespace
}  // namespace km::bench
