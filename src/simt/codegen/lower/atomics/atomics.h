// atom and red. Shared memory needs no lock prefix: the blocks of a cluster run on one thread at a
// time. Float reductions go in lane order, which PTX leaves open.
//
// Additions to integers in global memory whose old values nobody reads. They need not reach memory
// before something orders them: a thread may keep them for itself until its part of the launch
// is over, and what it keeps needs no lock. That holds in kernels
//   - that end whatever others do (mode a, without loops that wait),
//   - without fences and strong accesses, which would order the additions,
//   - whose other accesses to global memory are few enough to be tested against what is kept:
//     a thread sees its own additions.
#pragma once

#include <vector>

#include "simt/codegen/lower/atomics/atomic_helpers.h"
#include "simt/codegen/lower/atomics/mbarriers.h"
#include "simt/codegen/lower/checks/access_checks.h"

namespace km::simt {

/// Lowers atom and red.
class Atomics : public Room {
 public:
  Atomics(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
          SpecialRegisters& registers, Values& values, Addresses& addresses, AccessChecks& checks,
          PrivatizedMemory& privatized, Mbarriers& mbarriers, AtomicHelpers& helpers)
      : Room(builder, plan),
        frame_(frame),
        registers_(registers),
        values_(values),
        addresses_(addresses),
        checks_(checks),
        privatized_(privatized),
        mbarriers_(mbarriers),
        helpers_(helpers) {}

  /// Lowers atom and red, the parts of a vector form one by one.
  void lower_atomic(const Inst& inst);

 private:
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
  AtomicHelpers& helpers_;
};

}  // namespace km::simt
