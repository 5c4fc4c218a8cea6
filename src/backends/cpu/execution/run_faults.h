// The faults of one thread's part of a launch.
#pragma once

#include <cstdint>
#include <string>

#include "backends/cpu/execution/kernel_fault.h"
#include "backends/cpu/execution/resident_block.h"
#include "simt/abi.h"

namespace km::cpu {

/// Records the fault that ended a run and the first assertion that failed in it. Generated code is
/// left after a fault was recorded, so these functions must not call a sanitizer.
class RunFaults {
 public:
  /// Starts a run without faults.
  void begin() {
    fault_.kind = simt::FaultKind::none;
    has_assertion_ = false;
  }

  /// The fault that ended the run.
  const KernelFault& fault() const { return fault_; }
  /// The first assertion that failed; null if none failed.
  const KernelFault* assertion() const { return has_assertion_ ? &assertion_ : nullptr; }

  /// Records a fault that a function of the runtime found. `line` is the line in the PTX text; if
  /// it is 0, the line of `pc` is used.
  void note_raised(simt::FaultKind kind, uint64_t pc, uint64_t address, uint64_t size_bytes,
                   uint32_t thread, uint32_t line);
  /// Records that no warp of the running block can continue; `place` is where one of them waits.
  void note_deadlock(const ResidentBlock::Place& place);
  /// Records that the run was stopped; the guard knows where.
  void note_stopping() { fault_.kind = simt::FaultKind::none; }
  /// Records a failed assertion of a thread of the block; later ones are ignored.
  void note_assertion(std::string text, uint64_t pc, const simt::BlockState& state,
                      uint32_t thread);

  /// Called when the run was left: adds the block and, if no fault was recorded, the guard's.
  void complete(Ending ending, const Fault& of_guard, const simt::BlockState& state);
  /// Records that the run was stopped before it began.
  void set_not_begun();
  /// Makes the recorded assertion the fault of the run. Returns false if none has failed.
  bool take_assertion();

 private:
  KernelFault fault_, assertion_;
  bool has_assertion_ = false;
};

}  // namespace km::cpu
