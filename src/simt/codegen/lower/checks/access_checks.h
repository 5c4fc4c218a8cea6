// AccessChecks, tests before memory accesses: of alignment, and in checked mode of the memory
// itself.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "simt/codegen/lower/checks/access_reports.h"
#include "simt/codegen/lower/checks/joint_accesses.h"
#include "simt/codegen/lower/checks/privatized_memory.h"

namespace km::simt {

/// A limit on inline code that has some instructions for each lane. Once it is used up, further
/// places call a helper, which is slower but keeps the code small.
struct InlineBudget {
  unsigned left = 32;
  /// Uses one of the remaining places; false if none is left.
  bool take() { return left != 0 && left-- != 0; }
};

/// An access whose lanes have addresses and sizes of their own.
struct LaneAccess {
  llvm::Value* addresses = nullptr;  // one address per lane
  llvm::Value* sizes = nullptr;      // i64 for each lane; a lane of size 0 accesses nothing
  uint64_t align_bytes = 1;
};

/// Generates the tests. A failed test ends the launch with a fault.
class AccessChecks : private EmitterBase {
 public:
  AccessChecks(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Addresses& addresses,
               PrivatizedMemory& privatized)
      : EmitterBase(builder, plan),
        frame_(frame),
        addresses_(addresses),
        privatized_(privatized),
        joint_(builder, plan),
        reports_(builder, plan, frame, addresses, joint_) {}

  /// Starts a basic block, in which no access has been tested yet.
  void begin_block() { joint_.begin_block(); }
  /// The reports of accesses that have passed the tests, for the checker.
  AccessReports& reports() { return reports_; }
  /// Tests alignment and memory of a load, store or atomic. Returns the address to access, which is
  /// another one for lanes that the checker keeps from invalid memory.
  Address check_access(const Inst& inst, Address address);
  /// Tests the alignment, and in checked mode the memory, of the lanes of `lanes` (null: all).
  void check_lanes(const Inst& inst, const LaneAccess& access, Value* lanes);
  /// Tests active lanes that access `size_bytes` each, which is also the required alignment.
  void check_lanes(const Inst& inst, const Address& address, uint64_t size_bytes);
  /// Checked mode: tests the memory of the lanes. Each place in the code remembers the range that
  /// was valid last, so the runtime is called only if an access is outside of it.
  void check_lane_ranges(const Inst& inst, const LaneAccess& access, Value* lanes);
  /// Tests the alignment of the lanes of `bits` out of line. `addresses` is null if there is an
  /// index.
  void require_aligned(const LaneIndex& index, Value* addresses, Value* bits, uint64_t size_bytes);
  /// Calls RuntimeTable::misaligned, which ends the launch.
  void call_misaligned(Value* address, Value* bits, Value* site);
  /// An AccessSite as an i64, in which form it is passed.
  Value* access_site(uint64_t size_bytes, int64_t step_bytes);

 private:
  /// The lanes that access invalid memory: true (i1) if there are any, and all lanes' addresses.
  using Found = CodeBuilder::Values;
  /// A test of one access for invalid memory.
  struct InvalidTest {
    llvm::AllocaInst* range;    // the range that the place used last
    uint64_t extent_bytes = 0;  // that out_range of filter_access() is for
    Value* misaligned;          // i1: an address is no multiple of the size; null: none is
  };

  uint64_t extent_bytes(const MemoryAccess& access) const;
  std::optional<Value*> deciding_address(const Address& address, uint64_t size_bytes);
  Value* misaligned_lanes(Value* low, uint64_t size_bytes);
  Value* is_no_multiple(Value* address, uint64_t size_bytes);
  void check_alignment(const Address& address, uint64_t size_bytes);
  void check_range(const Inst& inst, const MemoryAccess& access, const Address& address);
  Value* is_misaligned(const Address& address, uint64_t size_bytes);
  Address replace_invalid(const Inst& inst, const MemoryAccess& access, const Address& address);
  Found find_invalid(const Inst& inst, const MemoryAccess& access, const Address& address,
                     const InvalidTest& test);
  Found find_invalid(const Inst& inst, const MemoryAccess& access, const Address& address);
  Found none_invalid(const Address& address);
  llvm::Constant* access_table(const std::vector<MemoryAccess>& together);
  void raise_misaligned(const LaneIndex& index, Value* addresses, Value* bits, uint64_t size_bytes);
  void raise_misaligned(const Address& address, uint64_t size_bytes);

  LaunchFrame& frame_;
  Addresses& addresses_;
  PrivatizedMemory& privatized_;
  JointAccesses joint_;
  AccessReports reports_;
  InlineBudget inline_tests_;  // inline tests of lanes' alignment
};

}  // namespace km::simt
