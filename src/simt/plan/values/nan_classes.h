// The kinds of NaN that values may hold: PTX gives a NaN of arithmetic its bits, and leaves the
// bits of what is only moved as they are.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/plan/plan.h"

namespace km::simt {

/// True if the instruction is a conversion that hands the sign and the payload of a NaN on, as GPUs
/// do: from and to f64, and those to f32 that only move bits.
bool passes_nan(const ptx::Instruction& ptx);

/// True if the instruction computes a number in f32 or f64, whose NaNs are the host's.
bool makes_float(const ptx::Instruction& ptx);

/// For each value: may it hold a NaN that arithmetic of the host made (its bits differ from PTX's),
/// and may it hold bits that must stay as they are.
class NanClasses {
 public:
  enum class Class : uint8_t { none, arithmetic, raw, mixed };

  explicit NanClasses(const Plan& plan);

  Class of(ValueId value) const { return classes_[value]; }
  bool is_mixed(ValueId value) const { return of(value) == Class::mixed; }
  /// True if the bits that an instruction passes on must be PTX's.
  bool has_mixed_result(const Inst& inst) const;

 private:
  bool raise(ValueId value, Class fresh);
  bool flow(const Plan& plan, const Inst& inst);

  std::vector<Class> classes_;  // by value
};

}  // namespace km::simt
