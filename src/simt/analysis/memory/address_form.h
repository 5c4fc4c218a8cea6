// Properties of per-lane addresses: their alignment, and whether they are array elements with a
// 32-bit index.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "simt/analysis/shape.h"

namespace km::simt {

/// A 64-bit value that is base + index * scale + offset in every lane.
struct IndexedAddress {
  ValueId base = kNone;            // uniform over the lanes
  const Inst* widening = nullptr;  // the instruction that reads the index...
  ptx::Operand index;              // ... in this 32-bit operand
  bool is_unsigned = false;        // widened by zero extension
  uint32_t scale = 1;              // 1, 2, 4 or 8
  int64_t offset = 0;
};

class AddressForms {
 public:
  AddressForms(const Kernel& kernel, const Shapes& shapes) : kernel_(kernel), shapes_(shapes) {}

  /// A uniform value, as seen by `block`, that is congruent to `value` modulo 2^bits in every lane;
  /// kNone means 0. Nothing if none is known.
  std::optional<ValueId> congruent(ValueId value, uint32_t bits, BlockId block);
  /// The indexed form of a value that varies, as seen by `block`.
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
  unsigned left_ = 0;  // values that may still be visited for this question
};

}  // namespace km::simt
