#include "kernels/mandelbrot/problem.h"

namespace km::bench {
namespace {

class OpenmpMandelbrot : public Mandelbrot {
 public:
  using Mandelbrot::Mandelbrot;
  void run() override {
    int* const out = iterations_.data();
    const int edge = edge_;
#pragma omp parallel for schedule(dynamic, 4)
    for (int py = 0; py < edge; ++py) {
      for (int px = 0; px < edge; ++px) out[py * edge + px] = iterate(px, py);
    }
  }
};

const Registration kRegistration("mandelbrot", make<OpenmpMandelbrot>);

}  // namespace
}  // namespace km::bench
