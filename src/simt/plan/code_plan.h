// All that is decided of a kernel variant before code is made: data, without LLVM.
#pragma once

#include <string>

#include "simt/plan/entry_masks.h"
#include "simt/plan/memory/address_plans.h"
#include "simt/plan/memory/nontemporal_stores.h"
#include "simt/plan/memory/privatized_atomics.h"
#include "simt/plan/plan.h"
#include "simt/plan/tiling.h"
#include "simt/plan/values/nan_classes.h"
#include "simt/plan/values/packet_constants.h"
#include "simt/plan/values/read_values.h"
#include "simt/plan/values/spill_layout.h"
#include "simt/plan/values/value_lifetimes.h"

namespace km::simt {

/// The parts that follow from a Plan, in the order in which each needs those before it. They refer
/// to the plan and to each other, so that neither moves.
struct CodePlan {
  explicit CodePlan(const Plan& plan);
  CodePlan(const CodePlan&) = delete;
  CodePlan& operator=(const CodePlan&) = delete;

  const Plan& base;
  const AddressPlans addresses;
  const ValueLifetimes lifetimes;
  const NanClasses nans;
  const PacketConstants constants;
  const ReadValues reads;
  const PrivatizedAtomics privatized;
  const NontemporalStores nontemporal;
  const EntryMasks masks;
  const SpillLayout spills;
  const Tiling tiling;
  const bool side_by_side;  // runs_side_by_side()
};

/// The text that KM_DUMP=plan prints.
std::string dump(const CodePlan& plan);

}  // namespace km::simt
