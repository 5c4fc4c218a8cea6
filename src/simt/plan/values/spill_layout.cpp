#include "simt/plan/values/spill_layout.h"

#include <algorithm>

#include "base/assert.h"

namespace km::simt {

namespace {

// Limit of attempted places per value, when values share places.
constexpr size_t kPlacesTried = 256;

bool are_disjoint(const std::set<size_t>& a, const std::set<size_t>& b) {
  return std::none_of(a.begin(), a.end(), [&](size_t each) { return b.count(each) != 0; });
}

/// The offset of the context in scratch memory. Scratch memory starts at a page boundary like
/// shared memory, and a processor assumes that a load depends on an earlier store if the lower 12
/// bits of the addresses agree (4K aliasing), so the offset avoids shared memory's.
uint64_t beside_shared(uint64_t shared_bytes) {
  constexpr uint64_t kAliasBytes = uint64_t{1} << 12;
  return (shared_bytes + 63) / 64 * 64 % kAliasBytes;
}

}  // namespace

SpillLayout::SpillLayout(const Plan& plan, const PacketConstants& constants,
                         const EntryMasks& masks)
    : plan_(plan), constants_(constants) {
  const Kernel& kernel = *plan.kernel;
  RegionsOfSlots regions;
  for (uint32_t r = 1; r < plan.regions.list.size(); ++r) {
    const BlockId entry = plan.regions.list[r].entry;
    for (ValueId value : constants.kept(r)) {
      auto [slot, fresh] = slots_.try_emplace(key_at(value, r));
      regions[&slot->second].insert(r);
      const Shape shape = plan.shapes->at(kernel, value, entry);
      // All remaining threads get a barrier's result, even after a loop that some have left.
      const bool uniform = (shape.is_uniform() && shape.block_uniform) ||
                           (is_barrier_result(value) && slot->first.second == UINT32_MAX);
      slot->second.block_uniform = uniform && (fresh || slot->second.block_uniform);
    }
  }
  std::vector<SpillSlot*> kept;  // slots kept per packet
  for (auto& [key, slot] : slots_) {
    choose_form(key, slot);
    if (!slot.block_uniform) kept.push_back(&slot);
  }
  note_makers();
  place(std::move(kept), regions);
  if (masks.is_any_after_barrier()) {
    live_offset_bytes_ = packet_bytes_;
    packet_bytes_ += 8;
  }
  packet_bytes_ = (packet_bytes_ + 63) / 64 * 64;
  lay_out_scratch();
  KM_ASSERT(holds_values(), "a region begins with a slot that does not hold its value");
}

/// The slot that holds a value when `region` begins.
SpillKey SpillLayout::key_at(ValueId value, uint32_t region) const {
  return {value, plan_.shapes->loop_left(*plan_.kernel, value, plan_.regions.list[region].entry)};
}

/// True for the result of bar.red, which is computed after all packets have reached the barrier.
bool SpillLayout::is_barrier_result(ValueId value) const {
  const Value& made = plan_.kernel->values[value];
  const BasicBlock& block = plan_.kernel->blocks[made.block];
  return plan_.splits_at_barriers && block.terminator == Terminator::barrier &&
         made.instruction + 1 == block.insts.size();
}

std::vector<SpillKey> SpillLayout::saves(uint32_t from, BlockId at) const {
  const auto& blocks = plan_.regions.list[from].blocks;
  const uint32_t to = plan_.regions.after_barrier[at];
  std::vector<SpillKey> keys;
  for (ValueId value : constants_.kept(to)) {
    const BlockId home = plan_.kernel->values[value].block;
    const SpillKey key = key_at(value, to);
    if (is_barrier_result(value)) {
      if (home != at && key != key_at(value, from)) keys.push_back(key);
    } else if (std::binary_search(blocks.begin(), blocks.end(), home) ||
               key != key_at(value, from)) {
      keys.push_back(key);
    }
  }
  return keys;
}

/// True if no two values that packets keep for a region overlap.
bool SpillLayout::has_distinct_bytes(uint32_t region) const {
  std::vector<const SpillSlot*> kept;
  for (ValueId value : constants_.kept(region)) {
    const SpillSlot& each = slot(key_at(value, region));
    if (!each.block_uniform) kept.push_back(&each);
  }
  std::sort(kept.begin(), kept.end(), [](const SpillSlot* a, const SpillSlot* b) {
    return a->offset_bytes < b->offset_bytes;
  });
  uint64_t end = 0;
  for (const SpillSlot* each : kept) {
    if (each->offset_bytes < end) return false;
    end = each->offset_bytes + each->size_bytes;
  }
  return end <= live_offset_bytes_.value_or(packet_bytes_);
}

/// True if each slot that the next region reads was written at the barrier `at`, or held its value
/// already when `from` began.
bool SpillLayout::is_filled(uint32_t from, BlockId at) const {
  const uint32_t to = plan_.regions.after_barrier[at];
  const std::vector<SpillKey> written = saves(from, at);
  const auto& before = constants_.kept(from);
  return std::all_of(constants_.kept(to).begin(), constants_.kept(to).end(), [&](ValueId value) {
    const SpillKey key = key_at(value, to);
    if (std::binary_search(written.begin(), written.end(), key)) return true;
    if (is_barrier_result(value) && plan_.kernel->values[value].block == at) return true;
    return std::binary_search(before.begin(), before.end(), value) && key == key_at(value, from);
  });
}

/// Checks the invariant of the class for all regions and barriers.
bool SpillLayout::holds_values() const {
  for (uint32_t r = 0; r < plan_.regions.list.size(); ++r) {
    if (r != 0 && !has_distinct_bytes(r)) return false;
    if (!plan_.splits_at_barriers) continue;
    for (BlockId b : plan_.regions.list[r].blocks) {
      const bool is_end = plan_.kernel->blocks[b].terminator == Terminator::barrier;
      if (is_end && !is_filled(r, b)) return false;
    }
  }
  return true;
}

/// Selects the form in which a packet keeps a value: bits for a mask, otherwise one number per lane
/// or one for all.
void SpillLayout::choose_form(const SpillKey& key, SpillSlot& slot) const {
  using Form = SpillSlot::Form;
  const ptx::Type type = plan_.kernel->values[key.first].type;
  const bool lanes = key.second != UINT32_MAX || plan_.shapes->values[key.first].is_varying();
  const bool is_bit = type == ptx::Type::pred;
  slot.size_bytes = 8;
  if (slot.block_uniform) return;
  slot.form = lanes ? is_bit ? Form::lane_bits : Form::lanes : is_bit ? Form::flag : Form::scalar;
  if (slot.form == Form::lanes) {
    slot.size_bytes = (ptx::size_bytes(type) * plan_.lanes + 7) / 8 * 8;
  }
}

/// Determines which regions write the block-uniform values that others read.
void SpillLayout::note_makers() {
  std::map<BlockId, std::vector<SpillKey>> made;
  for (const auto& [key, slot] : slots_) {
    if (slot.block_uniform) made[plan_.kernel->values[key.first].block].push_back(key);
  }
  made_in_.resize(plan_.regions.list.size());
  for (size_t r = 0; r < made_in_.size(); ++r) {
    for (BlockId b : plan_.regions.list[r].blocks) {
      const auto here = made.find(b);
      if (here == made.end()) continue;
      made_in_[r].insert(made_in_[r].end(), here->second.begin(), here->second.end());
    }
    std::sort(made_in_[r].begin(), made_in_[r].end());
  }
}

/// Assigns each value an offset in a packet's context, the largest first. A packet loads all
/// live-in values of a region before it stores anything, so values of different regions can share a
/// place, which keeps the context small enough for the L1 cache.
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
  size_t first = 0;  // the first place of the value's size that is tried
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
    KM_ASSERT(place->size_bytes == slot->size_bytes, "values that share a place are of one size");
    place->regions.insert(own.begin(), own.end());
    slot->offset_bytes = place->offset_bytes;
  }
}

void SpillLayout::lay_out_scratch() {
  if (plan_.splits_at_barriers) {
    context_offset_bytes_ = beside_shared(plan_.layout->shared_static_bytes);
  }
  local_offset_bytes_ = context_offset_bytes_ + packet_bytes_ * plan_.packets;
  if (plan_.has_phases() && plan_.waits) {
    progress_offset_bytes_ = local_offset_bytes_;
    local_offset_bytes_ += kProgressBytes;
  }
  const uint64_t local_bytes = plan_.layout->local_packet_bytes(plan_.lanes);
  const uint64_t packets = plan_.mode == Mode::run_to_completion ? plan_.packets : 1;
  KM_ASSERT(packets != 0 && context_offset_bytes_ % 64 == 0 && local_offset_bytes_ % 64 == 0,
            "contexts and local memory begin with a line of the cache");
  scratch_bytes_ = (local_offset_bytes_ + local_bytes * packets + 63) / 64 * 64;
}

}  // namespace km::simt
