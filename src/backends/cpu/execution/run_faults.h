// The faults of one thread's part of a launch.
#pragma once

#include <cstdint>
#include <string>

#include "backends/cpu/execution/kernel_fault.h"
#include "backends/cpu/execution/resident_block.h"
#include "simt/abi.h"

namespace km::cpu {

/// RunFaults keeps what ended a run, and the first assertion that failed in it. Generated code is
/// left after a fault was noted, so that these functions call no sanitizer.
class RunFaults {
 public:
  /// A run begins, without faults.
  void begin() {
    fault_.kind = simt::FaultKind::none;
    has_assertion_ = false;
  }

  /// The fault that ended the run.
  const KernelFault& fault() const { return fault_; }
  /// The first assertion that failed; null: none did.
  const KernelFault* assertion() const { return has_assertion_ ? &assertion_ : nullptr; }

  /// A function of the runtime has found the fault. `line` in the PTX text counts where it is not
  /// 0, else the one that `pc` belongs to.
  void note_raised(simt::FaultKind kind, uint64_t pc, uint64_t address, uint64_t size_bytes,
                   uint32_t thread, uint32_t line);
  /// No warp of the running block can go on; `place` is where one of them waits.
  void note_deadlock(const ResidentBlock::Place& place);
  /// The run was stopped before or while it ran: the guard says where.
  void note_stopping() { fault_.kind = simt::FaultKind::none; }
  /// A thread of the block has failed an assertion; the first one counts.
  void note_assertion(std::string text, uint64_t pc, const simt::BlockState& state,
                      uint32_t thread);

  /// The run was left: adds the block, and what the guard knows if nobody noted a fault.
  void complete(Ending ending, const Fault& of_guard, const simt::BlockState& state);
  /// The run never began: it was stopped before.
  void set_not_begun();
  /// Makes the assertion the fault of the run. False: none has failed.
  bool take_assertion();

 private:
  KernelFault fault_, assertion_;
  bool has_assertion_ = false;
};

}  // namespace km::cpu
