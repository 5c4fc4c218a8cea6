// Makes the condition-code register of add.cc, addc, mad.cc ... an ordinary register.
#pragma once

#include "ptx/ir.h"

namespace km::simt {

/// Replaces each instruction that reads or writes the carry flag by ordinary instructions; the flag
/// becomes a 64-bit register that holds 0 or 1. After sub and subc it is 1 if nothing was borrowed,
/// as on GPUs, because addc and subc read the same flag.
void make_carry_explicit(ptx::Function& function);

}  // namespace km::simt
