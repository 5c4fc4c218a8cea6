// AccessReports, the calls by which code for the checker tells the runtime what threads do.
#pragma once

#include <optional>
#include <span>

#include "simt/analysis/memory/memory_access.h"
#include "simt/codegen/addresses.h"
#include "simt/codegen/lower/checks/access_counts.h"
#include "simt/codegen/lower/checks/joint_accesses.h"
#include "simt/plan/copied_values.h"
#include "simt/plan/repeated_reads.h"
#include "simt/runtime/check/check_runtime.h"
#include "simt/undefined_use.h"

namespace km::simt {

/// Generates calls of CheckRuntime's functions. Every function does nothing if the variant is not
/// made for a tool that needs the report.
class AccessReports : private EmitterBase {
 public:
  AccessReports(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
                Addresses& addresses, JointAccesses& joint)
      : EmitterBase(builder, plan),
        frame_(frame),
        addresses_(addresses),
        joint_(joint),
        counts_(builder, plan, frame, addresses) {}

  /// The counts of a profile, which need the same addresses.
  AccessCounts& counts() { return counts_; }
  /// True if accesses are reported in one way or another.
  bool is_used() const { return has_accesses() || has_init(); }
  /// True if each access is reported, whatever is known of the memory.
  bool has_accesses() const {
    constexpr uint16_t kTools = check_tool::kRace | check_tool::kStreams | check_tool::kSchedule;
    return (plan_.variant.tools & kTools) != 0;
  }
  /// True if what orders lanes of a warp is reported.
  bool has_race() const { return (plan_.variant.tools & check_tool::kRace) != 0; }
  /// True if __syncwarp() is reported.
  bool has_warp_syncs() const { return has_race() || plan_.variant.is_scheduled(); }
  /// True if barriers and member masks are reported.
  bool has_sync() const { return (plan_.variant.tools & check_tool::kSync) != 0; }
  /// An access that was found suspicious.
  struct Tested {
    llvm::AllocaInst* addresses;  // of all lanes
    uint64_t held_bytes;          // that must lie in an allocation
    uint64_t extent_bytes;        // from the lowest lane's first byte to the highest one's last
    llvm::AllocaInst* range;      // the range that the place used last
  };
  /// Calls CheckRuntime::filter_access for the active lanes; returns the invalid ones as bits.
  Value* call_filter(const AccessNote& note, const Tested& tested);
  /// True (i1) if what an active lane accesses from its address plus `low_bytes` on is not in the
  /// range that this place used last.
  Value* outside_range(const Address& address, llvm::AllocaInst* range, int64_t low_bytes);
  /// Makes `joint` the part of `range` from which accesses may begin that extend `more_bytes`
  /// farther than those that `range` is for.
  void narrow_range(llvm::AllocaInst* range, llvm::AllocaInst* joint, uint64_t more_bytes);
  /// Reports a load or atomic before it is executed.
  void report_access(const Inst& inst, const Address& address);
  /// Reports a store, with the values of its elements: vectors, or scalars for equal lanes. Returns
  /// the bits of the lanes whose stores the runtime makes; null: of none.
  Value* report_store(const Inst& inst, const Address& address, std::span<Value* const> values);
  /// True if some lanes of the load may see older values than memory has.
  bool may_load_old(const Inst& inst) const;
  /// Asks for the older values that the lanes of a load see, which are written to `memory` in rows
  /// of all lanes. Returns these lanes as bits.
  Value* load_old(const Inst& inst, const Address& address, Value* memory);
  /// Reports that a strong read or an atomic is done, because it may synchronise with a release.
  void report_acquire(const Inst& inst, const Address& address);
  /// How memory is accessed, by which asynchronous copy, and what a store writes.
  struct Manner {
    Manner(AccessKind access, CopyKind of = CopyKind::none) : kind(access), copy(of) {}
    /// Says what is stored: `size` bytes at `from` (i64 for each lane, or for all), then zeros.
    void copy_from(Value* from, Value* size) {
      sources = from;
      held_bytes = size;
    }
    AccessKind kind;
    CopyKind copy;
    uint8_t flags = 0;           // access_flag
    Value* values = nullptr;     // in memory, as CheckRuntime::report_access() has them
    uint16_t element_bytes = 0;  // of `values`
    Value *sources = nullptr, *held_bytes = nullptr;  // copy_from()
    Value* byte_masks = nullptr;  // i16 for each lane (StoreSources); null: all bytes
  };
  /// A store of zeros.
  Manner zeros(CopyKind copy = CopyKind::none);
  /// The manner with the values of a store's elements: vectors, or scalars for equal lanes.
  Manner with_values(Manner manner, std::span<Value* const> values, uint16_t element_bytes);
  /// Reports a read or write of `size_bytes` by each active lane.
  void report_lanes(const Inst& inst, const Address& address, uint64_t size_bytes, Manner manner);
  /// Reports such an access by the lanes of a mask (null: all) whose addresses are at hand.
  void report_lanes(const Inst& inst, Value* addresses, uint64_t size_bytes, Manner manner,
                    Value* lanes);
  /// Reports a read or write of `sizes` bytes (i64 for each lane, or for all) by each lane of
  /// `lanes` (null: all).
  void report_ranges(const Inst& inst, Value* addresses, Value* sizes, Manner manner, Value* lanes);
  /// Reports an arrival at an mbarrier object, which releases, before it is made: by the thread, or
  /// by an asynchronous copy that is complete.
  void report_arrival(const Inst& inst, const Address& barrier, CopyKind by = CopyKind::none);
  /// A copy to the same place in several blocks of the cluster.
  struct Multicast {
    Value *barriers, *ranks;          // i64 for each lane: mbarrier objects, and blocks as bits
    Value *own_rank, *bits, *blocks;  // i64 for each lane, as the cluster has them
    Value *to, *sizes;                // what is written; null if the runtime reports that
    Value* from = nullptr;            // addresses of what is copied; null: zeros are written
  };
  /// Reports a copy to several blocks, and that it completes on the mbarrier object of each.
  void report_multicast(const Inst& inst, const Multicast& copy);
  /// Reports that groups of asynchronous copies end or are waited for (CheckRuntime).
  void report_copies(CopyKind kind, Value* pending);
  /// Reports that a phase of an mbarrier object has been tested, which acquires.
  void report_phase_test(const Inst& inst, const Address& barrier);
  /// Reports a fence of the active lanes.
  void report_fence(const Inst& inst);
  /// Reports the arrival of the active lanes at a barrier of the block.
  void report_barrier(const Inst& inst, Value* id, Value* thread_count);
  /// Reports the member masks (i32 for each lane, or for all) of a warp operation.
  void report_members(const Inst& inst, Value* members);
  /// Reports a use of what nothing has written (mark_undefined()) by the active lanes.
  void report_undefined(const Inst& inst, UndefinedUse use);
  /// Reports that `lanes` (bits) have met in bar.warp.sync, or have exchanged values. Requires
  /// has_warp_syncs(), so that other variants do not compute the lanes.
  void report_warp_sync(Value* lanes, bool orders);

