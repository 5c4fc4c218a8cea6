#include "simt/plan/code/code_plan.h"

#include "base/text.h"
#include "simt/plan/block_order.h"

namespace km::simt {

CodePlan::CodePlan(const Plan& plan)
    : base(plan),
      addresses(plan),
      lifetimes(plan, addresses),
      nans(plan),
      constants(plan),
      reads(*plan.kernel),
      privatized(plan, reads),
      nontemporal(plan),
      masks(plan),
      spills(plan, constants, masks),
      tiling(plan, masks),
      side_by_side(plan.mode == Mode::run_to_completion && runs_side_by_side(plan)) {}

namespace {

std::string name_of(const Kernel& kernel, const SpillKey& key) {
  const Value& value = kernel.values[key.first];
  std::string text = kernel.function->registers[value.reg].name + "." + std::to_string(key.first);
  if (key.second != UINT32_MAX) text += " after loop " + std::to_string(key.second);
  return text;
}

std::string line_of(const Kernel& kernel, const SpillKey& key, const SpillSlot& slot) {
  static const char* const kForms[] = {"scalar", "flag", "lanes", "lane bits"};
  std::string text = "keeps " + name_of(kernel, key);
  if (slot.block_uniform) return text + ": one for the block\n";
  text += std::string(": ") + kForms[static_cast<int>(slot.form)];
  text += ", " + counted(slot.size_bytes, "byte") + " at " + std::to_string(slot.offset_bytes);
  return text + "\n";
}

std::string line_of_region(const CodePlan& plan, uint32_t region) {
  std::string text = "region " + std::to_string(region) + ": ";
  text += counted(plan.base.linear[region].steps.size(), "step");
  if (plan.masks.is_masked(region)) text += ", lanes may be missing";
  const uint32_t packets = plan.tiling.packets_in_row(region, false);
  if (packets > 1) text += ", " + counted(packets, "packet") + " at a time";
  if (plan.tiling.is_interleaved(region)) text += ", interleaved";
  return text + "\n";
}

}  // namespace

std::string dump(const CodePlan& plan) {
  const Kernel& kernel = *plan.base.kernel;
  std::string text;
  for (uint32_t r = 0; r < plan.base.regions.list.size(); ++r) text += line_of_region(plan, r);
  for (const auto& [key, slot] : plan.spills.slots()) text += line_of(kernel, key, slot);
  if (!plan.base.has_independent_threads()) {
    text += "scratch: " + counted(plan.spills.packet_bytes(), "byte") + " of each packet, " +
            counted(plan.spills.scratch_bytes(), "byte") + " in all\n";
  }
  if (plan.addresses.size() != 0) {
    text += "addresses with a form: " + std::to_string(plan.addresses.size()) + "\n";
  }
  if (plan.constants.size() != 0) {
    text += "constants of all packets: " + std::to_string(plan.constants.size()) + "\n";
  }
  if (plan.privatized.is_used()) text += "privatizes atomic additions\n";
  if (!plan.nontemporal.is_empty()) {
    text += "stores past the caches: " + std::to_string(plan.nontemporal.size()) + "\n";
  }
  if (plan.side_by_side) text += "runs blocks side by side\n";
  return text;
}

}  // namespace km::simt
