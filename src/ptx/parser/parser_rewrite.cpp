// Written forms that become other instructions of the typed form: sums and elements of arrays as
// operands, moves of vectors, loads of which a part is used.
#include <bit>
#include <string>
#include <utility>

#include "ptx/names.h"
#include "ptx/parser/parser.h"

namespace km::ptx {
namespace {

/// "ld.global.v4.f32" with the type `type` and without the vector.
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

}  // namespace

/// An instruction that the parser adds in front of the one being read; its errors stand at the
/// operand that needs it.
Status Parser::emit_helper(std::string_view text, std::initializer_list<Operand> operands) {
  KM_ASSIGN(const Mnemonic* mnemonic, look_up_mnemonic(mnemonic_token_, text));
  Instruction helper;
  helper.location = {mnemonic_token_.line, mnemonic_token_.column};
  helper.source_line = source_line_;
  helper.opcode = mnemonic->opcode;
  for (const Operand& operand : operands) helper.operands[helper.operand_count++] = operand;
  const auto notes = std::exchange(notes_, {});
  const auto tokens = operand_tokens_;
  operand_tokens_.fill(tokens[current_operand_]);
  KM_TRY(choose_form(helper, *mnemonic));
  notes_ = notes;
  operand_tokens_ = tokens;
  function().code.push_back(std::move(helper));
  return {};
}

Operand Parser::temporary(Type type) {
  Operand operand;
  operand.kind = Operand::Kind::reg;
  operand.reg = scopes_->add_register("%part", type);
  return operand;
}

Operand Parser::immediate(const Constant& constant) {
  Operand operand;
  operand.kind = Operand::Kind::immediate;
  operand.bits = constant.bits;
  operand.offset = static_cast<int64_t>(constant.kind);
  operand.is_float_literal = constant.is_float();
  return operand;
}

/// Braces around a single register, elements of arrays as addresses.
Status Parser::finish_operands(Instruction& instruction, const Mnemonic& mnemonic) {
  const bool accesses = mnemonic.opcode == Opcode::ld || mnemonic.opcode == Opcode::ldu ||
                        mnemonic.opcode == Opcode::st;
  const bool moves = mnemonic.opcode == Opcode::mov;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    Operand& operand = instruction.operands[i];
    current_operand_ = i;
    if (accesses || (moves && i < 2 && is_plain_move(instruction, i))) unwrap(operand);
    const bool logic = moves || mnemonic.opcode == Opcode::and_ || mnemonic.opcode == Opcode::or_ ||
                       mnemonic.opcode == Opcode::xor_ || mnemonic.opcode == Opcode::not_ ||
                       mnemonic.opcode == Opcode::selp;
    if (logic && operand.negated && is_predicate(operand)) {
      const Operand negated = temporary(Type::pred);
      Operand plain = operand;
      plain.negated = false;
      KM_TRY(emit_helper("not.pred", {negated, plain}));
      operand = negated;
    }
    if (operand.kind == Operand::Kind::address && operand.reg != kNone) {
      KM_TRY(widen_base(operand));
    }
    if (!notes_[i].is_element || moves) continue;
    if (!accesses) {
      return error_at(operand_tokens_[i],
                      "an element of an array is an operand of ld, st and mov "
                      "only: take its address with mov");
    }
    operand.kind = Operand::Kind::address;
    const Space space = notes_[i].space, named = space_of(mnemonic);
    if (space != Space::generic && named != Space::generic && space != named) {
      return error_at(operand_tokens_[i], "this array is in ." + std::string(text_of(space)) +
                                              ", expected one in ." + std::string(text_of(named)));
    }
  }
  return {};
}

/// `{%r}` is `%r`.
void Parser::unwrap(Operand& operand) {
  if (operand.kind == Operand::Kind::vector && operand.count == 1) {
    operand = Operand(function().operand_pool[operand.first]);
  }
}

/// True if braces around operand `index` of a mov stand around a register, and a register is on the
/// other side.
bool Parser::is_plain_move(const Instruction& instruction, unsigned index) const {
  const auto is_register = [&](const Operand& operand) {
    const bool single = operand.kind == Operand::Kind::vector && operand.count == 1;
    const Operand& inner = single ? function().operand_pool[operand.first] : operand;
    return inner.kind == Operand::Kind::reg;
  };
  return is_register(instruction.operands[index]) && is_register(instruction.operands[1 - index]);
}

bool Parser::is_predicate(const Operand& operand) const {
  return operand.kind == Operand::Kind::reg && function().registers[operand.reg].type == Type::pred;
}

/// The base of an address may be a register of 8 or 16 bits.
Status Parser::widen_base(Operand& address) {
  const Type type = function().registers[address.reg].type;
  if (!is_integer(type) || size_bits(type) > 16) return {};
  Operand base;
  base.kind = Operand::Kind::reg;
  base.reg = address.reg;
  const Operand wide = temporary(Type::b64);
  KM_TRY(emit_helper(size_bits(type) == 8 ? "cvt.u64.u8" : "cvt.u64.u16", {wide, base}));
  address.reg = wide.reg;
  return {};
}

/// An address without a state space gets that of the variable that it names.
Status Parser::name_space(Instruction& instruction, const Mnemonic*& mnemonic) {
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    Operand& operand = instruction.operands[i];
    current_operand_ = i;
    if (operand.kind != Operand::Kind::address) continue;
    Space space = notes_[i].space;
    if (operand.symbol != kNone) {
      const Symbol& symbol = symbol_of(operand);
      if (!symbol.is_function) space = symbol.space;
    }
    const bool named = space == Space::shared || space == Space::local || space == Space::global;
    if (!named || space == Space::global || !mnemonic->is_generic) continue;
    const std::string text(mnemonic_token_.text);
    const size_t dot = std::min(text.find('.'), text.size());
    const std::string with_space =
        text.substr(0, dot) + "." + std::string(text_of(space)) + text.substr(dot);
    if (read_mnemonic(with_space).error.empty()) {
      KM_ASSIGN(mnemonic, joined_mnemonic(with_space));
    } else {
      KM_TRY(make_generic(operand));
    }
  }
  return {};
}

