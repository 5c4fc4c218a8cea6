#include "dropin/curand/generator/mtgp32.h"

#include <cstddef>

namespace km::curand {
namespace {

#define KM_MTGP32(pick_up, left, right, r1, r2, r4, r8, t1, t2, t4, t8) \
  {pick_up, left, right, {r1, r2, r4, r8}, {t1, t2, t4, t8}},
constexpr MtgpSet kSets[] = {
#include "dropin/curand/data/mtgp32.def"
};
#undef KM_MTGP32
static_assert(sizeof kSets / sizeof kSets[0] == kMtgpSequences);

}  // namespace

const MtgpSet* mtgp32_sets() { return kSets; }

std::vector<uint32_t> mtgp32_states(uint64_t seed) {
  const uint32_t folded = static_cast<uint32_t>(seed ^ seed >> 32);
  std::vector<uint32_t> states;
  states.reserve(size_t{kMtgpSequences} * kMtgpWords);
  for (uint32_t sequence = 0; sequence < kMtgpSequences; ++sequence) {
    const MtgpSet& set = kSets[sequence];
    const uint32_t hidden = set.recursion[2] ^ set.recursion[3] << 16;
    uint32_t fill = hidden + (hidden >> 16);
    fill += fill >> 8;
    uint32_t last = folded + sequence + 1;
    states.push_back(last);
    for (uint32_t i = 1; i < kMtgpWords; ++i) {
      const uint32_t start = i == 1 ? hidden : (fill & 0xff) * 0x01010101U;
      last = start ^ (1812433253 * (last ^ last >> 30) + i);
      states.push_back(last);
    }
  }
  return states;
}

}  // namespace km::curand
