#include "kernels/mandelbrot/problem.h"

namespace km::bench {
namespace {

class OpenmpMandelbrot : public Mandelbrot {
 public:
  void run() override {
    int* const out = iterations_.data();
#pragma omp parallel for schedule(dynamic, 4)
    for (int py = 0; py < kHeight; ++py) {
      for (int px = 0; px < kWidth; ++px) out[py * kWidth + px] = iterate(px, py);
    }
  }
  std::string check() override { return check_iterations(iterations_.data()); }

 private:
  std::vector<int> iterations_ = std::vector<int>(kPixels);
};

const Registration kRegistration("mandelbrot", make<OpenmpMandelbrot>);

}  // namespace
}  // namespace km::bench
