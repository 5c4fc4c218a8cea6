// Alternative forms of addresses that vary over the lanes.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "simt/analysis/memory/address_form.h"
#include "simt/plan/plan.h"

namespace km::simt {

/// Other values from which code can compute an address or its alignment.
struct AddressPlan {
  std::optional<ValueId> root;  // AddressForms::congruent, modulo the size of the access
  std::optional<IndexedAddress> indexed;
};

/// The forms of all varying addresses of a kernel. None is known in mode c, in which lanes diverge
/// for good.
class AddressPlans {
 public:
  explicit AddressPlans(const Plan& plan);

  /// The form of the address that an instruction accesses; null if none is known.
  const AddressPlan* find(const Inst& inst) const;
  /// The values that an access reads in addition to its operands.
  std::vector<ValueId> reads(const Inst& inst) const;
  size_t size() const { return plans_.size(); }

 private:
  std::map<const Inst*, AddressPlan> plans_;
};

}  // namespace km::simt
