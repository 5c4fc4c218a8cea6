#include "backends/cpu/counters/access_pattern.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/assert.h"
#include "simt/abi.h"

namespace km::cpu {
namespace {

/// Numbers of some lanes, in rising order.
class SortedNumbers {
 public:
  /// Takes `addresses / unit` of the lanes.
  SortedNumbers(const uint64_t* addresses, uint32_t lanes, uint32_t unit) {
    const auto shift = static_cast<uint32_t>(std::countr_zero(unit));
    bool rises = true;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      const uint64_t number = addresses[std::countr_zero(left)] >> shift;
      rises = rises && (count_ == 0 || numbers_[count_ - 1] <= number);
      numbers_[count_++] = number;
    }
    if (!rises) std::sort(begin(), end());
  }

  uint64_t* begin() { return numbers_.data(); }
  uint64_t* end() { return numbers_.data() + count_; }
  /// Keeps one of each number.
  void make_unique() { count_ = static_cast<uint32_t>(std::unique(begin(), end()) - begin()); }

 private:
  std::array<uint64_t, simt::kWarpLanes> numbers_;
  uint32_t count_ = 0;
};

/// The wavefronts of lanes that are served together: the most that one bank has to give.
uint32_t wavefronts_of_group(const WarpRequest& group, uint32_t unit, bool excludes) {
  SortedNumbers words(group.addresses, group.lanes, unit);
  if (!excludes) words.make_unique();
  const uint32_t banks = kBankRowBytes / unit;
  std::array<uint8_t, simt::kWarpLanes> of_bank{};
  uint32_t most = 0;
  for (const uint64_t word : words) {
    most = std::max<uint32_t>(most, ++of_bank[word % banks]);
  }
  return most;
}

}  // namespace

RequestCost sectors_of(const WarpRequest& request) {
  KM_ASSERT(request.lanes != 0 && std::has_single_bit(request.size_bytes) &&
                request.size_bytes <= kSectorBytes,
            "each lane of a request accesses one sector");
  SortedNumbers elements(request.addresses, request.lanes, request.size_bytes);
  elements.make_unique();
  const uint32_t in_sector = kSectorBytes / request.size_bytes;
  RequestCost cost;
  uint64_t last = UINT64_MAX;
  uint32_t count = 0;
  for (const uint64_t element : elements) {
    ++count;
    if (element / in_sector == last) continue;
    last = element / in_sector;
    ++cost.taken;
  }
  cost.ideal = (count + in_sector - 1) / in_sector;
  return cost;
}

RequestCost wavefronts_of(const WarpRequest& request, bool excludes) {
  constexpr uint32_t kBankBytes = 4;
  const uint32_t unit = std::max(request.size_bytes, kBankBytes);
  KM_ASSERT(request.lanes != 0 && std::has_single_bit(unit) && unit <= kBankRowBytes,
            "banks hold whole elements");
  const uint32_t together = kBankRowBytes / unit;  // lanes that are served at once
  const uint32_t all = together == simt::kWarpLanes ? UINT32_MAX : (uint32_t{1} << together) - 1;
  RequestCost cost;
  for (uint32_t first = 0; first < simt::kWarpLanes; first += together) {
    const WarpRequest group{request.addresses, request.lanes & all << first, request.size_bytes};
    if (group.lanes == 0) continue;
    ++cost.ideal;
    cost.taken += wavefronts_of_group(group, unit, excludes);
  }
  return cost;
}

}  // namespace km::cpu
