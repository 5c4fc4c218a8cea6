// RepeatedReads, the loads of a kernel whose place an atomic reads again.
#pragma once

#include <set>

#include "simt/kernel/kernel.h"

namespace km::simt {

/// Programs read a place without an order and then compare and exchange it, or take a minimum,
/// maximum, `and` or `or`, which reads it again and does nothing new if the value has changed. That
/// is no defect, but a load that comes after the atomic only, or that a barrier parts from it, is.
class RepeatedReads {
 public:
  explicit RepeatedReads(const Kernel& kernel);

  /// True if such an atomic of the same place may follow.
  bool are_repeated(const Inst& load) const { return loads_.contains(load.ptx); }

 private:
  void mark_loads(const Kernel& kernel, BlockId home, const Inst& atomic);

  std::set<const ptx::Instruction*> loads_;
};

}  // namespace km::simt
