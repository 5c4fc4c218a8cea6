#include "hosts/on_device.h"
#include "kernels/saxpy/problem.h"

namespace km::bench {
namespace {

class DeviceSaxpy : public OnDevice<Saxpy> {
 public:
  explicit DeviceSaxpy(uint64_t count) : OnDevice("saxpy", count) {
    add_kernel("saxpy", {(count_ + 255u) / 256}, {256}, kFactor, input(x_), output(y_), count_);
  }
};

const Registration kRegistration("saxpy", make<DeviceSaxpy>);

}  // namespace
}  // namespace km::bench