/// The address of a variable becomes a generic one in a register.
Status Parser::make_generic(Operand& address) {
  Operand base;
  const bool named = address.symbol != kNone;
  const Space space = named ? symbol_of(address).space : Space::generic;
  Operand result = temporary(Type::b64);
  if (named) {
    base = address;
    base.kind = Operand::Kind::symbol;
    KM_TRY(emit_helper("mov.u64", {result, base}));
    base = result;
    result = temporary(Type::b64);
  } else {
    base.kind = Operand::Kind::reg;
    base.reg = address.reg;
  }
  KM_TRY(
      emit_helper(space == Space::shared ? "cvta.shared.u64" : "cvta.local.u64", {result, base}));
  address = result;
  address.kind = Operand::Kind::address;
  return {};
}

/// mov.v2 and mov.v4: all elements are read before the first one is written.
Status Parser::split_vector_move(const Instruction& instruction, const Mnemonic& mnemonic) {
  Instruction whole = instruction;
  std::vector<Operand> values;
  const Operand written = instruction.operands[1];
  if (instruction.operand_count == 2 && written.kind == Operand::Kind::vector) {
    const auto first = function().operand_pool.begin() + written.first;
    values.assign(first, first + written.count);
  }
  KM_TRY(choose_form(whole, mnemonic));
  const Type type = mnemonic.types[0];
  constexpr size_t kWidestBits = 128;
  if (values.size() * size_bits(type) > kWidestBits) {
    return error_at(mnemonic_token_, "a vector has 128 bits at most");
  }
  KM_ASSIGN(const Mnemonic* move, joined_mnemonic("mov." + std::string(text_of(type))));
  for (Operand& value : values) {
    if (value.kind == Operand::Kind::immediate) continue;
    const Operand copy = temporary(type);
    KM_TRY(emit_helper(move->text, {copy, value}));
    value = copy;
  }
  for (uint32_t i = 0; i < values.size(); ++i) {
    Instruction part = instruction;
    part.operands[0] = function().operand_pool[whole.operands[0].first + i];
    part.operands[1] = values[i];
    if (part.operands[0].kind == Operand::Kind::sink) continue;
    KM_TRY(choose_form(part, *move));
    function().code.push_back(std::move(part));
  }
  return {};
}

Result<const Mnemonic*> Parser::joined_mnemonic(std::string text) {
  joined_mnemonics_.push_back(std::make_unique<std::string>(std::move(text)));
  return look_up_mnemonic(mnemonic_token_, *joined_mnemonics_.back());
}

/// A load of which the program says that some bytes are not used: those of its elements that are
/// used, so that the others may lie outside of memory.
Status Parser::split_load(const Instruction& instruction, const Mnemonic& mnemonic,
                          uint64_t used_bytes) {
  Instruction whole = instruction;
  KM_TRY(choose_form(whole, mnemonic));
  const Type type = mnemonic.types[0];
  const uint32_t size = size_bytes(type);
  std::vector<Operand> targets{whole.operands[0]};
  if (whole.operands[0].kind == Operand::Kind::vector) {
    const auto first = function().operand_pool.begin() + whole.operands[0].first;
    targets.assign(first, first + whole.operands[0].count);
  }
  const uint64_t element = size >= 64 ? UINT64_MAX : (uint64_t{1} << size) - 1;
  const uint64_t all =
      targets.size() * size >= 64 ? UINT64_MAX : (uint64_t{1} << targets.size() * size) - 1;
  if ((used_bytes & all) == all || size > 8) {
    function().code.push_back(std::move(whole));
    return {};
  }
  std::vector<std::pair<Operand, Operand>> moves;
  for (uint32_t i = 0; i < targets.size(); ++i) {
    const uint64_t used = used_bytes >> (i * size) & element;
    if (used == 0 || targets[i].kind != Operand::Kind::reg) continue;
    const auto bytes =
        static_cast<uint32_t>(std::bit_ceil(static_cast<unsigned>(std::bit_width(used))));
    const uint32_t width = size_bits(function().registers[targets[i].reg].type);
    const Operand copy = temporary(bits_type(width));
    Instruction part = instruction;
    part.operands[0] = copy;
    part.operands[1].offset += i * size;
    const bool cut = bytes < size;
    const std::string own(cut ? text_of(bits_type(bytes * 8)) : text_of(type));
    KM_ASSIGN(const Mnemonic* load,
              joined_mnemonic(scalar_text(mnemonic.text, cut ? "u" + own.substr(1) : own)));
    KM_TRY(choose_form(part, *load));
    function().code.push_back(std::move(part));
    moves.emplace_back(targets[i], copy);
  }
  for (const auto& [target, copy] : moves) {
    Instruction move = instruction;
    move.opcode = Opcode::mov;
    move.operands[0] = target;
    move.operands[1] = copy;
    move.operand_count = 2;
    const Type bits = function().registers[copy.reg].type;
    KM_ASSIGN(const Mnemonic* plain, joined_mnemonic("mov." + std::string(text_of(bits))));
    KM_TRY(choose_form(move, *plain));
    function().code.push_back(std::move(move));
  }
  return {};
}

}  // namespace km::ptx
