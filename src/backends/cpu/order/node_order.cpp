#include "backends/cpu/order/node_order.h"

#include <algorithm>

#include "base/assert.h"

namespace km::cpu {
namespace {

constexpr size_t kWordBits = 64;

}  // namespace

NodeOrder::NodeOrder(std::span<const std::span<const uint32_t>> dependencies)
    : words_((dependencies.size() + kWordBits - 1) / kWordBits),
      before_(words_ * dependencies.size()) {
  for (size_t node = 0; node < dependencies.size(); ++node) {
    uint64_t* const own = &before_[node * words_];
    for (const uint32_t other : dependencies[node]) {
      KM_ASSERT(other < node, "a node depends on one that comes after it");
      for (size_t i = 0; i < words_; ++i) own[i] |= before_[other * words_ + i];
      own[other / kWordBits] |= uint64_t{1} << (other % kWordBits);
    }
  }
}

bool NodeOrder::is_ordered(uint32_t a, uint32_t b) const {
  if (a == b) return true;
  const size_t later = std::max(a, b), earlier = std::min(a, b);
  if (later * words_ >= before_.size()) return true;
  return (before_[later * words_ + earlier / kWordBits] >> (earlier % kWordBits) & 1) != 0;
}

}  // namespace km::cpu
