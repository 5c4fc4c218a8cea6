// Atomics, for atom and red. Floating-point reductions add lanes in ascending order, since PTX
// leaves the order open.
//
// Additions to integers in global memory may be privatised (plan/memory/privatized_atomics.h says
// when that is valid): the thread accumulates them without a lock until its part of the launch is
// over.
#pragma once

#include <vector>

#include "simt/codegen/lower/atomics/mbarriers.h"
#include "simt/codegen/lower/checks/access_checks.h"

namespace km::simt {

/// Lowers atom and red, choosing between one reduction for the packet, a private sum, and one
/// operation per lane.
class Atomics : private EmitterBase {
 public:
  Atomics(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
          SpecialRegisters& registers, Values& values, Addresses& addresses, AccessChecks& checks,
          PrivatizedMemory& privatized, Mbarriers& mbarriers)
      : EmitterBase(builder, plan),
        frame_(frame),
        registers_(registers),
        values_(values),
        addresses_(addresses),
        checks_(checks),
        privatized_(privatized),
        mbarriers_(mbarriers) {}

  /// Lowers one instruction. The elements of a vector form are atomic one by one, which PTX allows.
  void lower_atomic(const Inst& inst);

 private:
  void lower_checked(const Inst& inst, const Address& address);
  bool lower_uniform_reduction(const Inst& inst, const Address& address, bool shared);
  bool lower_shared_reduction(const Inst& inst, const Address& address);
  void lower_privatized(const Inst& inst, const Address& address, ptx::Space space);
  Value* reduced_content(const Inst& inst);
  Value* call_atomic(const Inst& inst, const std::vector<Value*>& arguments, ptx::Space space,
                     bool gives);
  Value* lane_atomic(const Inst& inst, const std::vector<Value*>& arguments, unsigned lane,
                     bool shared);

  LaunchFrame& frame_;
  SpecialRegisters& registers_;
  Values& values_;
  Addresses& addresses_;
  AccessChecks& checks_;
  PrivatizedMemory& privatized_;
  Mbarriers& mbarriers_;
};

}  // namespace km::simt
