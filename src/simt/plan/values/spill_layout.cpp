#include "simt/plan/values/spill_layout.h"

#include <algorithm>

namespace km::simt {

namespace {

constexpr size_t kPlacesTried = 256;  // for each value, when values share places

bool are_disjoint(const std::set<size_t>& a, const std::set<size_t>& b) {
  return std::none_of(a.begin(), a.end(), [&](size_t each) { return b.count(each) != 0; });
}

/// The offset in scratch memory at which the context begins. Scratch memory begins with a page, as
/// shared memory does, and a processor takes a load for one of a value stored before if the lower
/// 12 bits of the two addresses agree.
uint64_t beside_shared(uint64_t shared_bytes) {
  constexpr uint64_t kPageBytes = 4096;
  return (shared_bytes + 63) / 64 * 64 % kPageBytes;
}

}  // namespace

SpillLayout::SpillLayout(const Plan& plan, const PacketConstants& constants,
                         const EntryMasks& masks) {
  const Kernel& kernel = *plan.kernel;
  const Shapes& shapes = *plan.shapes;
  RegionsOfSlots regions;
  for (uint32_t r = 1; r < plan.regions.list.size(); ++r) {
    const BlockId entry = plan.regions.list[r].entry;
    for (ValueId value : constants.kept(r)) {
      const uint32_t loop = shapes.loop_left(kernel, value, entry);
      const Shape shape = shapes.at(kernel, value, entry);
      auto [slot, fresh] = slots_.try_emplace({value, loop});
      regions[&slot->second].insert(r);
      const bool uniform = shape.is_uniform() && shape.block_uniform;
      slot->second.block_uniform = uniform && (fresh || slot->second.block_uniform);
    }
  }
  std::vector<SpillSlot*> kept;  // by packets
  for (auto& [key, slot] : slots_) {
    choose_form(plan, key, slot);
    if (!slot.block_uniform) kept.push_back(&slot);
  }
  note_makers(plan);
  place(std::move(kept), regions);
  if (masks.is_any_after_barrier()) {
    live_offset_bytes_ = packet_bytes_;
    packet_bytes_ += 8;
  }
  packet_bytes_ = (packet_bytes_ + 63) / 64 * 64;
  lay_out_scratch(plan);
}

/// Chooses the form in which a packet keeps a value: bits if it is a mask, else one number a lane
/// or one for all.
void SpillLayout::choose_form(const Plan& plan, const SpillKey& key, SpillSlot& slot) const {
  using Form = SpillSlot::Form;
  const ptx::Type type = plan.kernel->values[key.first].type;
  const bool lanes = key.second != UINT32_MAX || plan.shapes->values[key.first].is_varying();
  const bool is_bit = type == ptx::Type::pred;
  slot.size_bytes = 8;
  if (slot.block_uniform) return;
  slot.form = lanes ? is_bit ? Form::lane_bits : Form::lanes : is_bit ? Form::flag : Form::scalar;
  if (slot.form == Form::lanes) {
    slot.size_bytes = (ptx::size_bytes(type) * plan.lanes + 7) / 8 * 8;
  }
}

/// Which regions make what they keep for others of values that are the same for the whole block.
void SpillLayout::note_makers(const Plan& plan) {
  std::map<BlockId, std::vector<SpillKey>> made;
  for (const auto& [key, slot] : slots_) {
    if (slot.block_uniform) made[plan.kernel->values[key.first].block].push_back(key);
  }
  made_in_.resize(plan.regions.list.size());
  for (size_t r = 0; r < made_in_.size(); ++r) {
    for (BlockId b : plan.regions.list[r].blocks) {
      const auto here = made.find(b);
      if (here == made.end()) continue;
      made_in_[r].insert(made_in_[r].end(), here->second.begin(), here->second.end());
    }
    std::sort(made_in_[r].begin(), made_in_[r].end());
  }
}

/// Places each value within a packet's context, the largest first. A packet has loaded all that its
/// region begins with before it stores anything, so values of different regions share a place: the
/// context should stay in the first cache.
void SpillLayout::place(std::vector<SpillSlot*> slots,
                        const std::map<SpillSlot*, std::set<size_t>>& regions) {
  struct Place {
    uint64_t offset_bytes, size_bytes;
    std::set<size_t> regions;
  };
  std::vector<Place> places;
  std::stable_sort(slots.begin(), slots.end(), [](const SpillSlot* a, const SpillSlot* b) {
    return a->size_bytes > b->size_bytes;
  });
  size_t first = 0;  // place of the size, or the last few of them
  for (SpillSlot* slot : slots) {
    const auto& own = regions.at(slot);
    while (first < places.size() && places[first].size_bytes != slot->size_bytes) ++first;
    first = std::max(first, places.size() - std::min(places.size(), kPlacesTried));
    const auto begin = places.begin() + static_cast<std::ptrdiff_t>(first);
    auto place = std::find_if(begin, places.end(),
                              [&](const Place& each) { return are_disjoint(each.regions, own); });
    if (place == places.end()) {
      place = places.insert(place, {packet_bytes_, slot->size_bytes, {}});
      packet_bytes_ += slot->size_bytes;
    }
    place->regions.insert(own.begin(), own.end());
    slot->offset_bytes = place->offset_bytes;
  }
}

void SpillLayout::lay_out_scratch(const Plan& plan) {
  if (plan.splits_at_barriers) {
    context_offset_bytes_ = beside_shared(plan.layout->shared_static_bytes);
  }
  local_offset_bytes_ = context_offset_bytes_ + packet_bytes_ * plan.packets;
  if (plan.has_phases() && plan.waits) {
    progress_offset_bytes_ = local_offset_bytes_;
    local_offset_bytes_ += kProgressBytes;
  }
  const uint64_t stride = plan.layout->local_stride_bytes();
  const uint64_t packets = plan.mode == Mode::run_to_completion ? plan.packets : 1;
  scratch_bytes_ = (local_offset_bytes_ + stride * plan.lanes * packets + 63) / 64 * 64;
}

}  // namespace km::simt
