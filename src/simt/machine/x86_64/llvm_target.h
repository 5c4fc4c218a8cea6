// LLVM's target for x86-64.
#pragma once

#include "simt/machine/llvm_target.h"

namespace km::simt::x86_64 {

const LlvmTarget& llvm_target();

}  // namespace km::simt::x86_64
