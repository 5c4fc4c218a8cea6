// Runs variants of instructions on the engine and compares every bit with the reference.
#pragma once

#include <string>
#include <vector>

#include "harness/session.h"
#include "reference/variants.h"

namespace km::reference {

struct Report {
  uint64_t variants = 0, results = 0;
  std::vector<const Variant*> refused;  // what does not load
  std::vector<std::string> mismatches;  // a line each
};

/// A variant that does not load: refused, or an error.
void refuse(const Variant& variant, const kernels::Failure& failure, Report& report);

/// Runs all of them on `inputs` tuples of operands each, as vector and as scalar code.
Report run_variants(const std::vector<Variant>& variants, uint64_t inputs, uint64_t seed);

}  // namespace km::reference
