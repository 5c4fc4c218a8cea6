#include "hosts/kernelmill_host.h"
#include "kernels/mandelbrot/problem.h"

namespace km::bench {
namespace {

class KernelmillMandelbrot : public Mandelbrot {
 public:
  KernelmillMandelbrot() : kernel_(host_.kernel("mandelbrot", "mandelbrot")) {
    iterations_ = host_.allocate(4ull * kPixels);
    kernel_.set_shape({{kWidth / kBlockX, kHeight / kBlockY, 1}, {kBlockX, kBlockY, 1}, 0});
    kernel_.set_arguments(iterations_, kWidth, kHeight, kLimit);
  }
  void run() override { kernel_.run(); }
  std::string check() override {
    std::vector<int> result(kPixels);
    host_.download(iterations_, result.data(), 4ull * kPixels);
    return check_iterations(result.data());
  }

 private:
  KernelmillHost host_;
  KernelmillKernel kernel_;
  uint64_t iterations_ = 0;
};

const Registration kRegistration("mandelbrot", make<KernelmillMandelbrot>);

}  // namespace
}  // namespace km::bench
