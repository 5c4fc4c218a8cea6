// A workaround for a bug in LLVM's code generator.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace km::simt {

/// For machines with ternary logic LLVM 19 makes one masked instruction of it and a choice between
/// lanes (a select, or a shuffle where the mask is constant), and gets the table wrong where an
/// operand comes from memory (a constant does) and another is what lanes keep
/// (llvm/llvm-project#157929, mended there in 2026-07). Such results reach their choices through an
/// empty piece of assembly, which costs nothing and keeps both apart.
void keep_logic_from_choices(llvm::Module& module, const llvm::TargetMachine& target);

}  // namespace km::simt
