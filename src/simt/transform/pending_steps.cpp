#include "simt/transform/pending_steps.h"

namespace km::simt {

PendingSteps::Set PendingSteps::list(uint32_t step, Set rest) {
  const uint64_t key = uint64_t{step} << 32 | rest;
  const auto [known, fresh] = known_.try_emplace(key, static_cast<Set>(nodes_.size()));
  if (fresh) nodes_.push_back({step, rest});
  return known->second;
}

PendingSteps::Set PendingSteps::prepended(Set rest) {
  for (; !before_.empty(); before_.pop_back()) rest = list(before_.back(), rest);
  return rest;
}

PendingSteps::Set PendingSteps::with(Set set, uint32_t step) {
  return merged(set, list(step, kEmpty));
}

PendingSteps::Set PendingSteps::merged(Set a, Set b) {
  while (a != b && a != kEmpty && b != kEmpty) {
    ++work_;
    const uint32_t step_a = nodes_[a].step, step_b = nodes_[b].step;
    before_.push_back(step_a < step_b ? step_a : step_b);
    if (step_a <= step_b) a = nodes_[a].rest;
    if (step_b <= step_a) b = nodes_[b].rest;
  }
  return prepended(a == kEmpty ? b : a);
}

}  // namespace km::simt
