#include "hosts/on_device.h"
#include "kernels/stencil7/problem.h"

namespace km::bench {
namespace {

class DeviceStencil7 : public OnDevice<Stencil7> {
 public:
  explicit DeviceStencil7(uint64_t size) : OnDevice("stencil7", size) {
    const auto edge = static_cast<uint32_t>(size);
    add_kernel("stencil7", {edge / kBlockX, edge / kBlockY, edge}, {kBlockX, kBlockY}, input(from_),
               output(to_), edge_, kCentre, kNeighbour);
  }
};

const Registration kRegistration("stencil7", make<DeviceStencil7>);

}  // namespace
}  // namespace km::bench
