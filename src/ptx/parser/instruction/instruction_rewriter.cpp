#include "ptx/parser/instruction/instruction_rewriter.h"

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "ptx/names.h"

namespace km::ptx {
namespace {

/// The mnemonic "ld.global.v4.f32" with another type and without the vector modifier.
std::string scalar_text(std::string_view mnemonic, const std::string& type) {
  std::string text;
  for (size_t at = 0; at < mnemonic.size();) {
    const size_t end = std::min(mnemonic.find('.', at), mnemonic.size());
    const std::string_view word = mnemonic.substr(at, end - at);
    at = end + 1;
    if (word == "v2" || word == "v4" || word == "v8") continue;
    if (!text.empty()) text += '.';
    text += find_type(word) ? std::string_view(type) : word;
  }
  return text;
}

Space space_of(const Mnemonic& mnemonic) {
  Instruction instruction;
  instruction.modifiers = mnemonic.candidates.front().modifiers;
  return km::ptx::space_of(instruction);
}

/// A mask of the lowest `count` bits.
uint64_t low_bits(uint64_t count) { return count >= 64 ? UINT64_MAX : (uint64_t{1} << count) - 1; }

}  // namespace

Status InstructionRewriter::rewrite_operands(Instruction& instruction, const Mnemonic& mnemonic) {
  const Opcode opcode = mnemonic.opcode;
  const bool accesses = opcode == Opcode::ld || opcode == Opcode::ldu || opcode == Opcode::st;
  const bool moves = opcode == Opcode::mov;
  const bool logic = moves || opcode == Opcode::and_ || opcode == Opcode::or_ ||
                     opcode == Opcode::xor_ || opcode == Opcode::not_ || opcode == Opcode::selp;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    Operand& operand = instruction.operands[i];
    written_.current_operand = i;
    if (accesses || (moves && i < 2 && is_plain_move(instruction, i))) unwrap(operand);
    if (logic && operand.negated && context_.is_predicate(operand)) {
      KM_TRY(negate_predicate(operand));
    }
    if (operand.kind == Operand::Kind::address && operand.reg != kNone) {
      KM_TRY(widen_base(operand));
    }
    if (!written_.note().is_element || moves) continue;
    if (!accesses) {
      return tokens_.error_at(written_.operand_tokens[i],
                              "an element of an array is an operand of ld, st and mov "
                              "only: take its address with mov");
    }
    KM_TRY(address_element(operand, mnemonic));
  }
  return {};
}

Status InstructionRewriter::negate_predicate(Operand& operand) {
  const Operand negated = context_.temporary(Type::pred);
  Operand plain = operand;
  plain.negated = false;
  KM_TRY(emitter_.emit_helper("not.pred", {negated, plain}));
  operand = negated;
  return {};
}

Status InstructionRewriter::address_element(Operand& operand, const Mnemonic& mnemonic) {
  operand.kind = Operand::Kind::address;
  const Space space = written_.note().space, named = space_of(mnemonic);
  if (space == Space::generic || named == Space::generic || space == named) return {};
  return tokens_.error_at(written_.operand_tokens[written_.current_operand],
                          "this array is in ." + std::string(text_of(space)) +
                              ", expected one in ." + std::string(text_of(named)));
}

void InstructionRewriter::unwrap(Operand& operand) const {
  if (operand.kind == Operand::Kind::vector && operand.count == 1) {
    operand = Operand(context_.function().operand_pool[operand.first]);
  }
}

bool InstructionRewriter::is_plain_move(const Instruction& instruction, unsigned index) const {
  const auto is_register = [&](const Operand& operand) {
    const bool single = operand.kind == Operand::Kind::vector && operand.count == 1;
    const Operand& inner = single ? context_.function().operand_pool[operand.first] : operand;
    return inner.kind == Operand::Kind::reg;
  };
  return is_register(instruction.operands[index]) && is_register(instruction.operands[1 - index]);
}

Status InstructionRewriter::widen_base(Operand& address) {
  const Type type = context_.function().registers[address.reg].type;
  if (!is_integer(type) || size_bits(type) > 16) return {};
  Operand base;
  base.kind = Operand::Kind::reg;
  base.reg = address.reg;
  const Operand wide = context_.temporary(Type::b64);
  KM_TRY(emitter_.emit_helper(size_bits(type) == 8 ? "cvt.u64.u8" : "cvt.u64.u16", {wide, base}));
  address.reg = wide.reg;
  return {};
}

Status InstructionRewriter::name_space(Instruction& instruction, const Mnemonic*& mnemonic) {
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    Operand& operand = instruction.operands[i];
    written_.current_operand = i;
    if (operand.kind != Operand::Kind::address) continue;
    Space space = written_.notes[i].space;
    if (operand.symbol != kNone) {
      const Symbol& symbol = context_.symbol_of(operand);
      if (!symbol.is_function) space = symbol.space;
    }
    const bool named = space == Space::shared || space == Space::local || space == Space::global;
    if (!named || space == Space::global || !mnemonic->is_generic) continue;
    const std::string text(written_.mnemonic_token.text);
    const size_t dot = std::min(text.find('.'), text.size());
    const std::string with_space =
        text.substr(0, dot) + "." + std::string(text_of(space)) + text.substr(dot);
    if (read_mnemonic(with_space).error.empty()) {
      KM_ASSIGN(mnemonic, emitter_.find_made(with_space));
    } else {
      KM_TRY(make_generic(operand));
    }
  }
  return {};
}

