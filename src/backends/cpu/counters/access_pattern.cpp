#include "backends/cpu/counters/access_pattern.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/assert.h"
#include "simt/abi.h"

namespace km::cpu {
namespace {

using simt::kWarpLanes;

/// True if all lanes are active and each one's address is the one before plus the step.
bool are_steps(const WarpRequest& request, uint64_t step_bytes) {
  if (request.lanes != UINT32_MAX) return false;
  uint64_t difference = 0;
  for (uint64_t lane = 0; lane < kWarpLanes; ++lane) {
    difference |= request.addresses[lane] ^ (request.addresses[0] + lane * step_bytes);
  }
  return difference == 0;
}

/// Words of shared memory, one for each lane that accesses one.
struct Words {
  std::array<uint64_t, kWarpLanes> each;
  uint32_t count = 0;
};

/// True if no bank has two different words.
bool are_free_of_conflicts(const Words& words, uint64_t banks) {
  std::array<uint64_t, kWarpLanes> of_bank;
  for (uint32_t i = 0; i < words.count; ++i) of_bank[words.each[i] & (banks - 1)] = words.each[i];
  uint64_t difference = 0;
  for (uint32_t i = 0; i < words.count; ++i) {
    difference |= of_bank[words.each[i] & (banks - 1)] ^ words.each[i];
  }
  return difference == 0;
}

/// The wavefronts of lanes that are served together: the most that one bank has to give.
uint32_t wavefronts_of_group(const WarpRequest& group, uint32_t unit, bool excludes) {
  const auto shift = static_cast<uint32_t>(std::countr_zero(unit));
  const uint64_t banks = kBankRowBytes / unit;
  Words words;
  for (uint32_t left = group.lanes; left != 0; left &= left - 1) {
    words.each[words.count++] = group.addresses[std::countr_zero(left)] >> shift;
  }
  if (!excludes && are_free_of_conflicts(words, banks)) return 1;
  std::array<std::array<uint64_t, kWarpLanes>, kWarpLanes> rows;  // the words that a bank gives
  std::array<uint8_t, kWarpLanes> counts{};
  uint32_t most = 0;
  for (uint32_t i = 0; i < words.count; ++i) {
    const uint64_t word = words.each[i], bank = word & (banks - 1);
    uint64_t* const begin = rows[bank].data();
    uint64_t* const end = begin + counts[bank];
    if (!excludes && std::find(begin, end, word) != end) continue;
    *end = word;
    most = std::max<uint32_t>(most, ++counts[bank]);
  }
  return most;
}

/// The sectors of any lanes, by their elements in rising order.
RequestCost count_sectors(const WarpRequest& request, uint32_t in_sector) {
  const auto shift = static_cast<uint32_t>(std::countr_zero(request.size_bytes));
  std::array<uint64_t, kWarpLanes> elements;
  uint32_t count = 0;
  bool rises = true;
  for (uint32_t left = request.lanes; left != 0; left &= left - 1) {
    const uint64_t element = request.addresses[std::countr_zero(left)] >> shift;
    rises = rises && (count == 0 || elements[count - 1] <= element);
    elements[count++] = element;
  }
  if (!rises) std::sort(elements.begin(), elements.begin() + count);
  RequestCost cost{1, 1};
  for (uint32_t i = 1; i < count; ++i) {
    cost.taken += elements[i] / in_sector != elements[i - 1] / in_sector ? 1 : 0;
    cost.ideal += elements[i] != elements[i - 1] ? 1 : 0;
  }
  cost.ideal = (cost.ideal + in_sector - 1) / in_sector;
  return cost;
}

}  // namespace

RequestCost sectors_of(const WarpRequest& request) {
  KM_ASSERT(request.lanes != 0 && std::has_single_bit(request.size_bytes) &&
                request.size_bytes <= kSectorBytes,
            "each lane of a request accesses one sector");
  const uint32_t in_sector = kSectorBytes / request.size_bytes;
  if (are_steps(request, 0)) return {1, 1};
  if (!are_steps(request, request.size_bytes)) return count_sectors(request, in_sector);
  const uint64_t first = request.addresses[0];
  const uint64_t end = first + uint64_t{kWarpLanes} * request.size_bytes;
  return {static_cast<uint32_t>((end - 1) / kSectorBytes - first / kSectorBytes) + 1,
          kWarpLanes / in_sector};
}

RequestCost wavefronts_of(const WarpRequest& request, bool excludes) {
  constexpr uint32_t kBankBytes = 4;
  const uint32_t unit = std::max(request.size_bytes, kBankBytes);
  KM_ASSERT(request.lanes != 0 && std::has_single_bit(unit) && unit <= kBankRowBytes,
            "banks hold whole elements");
  const uint32_t together = kBankRowBytes / unit;  // lanes that are served at once
  const bool may_share = !excludes || request.size_bytes == unit;
  if (may_share && are_steps(request, request.size_bytes)) {
    return {kWarpLanes / together, kWarpLanes / together};
  }
  const uint32_t all = together == kWarpLanes ? UINT32_MAX : (uint32_t{1} << together) - 1;
  RequestCost cost;
  for (uint32_t first = 0; first < kWarpLanes; first += together) {
    const WarpRequest group{request.addresses, request.lanes & all << first, request.size_bytes};
    if (group.lanes == 0) continue;
    ++cost.ideal;
    cost.taken += wavefronts_of_group(group, unit, excludes);
  }
  return cost;
}

}  // namespace km::cpu
