// Synthesizes PTX instructions in the parser's form.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "ptx/ir.h"
#include "simt/abi.h"

namespace km::simt {

/// An instruction with a valid mnemonic in PTX notation ("cvt.u32.u16"). Position and guard are
/// copied from `like`.
ptx::Instruction make_instruction(std::string_view mnemonic,
                                  std::initializer_list<ptx::Operand> operands,
                                  const ptx::Instruction& like);

/// An unguarded trap that ends the launch with this fault.
ptx::Instruction make_trap(FaultKind reason, const ptx::Instruction& like);
FaultKind trap_reason(const ptx::Instruction& trap);

ptx::Operand register_operand(ptx::RegisterId reg);
ptx::Operand immediate_operand(uint64_t bits);
ptx::Operand label_operand(ptx::LabelId label);
/// The operand [symbol+offset] for a variable in Function::symbols.
ptx::Operand address_operand(ptx::SymbolId symbol, int64_t offset);

/// The mnemonic of a copy between registers of these types, which must have the same size: a float
/// type if both are floats, otherwise bits.
std::string move_mnemonic(ptx::Type to, ptx::Type from);

/// Replaces one modifier by another, if it is present.
void replace_modifier(ptx::Instruction& instruction, ptx::Modifier from, ptx::Modifier to);

/// "b32" for 4 bytes; at most 8 bytes.
std::string_view bits_type_text(uint64_t size_bytes);
/// ptx::bits_type() of a size in bytes, up to 8; Type::none beyond.
ptx::Type bits_type(uint64_t size_bytes);

}  // namespace km::simt
