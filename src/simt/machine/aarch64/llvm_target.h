// LLVM's target for AArch64.
#pragma once

#include "simt/machine/llvm_target.h"

namespace km::simt::aarch64 {

const LlvmTarget& llvm_target();

}  // namespace km::simt::aarch64
