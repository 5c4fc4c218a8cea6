#include "hosts/on_device.h"
#include "kernels/scan/problem.h"

namespace km::bench {
namespace {

class DeviceScan : public OnDevice<Scan> {
 public:
  explicit DeviceScan(uint64_t count) : OnDevice("scan", count) {
    const auto tiles = static_cast<uint32_t>(count / kTile);
    const Buffer control = scratch(8 * (tiles + 1));
    add_fill(control, 0, 8 * (tiles + 1));
    add_kernel("scan", {tiles}, {kBlock}, input(values_), output(sums_), control);
  }
};

const Registration kRegistration("scan", make<DeviceScan>);

}  // namespace
}  // namespace km::bench
