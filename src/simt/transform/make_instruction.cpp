#include "simt/transform/make_instruction.h"

#include <algorithm>

#include "ptx/mnemonic.h"
#include "ptx/names.h"

namespace km::simt {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Operand;
using ptx::Type;

namespace {

/// Sets modifiers, types and form from the mnemonic; the operands must be set already.
void spell(Instruction& instruction, std::string_view mnemonic) {
  const ptx::Mnemonic known = ptx::read_mnemonic(mnemonic);
  instruction.opcode = known.opcode;
  instruction.types = known.types;
  instruction.type_count = known.type_count;
  std::copy(known.modifier_bits.begin(), known.modifier_bits.end(), instruction.modifier_bits);
  for (const ptx::Mnemonic::Candidate& candidate : known.candidates) {
    instruction.form = candidate.form;
    instruction.modifiers = candidate.modifiers;
    if (ptx::assign_operands(ptx::all_forms()[candidate.form], instruction)) break;
  }
}

}  // namespace

Instruction make_instruction(std::string_view mnemonic, std::initializer_list<Operand> operands,
                             const Instruction& like) {
  Instruction instruction;
  std::copy(operands.begin(), operands.end(), instruction.operands.begin());
  instruction.operand_count = static_cast<uint8_t>(operands.size());
  instruction.location = like.location;
  instruction.source_line = like.source_line;
  instruction.guard = like.guard;
  instruction.guard_negated = like.guard_negated;
  spell(instruction, mnemonic);
  return instruction;
}

// The fault is stored in an unused operand: PTX's own trap has none.
Instruction make_trap(FaultKind reason, const Instruction& like) {
  Instruction trap = make_instruction("trap", {}, like);
  trap.guard = ptx::kNone;
  trap.guard_negated = false;
  trap.operands[0].bits = static_cast<uint64_t>(reason);
  return trap;
}

FaultKind trap_reason(const Instruction& trap) {
  const auto reason = static_cast<FaultKind>(trap.operands[0].bits);
  return reason == FaultKind::none ? FaultKind::trap : reason;
}

Operand register_operand(ptx::RegisterId reg) {
  Operand operand;
  operand.kind = Operand::Kind::reg;
  operand.reg = reg;
  return operand;
}

Operand immediate_operand(uint64_t bits) {
  Operand operand;
  operand.kind = Operand::Kind::immediate;
  operand.bits = bits;
  return operand;
}

Operand label_operand(ptx::LabelId label) {
  Operand operand;
  operand.kind = Operand::Kind::label;
  operand.label = label;
  return operand;
}

Operand address_operand(ptx::SymbolId symbol, int64_t offset) {
  Operand operand;
  operand.kind = Operand::Kind::address;
  operand.symbol = symbol;
  operand.local_symbol = true;
  operand.offset = offset;
  return operand;
}

std::string move_mnemonic(Type to, Type from) {
  const bool exact = to == from && (to == Type::f32 || to == Type::f64 || to == Type::pred);
  if (exact) return "mov." + std::string(ptx::text_of(to));
  // 8-bit registers exist, but mov does not accept them.
  if (ptx::size_bits(to) == 8) return "cvt.u8.u8";
  return "mov." + std::string(bits_type_text(ptx::size_bytes(to)));
}

void replace_modifier(Instruction& instruction, Modifier from, Modifier to) {
  if (!instruction.has(from)) return;
  std::string mnemonic(ptx::text_of(instruction.opcode));
  for (Modifier modifier : instruction.modifiers) {
    mnemonic += "." + std::string(ptx::text_of(modifier == from ? to : modifier));
  }
  for (unsigned i = 0; i < instruction.type_count; ++i) {
    mnemonic += "." + std::string(ptx::text_of(instruction.types[i]));
  }
  spell(instruction, mnemonic);
}

std::string_view bits_type_text(uint64_t size_bytes) { return ptx::text_of(bits_type(size_bytes)); }

Type bits_type(uint64_t size_bytes) {
  constexpr uint64_t kWidestBytes = 8;  // of the registers that one mov, ld or st takes
  return size_bytes <= kWidestBytes ? ptx::bits_type(static_cast<uint32_t>(8 * size_bytes))
                                    : Type::none;
}

}  // namespace km::simt
