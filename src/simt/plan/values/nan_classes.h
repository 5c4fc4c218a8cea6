// The kinds of NaN that values may hold: PTX specifies the bits of NaNs from arithmetic, and copies
// must preserve all bits.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/kernel/nan_bits.h"
#include "simt/plan/plan.h"

namespace km::simt {

/// For each value: whether it may hold a NaN from the host's arithmetic (whose bits differ from
/// PTX's), and whether it may hold bits that must be preserved.
class NanClasses {
 public:
  enum class Class : uint8_t { none, arithmetic, raw, mixed };

  explicit NanClasses(const Plan& plan);

  Class of(ValueId value) const { return classes_[value]; }
  bool is_mixed(ValueId value) const { return of(value) == Class::mixed; }
  /// True if the bits that an instruction copies must have been canonicalised.
  bool has_mixed_result(const Inst& inst) const;

 private:
  bool raise(ValueId value, Class fresh);
  bool flow(const Plan& plan, const Inst& inst);

  std::vector<Class> classes_;  // by value
};

}  // namespace km::simt
