// A guard against a choice of LLVM's instruction selection.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace km::simt {

/// Keeps selects of the greater or the lesser of two values from becoming one instruction on
/// machines whose maximum quiets NaNs. LLVM takes both for equal, since its language has no
/// signalling NaNs: `x > 0 ? x : 0` is zero for each NaN, but the instruction makes a quiet NaN of
/// a signalling one.
void keep_signalling_nans(llvm::Module& module, const llvm::TargetMachine& target);

}  // namespace km::simt
