#include "hosts/on_device.h"
#include "kernels/transpose/problem.h"

namespace km::bench {
namespace {

class DeviceTranspose : public OnDevice<Transpose> {
 public:
  explicit DeviceTranspose(uint64_t edge) : OnDevice("transpose", edge) {
    const uint32_t tiles = static_cast<uint32_t>(edge) / kTile;
    add_kernel("transpose", {tiles, tiles}, {kTile, kRows}, input(from_), output(to_), edge_);
  }
};

const Registration kRegistration("transpose", make<DeviceTranspose>);

}  // namespace
}  // namespace km::bench
