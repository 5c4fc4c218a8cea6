// JointAccesses, the accesses of a basic block at constant distances, for which one test may do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "simt/analysis/memory/memory_access.h"
#include "simt/codegen/emitter_base.h"

namespace km::simt {

/// Finds accesses with the same address register in the basic block whose code is generated.
class JointAccesses : private EmitterBase {
 public:
  JointAccesses(CodeBuilder& builder, const CodePlan& plan) : EmitterBase(builder, plan) {}

  /// Starts a basic block, in which no group has been tested yet.
  void begin_block() { groups_.clear(); }
  /// The accesses that are tested together with this one: it comes first, and the others surely
  /// follow it in the basic block, at constant distances from its address.
  std::vector<MemoryAccess> list_from(const Inst& inst, const MemoryAccess& access);
  /// True if the elements of the accessed memory lie side by side, so that accesses are at other
  /// distances than their offsets say.
  bool are_side_by_side(const MemoryAccess& access) const;

  /// Accesses of which the first one tests whether all are in memory that its place knows.
  struct Group {
    const Inst* first = nullptr;
    int64_t low_bytes = 0, high_bytes = 0;    // of one lane, from the first access's address on
    llvm::Value* may_be_invalid = nullptr;    // i1: each access needs a test of its memory
    llvm::Value* may_be_undefined = nullptr;  // i1: each access needs a test of its content
    size_t end = 0;    // the instruction of the basic block before which the group ends
    size_t count = 0;  // of accesses
    /// The bytes from the lowest to the highest that the lanes access, if the lowest lane is at
    /// `extremes.first` from lane 0 and the highest at `extremes.second`.
    uint64_t extent_bytes(const std::pair<int64_t, int64_t>& extremes) const {
      return static_cast<uint64_t>(high_bytes - low_bytes + extremes.second - extremes.first);
    }
  };
  /// The group of an access; null if it is alone.
  Group* group_of(const Inst& inst, const MemoryAccess& access);

 private:
  using Place = std::pair<ValueId, ptx::Space>;  // the address register's value
  /// The accesses of a basic block, each with its instruction's index.
  struct BlockAccesses {
    BlockId block = kNone;
    std::map<Place, std::vector<std::pair<size_t, MemoryAccess>>> places;
    std::vector<size_t> stops;  // calls and traps, which may end the code before the rest
  };

  bool is_here(const Inst& inst) const;
  size_t index_of(const Inst& inst) const;
  size_t stop_after(size_t index) const;
  void note_block_accesses();

  BlockAccesses block_;
  std::map<Place, Group> groups_;
};

}  // namespace km::simt
