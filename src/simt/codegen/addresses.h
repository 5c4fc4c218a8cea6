// Addresses of loads, stores and atomics: one for all lanes, at known distances from each other, or
// of every lane's own, with what is known of those.
#pragma once

#include <functional>
#include <vector>

#include "simt/codegen/values.h"

namespace km::simt {

/// base + index * scale, wrapping, in every lane.
struct LaneIndex {
  llvm::Value* base = nullptr;   // i64
  llvm::Value* lanes = nullptr;  // i32, signed; null: no such form
  uint32_t scale = 1;            // 1, 2, 4 or 8
};

/// The scale of an index, or 0 if lanes have an address each.
inline uint32_t scale_of(const LaneIndex& index) { return index.lanes ? index.scale : 0; }

/// The host addresses of an access.
struct Address {
  ptx::Space space = ptx::Space::generic;
  llvm::Value* base = nullptr;          // i64 address of lane 0, or of all lanes
  const Offsets* offsets = nullptr;     // null: uniform
  llvm::Value* lanes = nullptr;         // i64 vector, when it has no base form
  ValueId varying = kNone;              // the value that `lanes` was made of
  llvm::Value* ok = nullptr;            // base form holds, null: always
  std::function<llvm::Value*()> exact;  // makes the vector if the base form does not hold
  unsigned align_bits = 0;              // known trailing zeros of every lane's address
  // Known only if the address varies, and as far as it could be found:
  llvm::Value* start = nullptr;      // `lanes` less `offset_bytes`, the same for several accesses
  uint64_t offset_bytes = 0;         // the operand's offset
  llvm::Value* congruent = nullptr;  // i64, the same as `lanes` modulo the access's size
  llvm::Value* low_lanes = nullptr;  // i32, the low bits of `lanes`
  LaneIndex index;                   // `lanes` in another form
};

/// Makes the addresses of accesses.
class Addresses : public Room {
 public:
  Addresses(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
            SpecialRegisters& registers, Values& values)
      : Room(builder, plan), frame_(frame), registers_(registers), values_(values) {}

  /// The address that an operand names in a state space. A shared address is a signed 32-bit offset
  /// into the block's window: base + offset stays right when the base of a packet lies below the
  /// window and only lanes inside it are active.
  Address address_of(const Inst& inst, const ptx::Operand& operand, ptx::Space space);
  /// Every lane's address, a vector of i64.
  Value* lanes_of(const Address& address);
  /// Indices for lanes whose distances are known: half as wide as addresses, and one constant for
  /// all places with these distances.
  LaneIndex index_of(const Address& address);
  /// Pointers at `offset_bytes` from every lane's address.
  Value* lane_pointers(const LaneIndex& index, Value* lanes, uint64_t offset_bytes);
  /// lane_pointers() as the arguments of a helper for this scale.
  std::vector<Value*> lane_arguments(const LaneIndex& index, Value* lanes, uint64_t offset_bytes);
  /// True if memory from `first` on lies on one page.
  Value* lies_on_one_page(Value* first, uint64_t size_bytes);
  /// True if a value that is defined on every way from the kernel's entry to the current block is
  /// so on every way from the region's, or is kept for it.
  bool is_at_hand(ValueId value) const;

 private:
  Address symbol_address_of(const ptx::Operand& operand, ptx::Space space);
  void add_form(Address& address, const Inst& inst, const ptx::Operand& operand);

  LaunchFrame& frame_;
  SpecialRegisters& registers_;
  Values& values_;
};

}  // namespace km::simt
