#include "hosts/kernelmill_host.h"
#include "kernels/sgemm_tiled16/problem.h"

namespace km::bench {
namespace {

class KernelmillSgemm : public SgemmTiled16 {
 public:
  KernelmillSgemm() : kernel_(host_.kernel("sgemm_tiled16", "sgemm")) {
    const uint64_t a = host_.allocate(4ull * kElements, a_.data());
    const uint64_t b = host_.allocate(4ull * kElements, b_.data());
    c_ = host_.allocate(4ull * kElements);
    kernel_.set_shape({{kSize / kTile, kSize / kTile, 1}, {kTile, kTile, 1}, 0});
    kernel_.set_arguments(a, b, c_, kSize);
  }
  void run() override { kernel_.run(); }
  std::string check() override {
    std::vector<float> result(kElements);
    host_.download(c_, result.data(), 4ull * kElements);
    return check_product(result.data());
  }

 private:
  KernelmillHost host_;
  KernelmillKernel kernel_;
  uint64_t c_ = 0;
};

const Registration kRegistration("sgemm_tiled16", make<KernelmillSgemm>);

}  // namespace
}  // namespace km::bench
