// The condition-code register of add.cc, addc, mad.cc ... made an ordinary register.
#pragma once

#include "ptx/ir.h"

namespace km::simt {

/// Replaces every instruction that reads or writes the carry flag by ordinary ones, the flag being
/// a 64-bit register that holds 0 or 1. After sub and subc it is 1 if nothing was borrowed, as on
/// GPUs: addc and subc read one flag.
void make_carry_explicit(ptx::Function& function);

}  // namespace km::simt
