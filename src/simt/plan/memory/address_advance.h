// The advance of addresses in loops.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "simt/plan/plan.h"

namespace km::simt {

/// Determines the difference of a value from one iteration of a loop to the next.
class AddressAdvance {
 public:
  enum class Kind : uint8_t { none, unknown_distance, other };

  explicit AddressAdvance(const Plan& plan) : plan_(plan), kernel_(*plan.kernel) {}

  Kind of(ValueId value, uint32_t loop) { return of(value, loop, 64); }

 private:
  Kind of(ValueId value, uint32_t loop, unsigned depth);
  Kind of_phi(ValueId value, uint32_t loop) const;

  const Plan& plan_;
  const Kernel& kernel_;
  std::map<std::pair<ValueId, uint32_t>, Kind> kinds_;  // by value and loop
};

}  // namespace km::simt
