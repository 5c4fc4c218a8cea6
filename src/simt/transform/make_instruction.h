// PTX instructions made by transformations, as the parser would have made them.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "ptx/ir.h"
#include "simt/abi.h"

namespace km::simt {

/// `mnemonic` as PTX writes it ("cvt.u32.u16"), known to exist. Position and guard are those of
/// `like`.
ptx::Instruction make_instruction(std::string_view mnemonic,
                                  std::initializer_list<ptx::Operand> operands,
                                  const ptx::Instruction& like);

/// A trap, unguarded, that ends the launch with this fault.
ptx::Instruction make_trap(FaultKind reason, const ptx::Instruction& like);
FaultKind trap_reason(const ptx::Instruction& trap);

ptx::Operand register_operand(ptx::RegisterId reg);
ptx::Operand immediate_operand(uint64_t bits);
ptx::Operand label_operand(ptx::LabelId label);
/// [symbol+offset] of a variable in Function::symbols.
ptx::Operand address_operand(ptx::SymbolId symbol, int64_t offset);

/// The mnemonic that copies between registers of these types, of one size: a float type where both
/// have it, else bits.
std::string move_mnemonic(ptx::Type to, ptx::Type from);

/// Puts one modifier in the place of another, if it is there.
void replace_modifier(ptx::Instruction& instruction, ptx::Modifier from, ptx::Modifier to);

/// "b32" for 4 bytes; up to 8.
std::string_view bits_type_text(uint64_t size_bytes);
ptx::Type bits_type(uint64_t size_bytes);

}  // namespace km::simt