Status InstructionRewriter::make_generic(Operand& address) {
  Operand base;
  const bool named = address.symbol != kNone;
  const Space space = named ? context_.symbol_of(address).space : Space::generic;
  Operand result = context_.temporary(Type::b64);
  if (named) {
    base = address;
    base.kind = Operand::Kind::symbol;
    KM_TRY(emitter_.emit_helper("mov.u64", {result, base}));
    base = result;
    result = context_.temporary(Type::b64);
  } else {
    base.kind = Operand::Kind::reg;
    base.reg = address.reg;
  }
  KM_TRY(emitter_.emit_helper(space == Space::shared ? "cvta.shared.u64" : "cvta.local.u64",
                              {result, base}));
  address = result;
  address.kind = Operand::Kind::address;
  return {};
}

Status InstructionRewriter::split_vector_move(const Instruction& instruction,
                                              const Mnemonic& mnemonic) {
  Instruction whole = instruction;
  std::vector<Operand> values;
  const Operand written = instruction.operands[1];
  if (instruction.operand_count == 2 && written.kind == Operand::Kind::vector) {
    values = context_.elements(written);
  }
  KM_TRY(emitter_.choose_form(whole, mnemonic));
  const Type type = mnemonic.types[0];
  constexpr size_t kWidestBits = 128;
  if (values.size() * size_bits(type) > kWidestBits) {
    return tokens_.error_at(written_.mnemonic_token, "a vector has 128 bits at most");
  }
  KM_ASSIGN(const Mnemonic* move, emitter_.find_made("mov." + std::string(text_of(type))));
  for (Operand& value : values) {
    if (value.kind == Operand::Kind::immediate) continue;
    const Operand copy = context_.temporary(type);
    KM_TRY(emitter_.emit_helper(move->text, {copy, value}));
    value = copy;
  }
  for (uint32_t i = 0; i < values.size(); ++i) {
    Instruction part = instruction;
    part.operands[0] = context_.element(whole.operands[0], i);
    part.operands[1] = values[i];
    if (part.operands[0].kind == Operand::Kind::sink) continue;
    KM_TRY(emitter_.emit(std::move(part), *move));
  }
  return {};
}

Status InstructionRewriter::split_load(const Instruction& instruction, const Mnemonic& mnemonic,
                                       uint64_t used_bytes) {
  Instruction whole = instruction;
  KM_TRY(emitter_.choose_form(whole, mnemonic));
  const uint32_t size = size_bytes(mnemonic.types[0]);
  std::vector<Operand> targets{whole.operands[0]};
  if (whole.operands[0].kind == Operand::Kind::vector) {
    targets = context_.elements(whole.operands[0]);
  }
  const uint64_t element = low_bits(size), all = low_bits(targets.size() * size);
  if ((used_bytes & all) == all || size > 8) {
    context_.function().code.push_back(std::move(whole));
    return {};
  }
  std::vector<Copy> copies;
  for (uint32_t i = 0; i < targets.size(); ++i) {
    const uint64_t used = used_bytes >> (i * size) & element;
    if (used == 0 || targets[i].kind != Operand::Kind::reg) continue;
    KM_ASSIGN(const Operand copy, load_part(instruction, mnemonic, i, used, targets[i].reg));
    copies.push_back({targets[i], copy});
  }
  for (const Copy& each : copies) {
    Instruction move = instruction;
    move.opcode = Opcode::mov;
    move.operands[0] = each.target;
    move.operands[1] = each.copy;
    move.operand_count = 2;
    const Type bits = context_.register_type(each.copy.reg);
    KM_ASSIGN(const Mnemonic* plain, emitter_.find_made("mov." + std::string(text_of(bits))));
    KM_TRY(emitter_.emit(std::move(move), *plain));
  }
  return {};
}

Result<Operand> InstructionRewriter::load_part(const Instruction& load, const Mnemonic& mnemonic,
                                               uint32_t element, uint64_t used, RegisterId target) {
  const Type type = mnemonic.types[0];
  const uint32_t size = size_bytes(type);
  const auto bytes =
      static_cast<uint32_t>(std::bit_ceil(static_cast<unsigned>(std::bit_width(used))));
  const Operand copy = context_.temporary(bits_type(size_bits(context_.register_type(target))));
  Instruction part = load;
  part.operands[0] = copy;
  part.operands[1].offset += element * size;
  const bool cut = bytes < size;
  const std::string own(cut ? text_of(bits_type(bytes * 8)) : text_of(type));
  KM_ASSIGN(const Mnemonic* mnemonic_of_part,
            emitter_.find_made(scalar_text(mnemonic.text, cut ? "u" + own.substr(1) : own)));
  KM_TRY(emitter_.emit(std::move(part), *mnemonic_of_part));
  return copy;
}

}  // namespace km::ptx
