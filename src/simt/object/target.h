// LLVM's part after the module is built: target machine, passes, object code.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "base/result.h"
#include "simt/engine.h"

namespace km::simt {

/// LLVM's target machine for code of this machine: PIC, small code model, no frame pointer, no
/// fast-math, no contraction (FPOpFusion::Strict), O2. Never the host's CPU name: the code is
/// cached and must not depend on more than `machine` says.
Result<std::unique_ptr<llvm::TargetMachine>> make_target_machine(const Machine& machine);

/// Sets the data layout, triple and per-function target attributes; it must be called before code
/// is built.
void prepare_module(llvm::Module& module, llvm::TargetMachine& machine);

/// Runs the pass pipeline (mem2reg, simplification, GVN, LICM, bounded unrolling; no loop or SLP
/// vectoriser, no library-call recognition) and emits an object without undefined symbols.
/// KM_ERROR_COMPILER names an undefined symbol or a verifier error. `interruption` is polled
/// between passes and functions.
Result<Object> emit_object(llvm::Module& module, llvm::TargetMachine& machine,
                           const Interruption* interruption = nullptr);

/// The symbols that every object defines and Code::load reads.
constexpr const char* kEntrySymbol = "km_entry";  // GridEntry or FiberEntry
constexpr const char* kAssumptionsSymbol =
    "km_assumptions_hold";                      // bool(const LaunchRecord*), optional
constexpr const char* kMetaSymbol = "km_meta";  // ObjectMeta in a read-only section

struct ObjectMeta {
  uint32_t magic = kMagic;
  uint32_t mode = 0;  // Mode
  uint64_t scratch_bytes = 0;
  uint32_t stack_bytes = 0;         // in addition to the frames of its functions
  uint32_t waits = 0;               // CodeInfo::waits
  uint32_t nontemporal_stores = 0;  // CodeInfo::nontemporal_stores
  uint32_t reads_block = 0;         // CodeInfo::reads_block
  static constexpr uint32_t kMagic = 0x364d4b00;
};

}  // namespace km::simt
