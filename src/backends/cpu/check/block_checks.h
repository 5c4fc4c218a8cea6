// BlockChecks, the tests of the accesses of one running block.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/check/barrier_check.h"
#include "backends/cpu/check/block_clock.h"
#include "backends/cpu/check/launch_checks.h"
#include "backends/cpu/check/race_check.h"
#include "backends/cpu/check/shadow.h"
#include "backends/cpu/check/undefined_memory.h"
#include "backends/cpu/memory/allocations.h"
#include "backends/cpu/order/touched_memory.h"
#include "simt/engine.h"
#include "simt/undefined_use.h"

namespace km::cpu {

/// An access to memory that the launch does not have, or at an address that is no multiple of its
/// size.
struct InvalidAccess {
  uint64_t address = 0;
  uint32_t thread = 0;
  const simt::AccessNote* note = nullptr;
  bool is_misaligned = false;
};

/// The shadow of one block's shared memory, which the blocks of its cluster access too: all of them
/// run on one thread.
struct SharedShadow {
  AddressRange memory;
  ShadowPiece* piece = nullptr;
  uint32_t era = 0;
};

/// The clock of a block, the shadow of its shared memory, and the tests of its accesses.
class BlockChecks {
 public:
  /// The place of the block in its launch, and its memory.
  struct Block {
    LaunchChecks* launch = nullptr;
    uint32_t number = 0;  // in the grid
    uint32_t thread_count = 0;
    ReportedStore* store = nullptr;  // of the thread that runs the block; null: nobody sees it
    AddressRange shared;
    AddressRange scratch, params;  // memory that no two threads share, or that never changes
    std::vector<SharedShadow>* cluster =
        nullptr;  // of all blocks of the cluster; null: it is alone
  };
  /// Begins a block, with shared memory that nothing has accessed.
  void begin(const Block& block);

  BlockClock& clock() { return clock_; }
  const BlockClock& clock() const { return clock_; }
  BarrierCheck& barriers() { return barriers_; }
  /// The number of the block in the grid.
  uint32_t block_number() const { return block_.number; }
  /// True if the memory is the block's own or its threads', or is accessed by nobody.
  bool is_own(uint64_t address, uint64_t size_bytes) const {
    return block_.shared.holds(address, 1) || !is_watched(address, size_bytes);
  }
  /// Begins an instruction of a warp: if its lanes run in step, what they did before is over.
  void begin_instruction(uint32_t first_thread) {
    if (has_tool(simt::check_tool::kInStep)) clock_.step_warp(first_thread / simt::kWarpLanes);
  }
  /// Tests accesses for races, before they are made.
  void note_access(const AccessReport& report);
  /// Tests the content of what is read, and notes what is written. Returns true if some of that
  /// memory was undefined.
  bool note_content(const AccessReport& report);
  /// Tests accesses of any size, with their content, before they are made.
  void note_ranges(const AccessReport& report);
  /// Notes that a thread uses a register that nothing has written.
  void note_undefined(uint32_t thread, simt::UndefinedUse use, uint32_t line);
  /// Notes an access that is not made.
  void note_invalid(const InvalidAccess& access);
  /// Notes that strong reads or atomics are done.
  void note_acquire(const AccessReport& report);
  /// Notes a fence of one thread.
  void note_fence(uint32_t thread, simt::MemoryScope scope);
  /// Forgets what is known of memory that a thread gets from the heap for kernels.
  void forget(uint64_t address, uint64_t size_bytes);

 private:
  class Sink;
  /// Lanes in a row with equal or consecutive addresses.
  struct Segment {
    uint32_t first = 0, count = 1;
    bool is_uniform = false;
  };
  template <typename Action>
  void for_segments(const AccessReport& report, const Action& action) const;
  Segment segment_at(const AccessReport& report, uint32_t lane, uint32_t lanes) const;
  AccessRecord begin_segment(const AccessReport& report, const Segment& segment) const;
  static AddressRange memory_of(const AccessReport& report, const Segment& segment);
  void begin_report(const AccessReport& report);
  void publish(const AccessRecord& access, const AccessReport& report);
  void note_segment(const AccessReport& report, const Segment& segment);
  void note_masked(const AccessReport& report, uint32_t lane);
  void note_range(const AccessReport& report, uint32_t lane, const AddressRange& range);
  bool define(uint64_t address, uint64_t size_bytes) const;
  void note_content(const AccessReport& report, const Segment& segment);
  void touch_memory(const AccessRecord& access, const AccessReport& report,
                    const AddressRange& all);
  void note_touch(const simt::AccessNote& note, const AddressRange& all);
  void note_content(const AccessRecord& access, const simt::AccessNote& note,
                    const AddressRange& all);
  AccessRecord begin_access(const simt::AccessNote& note, const AddressRange& memory,
                            uint32_t thread) const;
  const SharedShadow* shared_shadow(uint64_t address) const;
  bool is_watched(uint64_t address, uint64_t size_bytes) const;
  bool may_be_undefined(uint64_t address, uint64_t size_bytes) const;
  bool has_tool(uint16_t tool) const { return (block_.launch->tools() & tool) != 0; }
  /// The part [at, end) of a segment in one line; accesses of `size_bytes` begin at `address`.
  struct Part {
    uint64_t address, size_bytes, at, end;
    bool is_of_one;  // one thread accesses all of it
  };
  static void touch(RaceCheck& check, Line& line, const AccessRecord& access, const Part& part);
  void release(const AccessReport& report, uint32_t lane);

  BlockClock clock_;
  BarrierCheck barriers_;
  Block block_;
  bool is_published_ = false;  // the report is, or other threads need not know it
  TouchedMemory::Cursor touched_;
  std::unique_ptr<ShadowPiece> piece_;
  SharedShadow shared_;
};

}  // namespace km::cpu
