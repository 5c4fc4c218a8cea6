// All decisions about a kernel variant's code before it is generated, as data without LLVM.
#pragma once

#include <string>

#include "simt/plan/entry_masks.h"
#include "simt/plan/memory/address_plans.h"
#include "simt/plan/memory/nontemporal_stores.h"
#include "simt/plan/memory/privatized_atomics.h"
#include "simt/plan/plan.h"
#include "simt/plan/read_values.h"
#include "simt/plan/tiling.h"
#include "simt/plan/values/nan_classes.h"
#include "simt/plan/values/packet_constants.h"
#include "simt/plan/values/spill_layout.h"
#include "simt/plan/values/value_lifetimes.h"

namespace km::simt {

/// The decisions that follow from a Plan, in the order of their dependencies. They refer to the
/// plan and to each other, so neither can be moved.
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

/// The text of KM_DUMP=plan.
std::string dump(const CodePlan& plan);

}  // namespace km::simt
