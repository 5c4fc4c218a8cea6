// Which instructions make NaNs, whose bits PTX specifies, and which pass on the bits that they get.
#pragma once

#include "ptx/ir.h"

namespace km::simt {

/// True if the instruction is a conversion that preserves a NaN's sign and payload, as on GPUs:
/// those from and to f64, and those to f32 that only copy bits.
bool passes_nan(const ptx::Instruction& ptx);

/// True if the instruction computes a number in f32 or f64, whose NaNs are those of the machine.
bool makes_float(const ptx::Instruction& ptx);

}  // namespace km::simt
