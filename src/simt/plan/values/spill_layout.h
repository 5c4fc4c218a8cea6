// The values that a block keeps across barriers, and their layout in scratch memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "simt/plan/entry_masks.h"
#include "simt/plan/values/packet_constants.h"

namespace km::simt {

/// The place of one value. A block-uniform value is in a variable of the entry function; any other
/// has a place in each packet's context.
struct SpillSlot {
  /// The form in which a packet keeps the value.
  enum class Form : uint8_t {
    scalar,     // one number for all lanes
    flag,       // one predicate for all lanes, as a byte
    lanes,      // one number per lane
    lane_bits,  // one predicate per lane, as 32 bits
  };
  bool block_uniform = false;
  Form form = Form::scalar;
  uint64_t offset_bytes = 0, size_bytes = 0;  // offset in a packet's context
};

/// A value, and the divergent loop that it has left since its definition; UINT32_MAX: none.
using SpillKey = std::pair<ValueId, uint32_t>;

/// The slots of all values that regions load from memory, the packets and barriers that write them,
/// and the parts of a block's scratch memory: the packets' contexts, progress of prefetches, local
/// variables.
///
/// The invariant is that a slot holds its value whenever a region that reads it begins: between two
/// regions a packet either writes the slot (saves()), or the earlier region began with the same
/// slot and no other value of the later region overlaps it. The constructor asserts it.
class SpillLayout {
 public:
  static constexpr uint64_t kProgressBytes = 128;  // the addresses of loads in the previous blocks

  SpillLayout(const Plan& plan, const PacketConstants& constants, const EntryMasks& masks);

  const std::map<SpillKey, SpillSlot>& slots() const { return slots_; }
  const SpillSlot& slot(const SpillKey& key) const { return slots_.at(key); }
  /// The block-uniform slots that a region writes, in ascending order.
  const std::vector<SpillKey>& made_in(uint32_t region) const { return made_in_[region]; }
  /// The slots that a packet of `from` writes at the barrier `at` before region `to` begins: values
  /// that `from` may define, and values that have left a divergent loop since `from` began, which
  /// were in another slot before. The result of `at` itself is known only after all packets.
  std::vector<SpillKey> saves(uint32_t from, BlockId at) const;
  /// The offset in a packet's context of the mask of lanes that reached the last barrier; nothing
  /// if all lanes do.
  std::optional<uint64_t> live_offset_bytes() const { return live_offset_bytes_; }
  uint64_t context_offset_bytes() const { return context_offset_bytes_; }
  uint64_t packet_bytes() const { return packet_bytes_; }  // size of a packet's context
  uint64_t progress_offset_bytes() const { return progress_offset_bytes_; }
  uint64_t local_offset_bytes() const { return local_offset_bytes_; }
  uint64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  // The regions in which each slot is live-in.
  using RegionsOfSlots = std::map<SpillSlot*, std::set<size_t>>;

  SpillKey key_at(ValueId value, uint32_t region) const;
  bool is_barrier_result(ValueId value) const;
  bool has_distinct_bytes(uint32_t region) const;
  bool is_filled(uint32_t from, BlockId at) const;
  bool holds_values() const;
  void choose_form(const SpillKey& key, SpillSlot& slot) const;
  void note_makers();
  void place(std::vector<SpillSlot*> slots, const RegionsOfSlots& regions);
  void lay_out_scratch();

  const Plan& plan_;
  const PacketConstants& constants_;
  std::map<SpillKey, SpillSlot> slots_;
  std::vector<std::vector<SpillKey>> made_in_;  // by region
  std::optional<uint64_t> live_offset_bytes_;
  uint64_t context_offset_bytes_ = 0, packet_bytes_ = 0;
  uint64_t progress_offset_bytes_ = 0;
  uint64_t local_offset_bytes_ = 0, scratch_bytes_ = 0;
};

}  // namespace km::simt
