// Addresses, which computes the host addresses of loads, stores and atomics. An access has one
// address for all lanes, lanes at constant distances from a base, or an arbitrary address in each
// lane.
#pragma once

#include <functional>
#include <vector>

#include "simt/codegen/values.h"

namespace km::simt {

/// A form of the lanes' addresses, base + index * scale with wrap-around, that a gather instruction
/// can use directly.
struct LaneIndex {
  llvm::Value* base = nullptr;   // i64
  llvm::Value* lanes = nullptr;  // i32, signed; null: the form does not exist
  uint32_t scale = 1;            // 1, 2, 4 or 8
};

/// The scale of the index, or 0 if lanes have 64-bit addresses.
inline uint32_t scale_of(const LaneIndex& index) { return index.lanes ? index.scale : 0; }

/// The host addresses of an access, and the facts about them that select the code of the access.
struct Address {
  ptx::Space space = ptx::Space::generic;
  llvm::Value* base = nullptr;          // i64 address of lane 0, or of all lanes
  const Offsets* offsets = nullptr;     // null: the address is uniform
  llvm::Value* lanes = nullptr;         // i64 vector, if the address has no base
  ValueId varying = kNone;              // the value from which `lanes` was computed
  llvm::Value* ok = nullptr;            // i1: the base form is valid; null: always
  std::function<llvm::Value*()> exact;  // computes the vector if the base form is invalid
  unsigned align_bits = 0;              // known trailing zeros of every lane's address
  // These are set only for a varying address, and only if the analysis found them.
  llvm::Value* start = nullptr;      // `lanes` minus `offset_bytes`, which accesses can share
  uint64_t offset_bytes = 0;         // the operand's offset
  llvm::Value* congruent = nullptr;  // i64, equal to `lanes` modulo the access's size
  llvm::Value* low_lanes = nullptr;  // i32, the low bits of `lanes`
  LaneIndex index;                   // another form of `lanes`

  /// Forgets the forms of a varying address, which hold no more when it has become another one.
  void forget_forms() {
    varying = kNone;
    start = congruent = low_lanes = nullptr;
    index = {};
  }
};

/// Computes the addresses of accesses from their operands.
class Addresses : private EmitterBase {
 public:
  Addresses(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
            SpecialRegisters& registers, Values& values)
      : EmitterBase(builder, plan), frame_(frame), registers_(registers), values_(values) {
    for (uint32_t l = 0; l < lanes_; ++l) {
      local_distances_[l] = static_cast<int64_t>(l * plan_.layout->local_stride_bytes());
    }
  }

  /// The address of an operand in a state space. A shared address is a signed 32-bit offset into
  /// the block's window, so base + offset is also right if a packet's base is below the window and
  /// only lanes inside it are active.
  Address address_of(const Inst& inst, const ptx::Operand& operand, ptx::Space space);
  /// The place of an address in local memory whose elements lie side by side
  /// (MemoryLayout::local_element_bytes).
  Address side_by_side(const Address& address);
  /// The place in lane 0's memory whose distance from its begin is that of the address in the
  /// lane's own: lane 0's begin is aligned, that of others for one element only.
  Address in_first_lane(const Address& address);
  /// An address a number of bytes farther in memory.
  Address moved(const Address& address, uint64_t distance_bytes);
  /// Every lane's address as a vector of i64.
  Value* lanes_of(const Address& address);
  /// The addresses as indices if lanes are at constant distances: indices take half the space of
  /// addresses, and accesses with equal distances share one constant.
  LaneIndex index_of(const Address& address);
  /// Pointers at `offset_bytes` from every lane's address, computed from `index` if it has lanes
  /// and otherwise from the addresses `lanes`.
  Value* lane_pointers(const LaneIndex& index, Value* lanes, uint64_t offset_bytes);
  /// The arguments by which a helper gets every lane's address: base and indices if `index` has
  /// lanes, otherwise a vector of addresses.
  std::vector<Value*> lane_arguments(const LaneIndex& index, Value* lanes, uint64_t offset_bytes);
  /// True if the `size_bytes` from `first` on are on one page, so that touching all of them faults
  /// only if touching one does.
  Value* lies_on_one_page(Value* first, uint64_t size_bytes);
  /// True if the value is available in the current region. A value defined on every path from the
  /// kernel's entry may be undefined in a region that starts at a barrier after it, unless it is
  /// kept or recomputed there.
  bool is_at_hand(ValueId value) const;

 private:
  Address symbol_address_of(const ptx::Operand& operand, ptx::Space space);
  void add_form(Address& address, const Inst& inst, const ptx::Operand& operand);
  bool is_at_own_distance(const Address& address) const;
  Value* side_by_side(Value* address, bool as_vector);

  LaunchFrame& frame_;
  SpecialRegisters& registers_;
  Values& values_;
  Offsets local_distances_{};  // of the lanes' local memories
};

}  // namespace km::simt
