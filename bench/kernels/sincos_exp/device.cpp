#include "hosts/on_device.h"
#include "kernels/sincos_exp/problem.h"

namespace km::bench {
namespace {

class DeviceSincosExp : public OnDevice<SincosExp> {
 public:
  explicit DeviceSincosExp(uint64_t count) : OnDevice("sincos_exp", count) {
    add_kernel("sincos_exp", {(count_ + kBlock - 1) / kBlock}, {kBlock}, input(x_), output(y_),
               count_);
  }
};

const Registration kRegistration("sincos_exp", make<DeviceSincosExp>);

}  // namespace
}  // namespace km::bench
