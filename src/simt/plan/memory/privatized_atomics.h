// Additions to integers in global memory that a thread keeps for itself until its part of the
// launch is over: nobody reads their old values, so that they need not reach memory before
// something orders them, and what a thread keeps takes no lock. That holds in kernels
//   - that end whatever others do (mode a, without loops that wait),
//   - without fences and strong accesses, which would order the additions,
//   - whose other accesses to global memory are few enough to be tested against what is kept:
//     a thread sees its own additions.
#pragma once

#include "simt/plan/plan.h"
#include "simt/plan/values/read_values.h"

namespace km::simt {

/// Decides which atomic additions of a kernel are privatized: all that may come late, or none.
class PrivatizedAtomics {
 public:
  PrivatizedAtomics(const Plan& plan, const ReadValues& reads);

  /// True if the kernel has privatized additions, which other accesses must be tested against.
  bool is_used() const { return is_used_; }
  /// True if the instruction's additions may be kept by the thread.
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
