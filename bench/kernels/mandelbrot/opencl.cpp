#include "hosts/opencl_host.h"
#include "kernels/mandelbrot/problem.h"

namespace km::bench {
namespace {

class OpenclMandelbrot : public Mandelbrot {
 public:
  OpenclMandelbrot() : kernel_(host_.kernel("mandelbrot", "mandelbrot")) {
    iterations_ = host_.allocate(4ull * kPixels);
    kernel_.set_shape(kWidth, kBlockX, kHeight, kBlockY);
    kernel_.set_arguments(iterations_, kWidth, kHeight, kLimit);
  }
  void run() override { kernel_.run(); }
  std::string check() override {
    std::vector<int> result(kPixels);
    host_.download(iterations_, result.data(), 4ull * kPixels);
    return check_iterations(result.data());
  }

 private:
  OpenclHost host_;
  OpenclKernel kernel_;
  cl_mem iterations_ = nullptr;
};

const Registration kRegistration("mandelbrot", make<OpenclMandelbrot>);

}  // namespace
}  // namespace km::bench
