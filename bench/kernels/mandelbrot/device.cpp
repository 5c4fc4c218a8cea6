#include "hosts/on_device.h"
#include "kernels/mandelbrot/problem.h"

namespace km::bench {
namespace {

class DeviceMandelbrot : public OnDevice<Mandelbrot> {
 public:
  explicit DeviceMandelbrot(uint64_t edge) : OnDevice("mandelbrot", edge) {
    const auto pixels = static_cast<uint32_t>(edge);
    add_kernel("mandelbrot", {pixels / kBlockX, pixels / kBlockY}, {kBlockX, kBlockY},
               output(iterations_), edge_, edge_, kLimit);
  }
};

const Registration kRegistration("mandelbrot", make<DeviceMandelbrot>);

}  // namespace
}  // namespace km::bench
