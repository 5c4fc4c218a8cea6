#include "simt/plan/memory/address_plans.h"

#include <bit>

#include "simt/analysis/memory/memory_access.h"

namespace km::simt {

AddressPlans::AddressPlans(const Plan& plan) {
  if (plan.has_independent_threads()) return;
  const Kernel& kernel = *plan.kernel;
  AddressForms forms(kernel, *plan.shapes);
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    for (const Inst& inst : kernel.blocks[b].insts) {
      const auto access = memory_access(kernel, inst);
      if (!access || access->place->symbol != ptx::kNone || access->place->reg == ptx::kNone) {
        continue;
      }
      const ValueId value = inst.read(access->place->reg);
      if (!plan.shapes->at(kernel, value, b).is_varying()) continue;
      AddressPlan form;
      const auto align_bits = static_cast<uint32_t>(std::countr_zero(access->size_bytes));
      form.root = forms.congruent(value, align_bits, b);
      const bool is_wide = ptx::size_bits(kernel.values[value].type) == 64;
      if (is_wide && access->space != ptx::Space::shared) form.indexed = forms.indexed(value, b);
      if (form.root || form.indexed) plans_[&inst] = form;
    }
  }
}

const AddressPlan* AddressPlans::find(const Inst& inst) const {
  const auto found = plans_.find(&inst);
  return found == plans_.end() ? nullptr : &found->second;
}

std::vector<ValueId> AddressPlans::reads(const Inst& inst) const {
  const AddressPlan* const plan = find(inst);
  if (plan == nullptr) return {};
  std::vector<ValueId> result;
  if (plan->root && *plan->root != kNone) result.push_back(*plan->root);
  if (plan->indexed) {
    result.push_back(plan->indexed->base);
    result.push_back(plan->indexed->widening->read(plan->indexed->index.reg));
  }
  return result;
}

}  // namespace km::simt
