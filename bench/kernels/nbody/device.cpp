#include "hosts/on_device.h"
#include "kernels/nbody/problem.h"

namespace km::bench {
namespace {

class DeviceNbody : public OnDevice<Nbody> {
 public:
  DeviceNbody(const char* kernel, uint64_t count) : OnDevice("nbody", count) {
    add_kernel(kernel, {static_cast<uint32_t>(count_) / kBlock}, {kBlock}, input(bodies_),
               output(accelerations_), count_);
  }
};

struct Exact : DeviceNbody {
  explicit Exact(uint64_t count) : DeviceNbody("nbody", count) {}
};
struct Approximate : DeviceNbody {
  explicit Approximate(uint64_t count) : DeviceNbody("nbody_rsqrt", count) {}
};

const Registration kExact("nbody", make<Exact>);
const Registration kApproximate("nbody_rsqrt", make<Approximate>);

}  // namespace
}  // namespace km::bench
