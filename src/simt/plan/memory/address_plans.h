// The forms of addresses that vary from lane to lane.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "simt/analysis/memory/address_form.h"
#include "simt/plan/plan.h"

namespace km::simt {

/// The other values from which code can make an address, or learn its alignment.
struct AddressPlan {
  std::optional<ValueId> root;  // AddressForms::congruent, modulo the access's size
  std::optional<IndexedAddress> indexed;
};

/// The forms of all addresses of a kernel that vary. In mode c, in which lanes part for good, none
/// is known.
class AddressPlans {
 public:
  explicit AddressPlans(const Plan& plan);

  /// The form of the address that an instruction accesses; null: none is known.
  const AddressPlan* find(const Inst& inst) const;
  /// The values that an access reads besides its operands.
  std::vector<ValueId> reads(const Inst& inst) const;
  size_t size() const { return plans_.size(); }

 private:
  std::map<const Inst*, AddressPlan> plans_;
};

}  // namespace km::simt