 private:
  std::optional<MemoryAccess> reported(const Inst& inst) const;
  AccessNote own_note(const Inst& inst, const MemoryAccess& access, const Address& address) const;
  uint8_t role_of(const Inst& inst);
  bool has_init() const { return (plan_.variant.tools & check_tool::kInit) != 0; }
  /// Memory that a place knows to be defined.
  struct Defined {
    llvm::AllocaInst* range;
    llvm::AllocaInst* block;  // for which it is; null: for all
    int64_t low_bytes;        // of the lowest lane, from the address on
    uint64_t extent_bytes;    // from there on
  };
  void report_content(const Inst& inst, const MemoryAccess& access, const Address& address,
                      const AccessNote& note);
  Defined defined_memory(const MemoryAccess& access);
  Value* current_block(const MemoryAccess& access);
  Value* may_be_undefined(const Defined& known, const MemoryAccess& access, const Address& address);
  void test_content(const Defined& known, const MemoryAccess& access, const Address& address,
                    const AccessNote& note);
  void call_content(Value* addresses, Value* lanes, const AccessNote& note, uint64_t extent_bytes,
                    Value* range);
  void call_race(Value* addresses, Value* lanes, const AccessNote& note, Value* values);
  void call_access(Value* addresses, Value* lanes, const AccessNote& note, Value* values);
  void call_acquire(Value* addresses, const AccessNote& note);
  Value* stored(Value* addresses);
  Value* no_values();
  Value* rows_of(std::span<Value* const> values, uint16_t element_bytes);
  Value* sources_of(const Manner& manner);
  llvm::Constant* constant_note(const AccessNote& note);

  LaunchFrame& frame_;
  Addresses& addresses_;
  JointAccesses& joint_;
  AccessCounts counts_;
  std::optional<CopiedValues> copied_;
  std::optional<RepeatedReads> repeated_;
};

/// The report's constant part for a load, store or atomic.
AccessNote note_of(const Inst& inst, const MemoryAccess& access);

/// The scope of a memory operation, the device's if it names none.
MemoryScope scope_of(const ptx::Instruction& instruction);

}  // namespace km::simt
