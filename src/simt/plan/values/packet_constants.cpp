#include "simt/plan/values/packet_constants.h"

#include "base/assert.h"
#include "simt/analysis/thread_index_evaluator.h"

namespace km::simt {

namespace {

bool is_integer_register(ptx::Type type) {
  return type != ptx::Type::f32 && type != ptx::Type::f64 && type != ptx::Type::none;
}

/// The constant in its stored form; empty if packets differ or the value depends on more than the
/// thread's index.
std::vector<uint64_t> constant_of_packets(const Plan& plan, ValueId value) {
  const Shape& shape = plan.shapes->values[value];
  if (shape.speculative || !is_integer_register(plan.kernel->values[value].type)) return {};
  const ThreadIndexEvaluator values(*plan.kernel, plan.variant.block);
  const uint32_t count = values.thread_count();
  const auto first = values.of(value, 0);
  if (!first || (count > plan.lanes && values.of(value, plan.lanes) != first)) return {};
  std::vector<uint64_t> lanes(plan.lanes);
  for (uint32_t thread = 0; thread < count; ++thread) {
    const auto content = values.of(value, thread);
    if (!content) return {};
    if (thread < plan.lanes) lanes[thread] = *content;
    if (lanes[thread % plan.lanes] != *content) return {};
  }
  if (!shape.is_varying()) lanes.resize(1);
  return lanes;
}

}  // namespace

PacketConstants::PacketConstants(const Plan& plan) : kept_(plan.regions.live_in) {
  if (!plan.splits_at_barriers || plan.variant.block[0] == 0) return;
  for (size_t r = 1; r < kept_.size(); ++r) {
    const BlockId entry = plan.regions.list[r].entry;
    std::erase_if(kept_[r], [&](ValueId value) {
      if (plan.shapes->loop_left(*plan.kernel, value, entry) != UINT32_MAX) return false;
      const auto [known, fresh] = constants_.try_emplace(value);
      if (fresh) known->second = constant_of_packets(plan, value);
      return !known->second.empty();
    });
  }
  std::erase_if(constants_, [](const auto& known) { return known.second.empty(); });
}

const std::vector<uint64_t>* PacketConstants::find(ValueId value) const {
  const auto known = constants_.find(value);
  KM_ASSERT(known == constants_.end() || !known->second.empty(),
            "a constant has a number for all lanes, or one for each");
  return known == constants_.end() ? nullptr : &known->second;
}

}  // namespace km::simt
