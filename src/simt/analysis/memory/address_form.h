// The parts of an address that each lane has of its own: its alignment, and whether it is an
// element of an array by a 32-bit index.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "simt/analysis/shape.h"

namespace km::simt {

/// A 64-bit value that is base + index * scale + offset in every lane.
struct IndexedAddress {
  ValueId base = kNone;            // the same for all lanes
  const Inst* widening = nullptr;  // the instruction that reads the index...
  ptx::Operand index;              // ... as this operand, of 32 bits
  bool is_unsigned = false;        // how it is widened
  uint32_t scale = 1;              // 1, 2, 4 or 8
  int64_t offset = 0;
};

class AddressForms {
 public:
  AddressForms(const Kernel& kernel, const Shapes& shapes) : kernel_(kernel), shapes_(shapes) {}

  /// A value that is the same for all lanes, as `block` sees it, and congruent to `value` modulo
  /// 2^bits in each; kNone stands for 0. Nothing where none is known.
  std::optional<ValueId> congruent(ValueId value, uint32_t bits, BlockId block);
  /// For a value that varies, as `block` sees it.
  std::optional<IndexedAddress> indexed(ValueId value, BlockId block) const;

 private:
  using Seen = std::set<ValueId>;
  bool find_zeros(ValueId value, uint32_t bits, Seen& seen);
  bool find_zeros(const Inst& inst, const ptx::Operand& operand, uint32_t bits, Seen& seen);
  bool find_zeros(const Inst& inst, uint32_t bits, Seen& seen);
  bool find_roots(ValueId value, uint32_t bits, BlockId block, Seen& seen, Seen& roots);
  bool find_roots(const Inst& inst, uint32_t bits, BlockId block, Seen& seen, Seen& roots);
  std::optional<IndexedAddress> find_indexed(ValueId value, BlockId block) const;
  bool add_widened(const Inst& inst, IndexedAddress& result) const;
  bool add_widened(ValueId value, IndexedAddress& result) const;
  const Inst* plain_source(ValueId value) const;
  const Inst* plain_source(const Inst& inst, const ptx::Operand& operand) const;
  bool is_uniform(const Inst& inst, const ptx::Operand& operand, BlockId block) const;

  const Kernel& kernel_;
  const Shapes& shapes_;
  unsigned left_ = 0;  // how many values may still be looked at for one question
};

}  // namespace km::simt
