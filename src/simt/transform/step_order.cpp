#include "simt/transform/step_order.h"

#include <utility>

namespace km::simt {

namespace {

uint32_t lowest_bit(uint32_t number) { return number & (~number + 1); }

}  // namespace

void WaitingSteps::change(uint32_t step, int32_t by) {
  const auto amount = static_cast<uint32_t>(by);
  for (uint32_t i = step + 1; i < counts_.size(); i += lowest_bit(i)) counts_[i] += amount;
  total_ += amount;
  if (mask_of_[step] < step) with_mask_[mask_of_[step]] += amount;
}

uint32_t WaitingSteps::count_up_to(uint32_t step) const {
  uint32_t count = 0;
  for (uint32_t i = step + 1; i != 0; i -= lowest_bit(i)) count += counts_[i];
  return count;
}

void WaitingSteps::advance(uint32_t step) {
  if (step == 0) return;
  for (uint32_t ended : ends_[step - 1]) change(ended, -1);
}

void WaitingSteps::add(uint32_t step, uint32_t mask_step, uint32_t next) {
  mask_of_.push_back(mask_step);
  if (next >= ends_.size()) return;
  ends_[next].push_back(step);
  change(step, 1);
}

bool WaitingSteps::some_after(uint32_t step) const {
  const auto same = with_mask_.find(step);
  const uint32_t alike = same == with_mask_.end() ? 0 : same->second;
  return total_ - count_up_to(step) != alike;
}

void WayTree::add(uint32_t parent) {
  const auto node = static_cast<uint32_t>(parent_.size());
  const bool is_root = parent == UINT32_MAX;
  parent_.push_back(is_root ? node : parent);
  depth_.push_back(is_root ? 0 : depth_[parent] + 1);
  if (is_root) {
    jump_.push_back(node);
    return;
  }
  // A skip-list ancestor: the jump is twice as long as the parent's if the parent's two jumps have
  // equal length.
  const uint32_t above = jump_[parent];
  const bool is_even = depth_[parent] - depth_[above] == depth_[above] - depth_[jump_[above]];
  jump_.push_back(is_even ? jump_[above] : parent);
}

void WayTree::add_step(uint32_t way) {
  add(way);
  add(static_cast<uint32_t>(parent_.size() - 1));
}

uint32_t WayTree::common(uint32_t a, uint32_t b) const {
  if (depth_[a] < depth_[b]) std::swap(a, b);
  while (depth_[a] > depth_[b]) a = depth_[jump_[a]] >= depth_[b] ? jump_[a] : parent_[a];
  while (a != b) {
    const bool same = jump_[a] == jump_[b];
    a = same ? parent_[a] : jump_[a];
    b = same ? parent_[b] : jump_[b];
  }
  return a;
}

}  // namespace km::simt
