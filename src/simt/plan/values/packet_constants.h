// Values that are the same in every packet of a block, such as lane numbers and values computed
// from them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "simt/plan/plan.h"

namespace km::simt {

/// For each region, the live-in values that are constants, and those that must be loaded from
/// memory.
class PacketConstants {
 public:
  explicit PacketConstants(const Plan& plan);

  /// The value of each lane, or a single number if all lanes agree; null if it is not constant.
  const std::vector<uint64_t>* find(ValueId value) const;
  /// The live-in values of a region that are kept in memory.
  const std::vector<ValueId>& kept(uint32_t region) const { return kept_[region]; }
  size_t size() const { return constants_.size(); }

 private:
  std::map<ValueId, std::vector<uint64_t>> constants_;
  std::vector<std::vector<ValueId>> kept_;  // by region
};

}  // namespace km::simt
