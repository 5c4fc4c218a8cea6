#include "backends/cpu/execution/run_faults.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/threads/sanitizers.h"
#include "base/assert.h"

namespace km::cpu {

KM_NO_SANITIZE void RunFaults::note_raised(simt::FaultKind kind, uint64_t pc, uint64_t address,
                                           uint64_t size_bytes, uint32_t thread, uint32_t line) {
  fault_.kind = kind;
  fault_.fault.signal = 0;
  fault_.fault.code = 0;
  fault_.fault.pc = pc;
  fault_.fault.address = address;
  fault_.fault.stack_overflow = false;
  fault_.size_bytes = size_bytes;
  fault_.line = line;
  fault_.helper_line = 0;
  fault_.thread = thread;
  fault_.has_thread = true;
  fault_.deadlock = false;
}

KM_NO_SANITIZE void RunFaults::note_deadlock(const ResidentBlock::Place& place) {
  fault_.kind = simt::FaultKind::trap;
  fault_.fault = {};
  fault_.fault.pc = place.pc;
  fault_.line = place.line;
  fault_.helper_line = 0;
  fault_.thread = place.first_thread;
  fault_.has_thread = false;
  fault_.deadlock = true;
}

void RunFaults::note_assertion(std::string text, uint64_t pc, const simt::BlockState& state,
                               uint32_t thread) {
  if (has_assertion_) return;
  assertion_ = KernelFault{};
  assertion_.kind = simt::FaultKind::assertion;
  assertion_.fault.pc = pc;
  std::copy_n(state.block, 3, assertion_.block);
  assertion_.thread = thread;
  assertion_.has_thread = true;
  assertion_.text = std::move(text);
  has_assertion_ = true;
}

void RunFaults::complete(Ending ending, const Fault& of_guard, const simt::BlockState& state) {
  for (int i = 0; i < 3; ++i) fault_.block[i] = state.block[i];
  fault_.shared_address = reinterpret_cast<uint64_t>(state.shared);
  if (fault_.kind != simt::FaultKind::none) return;
  fault_.fault = of_guard;  // a signal reported it
  fault_.thread = state.first_thread;
  fault_.has_thread = false;
  fault_.deadlock = false;
  fault_.size_bytes = 0;
  fault_.line = 0;
  fault_.helper_line = state.line;
  fault_.text.clear();
  if (ending == Ending::stopped) {
    fault_.kind = simt::FaultKind::stopped;
    fault_.helper_line = 0;
  }
  KM_ASSERT(fault_.kind != simt::FaultKind::none || fault_.fault.signal != 0 || has_assertion_,
            "a run has faulted without a recorded cause");
}

void RunFaults::set_not_begun() {
  fault_ = KernelFault{};
  fault_.kind = simt::FaultKind::stopped;
}

bool RunFaults::take_assertion() {
  if (!has_assertion_) return false;
  fault_ = std::move(assertion_);
  has_assertion_ = false;
  return true;
}

}  // namespace km::cpu
