// Values that every packet of a block has alike, such as lane numbers and values made of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "simt/plan/plan.h"

namespace km::simt {

/// The values that code at the beginning of a region finds as constants, and those that it must
/// find in memory.
class PacketConstants {
 public:
  explicit PacketConstants(const Plan& plan);

  /// The value of each lane, or one number if it is the same for all; null: it is no constant.
  const std::vector<uint64_t>* find(ValueId value) const;
  /// The values that a region begins with and that memory keeps for it.
  const std::vector<ValueId>& kept(uint32_t region) const { return kept_[region]; }
  size_t size() const { return constants_.size(); }

 private:
  std::map<ValueId, std::vector<uint64_t>> constants_;
  std::vector<std::vector<ValueId>> kept_;  // by region
};

}  // namespace km::simt
