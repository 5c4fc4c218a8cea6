// Values that a block keeps from one barrier region for another, and where in scratch memory.
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

/// The place of one value. A value that is the same for the whole block lies in a variable of the
/// entry function; any other has memory of its own in each packet's context.
struct SpillSlot {
  /// How a packet keeps the value.
  enum class Form : uint8_t {
    scalar,     // one number for all lanes
    flag,       // one predicate for all lanes, a byte
    lanes,      // a number for each lane
    lane_bits,  // a predicate for each lane: 32 bits
  };
  bool block_uniform = false;
  Form form = Form::scalar;
  uint64_t offset_bytes = 0, size_bytes = 0;  // within a packet's context
};

/// A value, and the divergent loop that it has left since it was made; UINT32_MAX: none.
using SpillKey = std::pair<ValueId, uint32_t>;

/// The slots of all values that regions find in memory, which packets write them at which barrier,
/// and the parts of a block's scratch memory: the packets' contexts, progress of prefetches, local
/// variables.
///
/// One rule makes a slot hold its value whenever a region begins with it: between two regions a
/// packet either writes the slot (saves()), or the earlier region began with the same slot and no
/// other value of the later region shares its bytes. The constructor asserts it.
class SpillLayout {
 public:
  static constexpr uint64_t kProgressBytes = 128;  // where loads were in the blocks before

  SpillLayout(const Plan& plan, const PacketConstants& constants, const EntryMasks& masks);

  const std::map<SpillKey, SpillSlot>& slots() const { return slots_; }
  const SpillSlot& slot(const SpillKey& key) const { return slots_.at(key); }
  /// The block-uniform slots that a region writes, in ascending order.
  const std::vector<SpillKey>& made_in(uint32_t region) const { return made_in_[region]; }
  /// The slots that a packet of `from` writes at the barrier `at` before region `to` begins: values
  /// that `from` may make, and values that have left a divergent loop since `from` began, which lie
  /// in another slot until then. The result of `at` itself is known only after all packets.
  std::vector<SpillKey> saves(uint32_t from, BlockId at) const;
  /// The place in a packet's context for the lanes that reached the last barrier; nothing: all do.
  std::optional<uint64_t> live_offset_bytes() const { return live_offset_bytes_; }
  uint64_t context_offset_bytes() const { return context_offset_bytes_; }
  uint64_t packet_bytes() const { return packet_bytes_; }  // of a packet's context
  uint64_t progress_offset_bytes() const { return progress_offset_bytes_; }
  uint64_t local_offset_bytes() const { return local_offset_bytes_; }
  uint64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  using RegionsOfSlots = std::map<SpillSlot*, std::set<size_t>>;  // the regions that begin with it

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
