// Privatised atomics: additions to integers in global memory that a thread accumulates until its
// part of the launch is over. Their old values are not read, so they need not reach memory before
// an operation that orders them, and accumulating takes no lock. That is valid in kernels
//   - that end whatever others do (mode a, without loops that wait),
//   - without fences and strong accesses, which would order the additions,
//   - whose other accesses to global memory are few enough to be checked against the accumulated
//     ones: a thread must see its own additions.
#pragma once

#include "simt/plan/plan.h"
#include "simt/plan/read_values.h"

namespace km::simt {

/// Decides which atomic additions of a kernel are privatised: all that may become visible late, or
/// none.
class PrivatizedAtomics {
 public:
  PrivatizedAtomics(const Plan& plan, const ReadValues& reads);

  /// True if the kernel has privatised additions, against which other accesses must be checked.
  bool is_used() const { return is_used_; }
  /// True if the instruction's additions may be privatised.
  bool is_privatized(const Inst& inst) const { return is_used_ && is_candidate(inst); }

 private:
  void find();
  bool is_candidate(const Inst& inst) const;
  bool allows_privatizing(const Inst& inst, BlockId block) const;

  const Plan& plan_;
  const ReadValues& reads_;
  bool is_used_ = false;
};

}  // namespace km::simt
