// Tests before an access: alignment, and in checked code the address itself.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "simt/codegen/lower/checks/privatized_memory.h"
#include "simt/codegen/lower/lanes/lane_helpers.h"

namespace km::simt {

/// Code that moves data from lane to lane takes some instructions for each lane. After this number
/// of such places, the next ones are calls.
struct InlineBudget {
  unsigned left = 32;
  /// Takes one of the places that are left; false: none is.
  bool take() { return left != 0 && left-- != 0; }
};

/// An access of each lane's own size.
struct LaneAccess {
  llvm::Value* addresses = nullptr;  // of every lane
  llvm::Value* sizes = nullptr;      // i64 of every lane; a lane with 0 touches nothing
  uint64_t align_bytes = 1;
};

/// Makes the tests, each of which ends the launch if it fails.
class AccessChecks : public Room {
 public:
  AccessChecks(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Addresses& addresses,
               PrivatizedMemory& privatized, LaneHelpers& lane_helpers)
      : Room(builder, plan),
        frame_(frame),
        addresses_(addresses),
        privatized_(privatized),
        lane_helpers_(lane_helpers) {}

  /// Forgets the bases that code before tested.
  void begin_block() { checked_bases_.clear(); }
  /// Tests a load, store or atomic before it touches memory.
  void check_access(const Inst& inst, const Address& address);
  /// Tests alignment, and in checked code the memory of `lanes` (null: all), each with its own
  /// size.
  void check_lanes(const Inst& inst, const LaneAccess& access, Value* lanes);
  /// Tests one size for all active lanes, which is the alignment as well.
  void check_lanes(const Inst& inst, const Address& address, uint64_t size_bytes);
  /// Tests the memory of lanes in checked code. Each place remembers the memory it touched last.
  void check_lane_ranges(const Inst& inst, const LaneAccess& access, Value* lanes);
  /// Tests the alignment of lanes of `bits`. `addresses` is null if there is an index.
  void require_aligned(const LaneIndex& index, Value* addresses, Value* bits, uint64_t size_bytes);
  /// Calls RuntimeTable::misaligned, which ends the launch.
  void call_misaligned(Value* address, Value* bits, Value* site);
  /// An AccessSite as it is passed.
  Value* access_site(uint64_t size_bytes, int64_t step_bytes);

 private:
  /// The accesses of a block by address register and space, each with its place in the block.
  struct BlockAccesses {
    BlockId block = kNone;
    std::map<std::pair<ValueId, ptx::Space>, std::vector<std::pair<size_t, MemoryAccess>>> places;
    std::vector<size_t> stops;  // calls and traps, after which nothing need happen
  };

  void note_block_accesses();
  std::vector<MemoryAccess> accesses_together(const Inst& inst, const MemoryAccess& access);
  void check_alignment(const Address& address, uint64_t size_bytes);
  void check_range(const Inst& inst, const MemoryAccess& access, const Address& address);
  llvm::Constant* access_table(const std::vector<MemoryAccess>& together);
  void raise_misaligned(const LaneIndex& index, Value* addresses, Value* bits, uint64_t size_bytes);
  void raise_misaligned(const Address& address, uint64_t size_bytes);

  LaunchFrame& frame_;
  Addresses& addresses_;
  PrivatizedMemory& privatized_;
  LaneHelpers& lane_helpers_;
  BlockAccesses block_accesses_;
  std::set<std::pair<ValueId, ptx::Space>> checked_bases_;  // in checked code
  InlineBudget inline_tests_;                               // of the lanes' alignment
};

}  // namespace km::simt
