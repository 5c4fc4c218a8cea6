// Plain computations of PTX, one instruction at a time: operand bits in, result bits out. Written
// from the manual's text, apart from the code generator, which shares nothing with it but the IR.
#pragma once

#include <optional>
#include <span>

#include "ptx/enums.h"
#include "reference/soft_float.h"

namespace km::reference {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Type;

/// The sources, each cut to its operand's type, and the carry flag.
struct Arguments {
  const Instruction& in;
  std::span<const Bits> s;
  bool carry = false;
};

/// `p` is the second destination (setp p|q, lop3 d|p), `carry` the new flag of `.cc` forms.
struct Outcome {
  Bits d = 0;
  bool p = false;
  bool carry = false;
};

using Handler = Outcome (*)(const Arguments&);

/// What computes the instruction; null where it is no plain computation or PTX does not define it.
Handler find_handler(const Instruction& in);

// One file a family.
Handler find_integer(const Instruction& in);
Handler find_bits(const Instruction& in);
Handler find_float(const Instruction& in);
Handler find_approx(const Instruction& in);
Handler find_compare(const Instruction& in);
Handler find_convert(const Instruction& in);
Handler find_video(const Instruction& in);

/// The rounding that the instruction names; to nearest even where it names none.
Round round_of(const Instruction& in);

// What conversions one by one share with those of many operands.
bool rounds_to_integral(const Instruction& in);
/// The result of converting a NaN with these bits, if GPUs hand its sign and payload on.
std::optional<uint64_t> passed_nan(const Instruction& in, uint64_t bits);
/// What NaN becomes in an integer.
Bits integer_of_nan(Type to, Type from);

// What atomics share with add, min and max, on encodings.
uint64_t add_rounded(const Format& format, uint64_t a, uint64_t b, bool ftz);
uint64_t min_max(const Format& format, uint64_t a, uint64_t b, bool maximum);
/// Clamped to [+0, 1]; NaN gives +0.
uint64_t saturate(const Format& format, uint64_t bits);

}  // namespace km::reference
