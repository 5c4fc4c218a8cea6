// Which type each operand of an instruction has, and how results fill wider registers.
#pragma once

#include <array>

#include "ptx/forms.h"
#include "reference/evaluate.h"

namespace km::reference {

/// The specs of the operands of an instruction that the verifier has passed.
ptx::Assignment specs_of(const Instruction& in);

/// A result of `type` as a register of `register_bits` holds it: by its sign, or cut.
Bits fill_register(Bits value, Type type, unsigned register_bits);

}  // namespace km::reference
