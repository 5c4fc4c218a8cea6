#include "hosts/on_device.h"
#include "kernels/black_scholes/problem.h"

namespace km::bench {
namespace {

class DeviceBlackScholes : public OnDevice<BlackScholes> {
 public:
  explicit DeviceBlackScholes(uint64_t count) : OnDevice("black_scholes", count) {
    add_kernel("black_scholes", {(count_ + kBlock - 1) / kBlock}, {kBlock}, input(price_),
               input(strike_), input(years_), output(call_), output(put_), kRate, kVolatility,
               count_);
  }
};

const Registration kRegistration("black_scholes", make<DeviceBlackScholes>);

}  // namespace
}  // namespace km::bench
