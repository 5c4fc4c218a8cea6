// LoadsAndStores, for ld, ldu and st.
#pragma once

#include "simt/codegen/lower/atomics/mbarriers.h"
#include "simt/codegen/lower/memory/neighbour_loads.h"
#include "simt/codegen/lower/memory/prefetcher.h"
#include "simt/codegen/lower/memory/shaped_access.h"

namespace km::simt {

/// Lowers loads and stores: computes the address, generates its checks, and selects the code of the
/// access by the address's shape.
class LoadsAndStores : private EmitterBase {
 public:
  LoadsAndStores(CodeBuilder& builder, const CodePlan& plan, Values& values, Addresses& addresses,
                 AccessChecks& checks, ShapedAccess& accesses, Prefetcher& prefetcher,
                 Mbarriers& mbarriers)
      : EmitterBase(builder, plan),
        values_(values),
        addresses_(addresses),
        checks_(checks),
        accesses_(accesses),
        prefetcher_(prefetcher),
        mbarriers_(mbarriers),
        neighbours_(builder, plan.base, accesses.rows()) {}

  /// Starts a basic block: elements loaded ahead for later loads are not available there.
  void begin_block() { neighbours_.begin_block(); }
  /// Lowers ld and ldu.
  void lower_load(const Inst& inst);
  /// Lowers st and st.async.
  void lower_store(const Inst& inst);

 private:
  bool is_apart(const Address& address) const;
  Address part_of(const Address& address, unsigned part);
  std::vector<Value*> load(const Inst& inst, const Address& address, const Access& access);
  void store(const Address& address, const Access& access, const std::vector<Value*>& values);
  void replace_by_old(const Inst& inst, const Address& address, const Access& access,
                      std::vector<Value*>& results);
  void store_others(Value* delayed, const Address& address, const Access& access,
                    const std::vector<Value*>& values);

  Values& values_;
  Addresses& addresses_;
  AccessChecks& checks_;
  ShapedAccess& accesses_;
  Prefetcher& prefetcher_;
  Mbarriers& mbarriers_;
  NeighbourLoads neighbours_;
};

}  // namespace km::simt
