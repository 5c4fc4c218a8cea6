#include "hosts/on_device.h"
#include "kernels/sgemm/problem.h"

namespace km::bench {
namespace {

class DeviceSgemm : public OnDevice<Sgemm> {
 public:
  /// Blocks of 16 x 16 threads make tiles of `tile` x `tile` elements.
  DeviceSgemm(const char* kernel, uint32_t tile, uint64_t edge) : OnDevice("sgemm", edge) {
    const uint32_t tiles = static_cast<uint32_t>(edge) / tile;
    add_kernel(kernel, {tiles, tiles}, {16, 16}, input(a_), input(b_), output(c_), edge_);
  }
};

struct Tiled16 : DeviceSgemm {
  explicit Tiled16(uint64_t edge) : DeviceSgemm("sgemm_tiled16", 16, edge) {}
};
struct Block64 : DeviceSgemm {
  explicit Block64(uint64_t edge) : DeviceSgemm("sgemm_block64", 64, edge) {}
};

const Registration kTiled16("sgemm_tiled16", make<Tiled16>);
const Registration kBlock64("sgemm_block64", make<Block64>);

}  // namespace
}  // namespace km::bench
