#include "ptx/parser/instruction/operand_parser.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "ptx/names.h"
#include "ptx/selector.h"

namespace km::ptx {
namespace {

constexpr size_t kMostElements = 512;

std::optional<uint8_t> component_of(std::string_view text) {
  constexpr std::string_view kXyzw = "xyzw", kRgba = "rgba";
  if (text.size() != 1) return std::nullopt;
  size_t at = kXyzw.find(text[0]);
  if (at == std::string_view::npos) at = kRgba.find(text[0]);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<uint8_t>(at);
}

}  // namespace

Status OperandParser::parse_all(Instruction& instruction) {
  if (tokens_.at(';')) return {};
  do {
    KM_TRY(parse_next(instruction));
  } while (tokens_.accept(','));
  return {};
}

Status OperandParser::parse_next(Instruction& instruction) {
  const Token at = tokens_.current();
  const unsigned index = std::min<unsigned>(instruction.operand_count, kMaxOperands - 1);
  written_.current_operand = index;
  written_.operand_tokens[index] = at;
  KM_ASSIGN(const Operand operand, parse_operand());
  return add(instruction, operand, at);
}

Status OperandParser::add(Instruction& instruction, const Operand& operand, const Token& at) {
  if (instruction.operand_count == kMaxOperands) {
    return tokens_.error_at(at, "too many operands for " + quote(written_.mnemonic_token.text));
  }
  written_.operand_tokens[instruction.operand_count] = at;
  instruction.operands[instruction.operand_count++] = operand;
  return {};
}

Result<Operand> OperandParser::parse_operand() {
  if (tokens_.at('[')) return parse_address();
  if (tokens_.at('{')) {
    KM_ASSIGN(Operand vector, parse_vector());
    return parse_pair_rest(vector);
  }
  after_component_ = false;
  KM_ASSIGN(Operand operand, parse_simple());
  if (tokens_.at('[')) return parse_element(operand);
  if (tokens_.at('+')) return parse_sum(operand);
  bool may_pair = operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::sink ||
                  operand.kind == Operand::Kind::vector;
  return may_pair ? parse_pair_rest(operand) : operand;
}

Result<Operand> OperandParser::parse_simple() {
  if (tokens_.at('!') || tokens_.at('-')) return parse_negated();
  bool constant = !tokens_.at_name();
  return constant ? parse_immediate() : parse_named();
}

Result<Operand> OperandParser::parse_immediate() {
  if (tokens_.at(Token::Kind::punctuation) && !tokens_.at('~') && !tokens_.at('(') &&
      !tokens_.at('+') && !tokens_.at('-') && !tokens_.at('!')) {
    return tokens_.unexpected("an operand");
  }
  if (tokens_.at(Token::Kind::end) || tokens_.at(Token::Kind::dotted)) {
    return tokens_.unexpected("an operand");
  }
  KM_ASSIGN(const Constant value, expressions_.parse_constant());
  return immediate_operand(value);
}

Result<Operand> OperandParser::parse_negated() {
  if (!TokenStream::is_name(tokens_.peek())) return parse_immediate();
  Token sign = tokens_.current();
  tokens_.advance();
  KM_ASSIGN(Operand operand, parse_named());
  if (operand.kind != Operand::Kind::reg) {
    return tokens_.error_at(sign, "only a register can be negated");
  }
  if (sign.is('-') && context_.is_predicate(operand)) {
    return tokens_.error_at(sign, "a predicate is negated with '!'");
  }
  operand.negated = true;
  return operand;
}

Result<Operand> OperandParser::parse_named() {
  Token name = tokens_.current();
  tokens_.advance();
  if (name.text == "_") {
    Operand sink;
    sink.kind = Operand::Kind::sink;
    return sink;
  }
  auto entity = context_.find(name.text);
  if (!entity) {
    if (name.text.starts_with('%')) return parse_special_register(name);
    return context_.undefined(name);
  }
  switch (entity->kind) {
    case Entity::Kind::reg:
    case Entity::Kind::vector_register:
      return parse_register(*entity);
    case Entity::Kind::local_symbol:
    case Entity::Kind::module_symbol:
      return parse_symbol(*entity);
    default:
      return tokens_.error_at(name, quote(name.text) + " is a label, which is no operand here");
  }
}

Result<Operand> OperandParser::parse_register(const Entity& entity) {
  Operand operand;
  operand.kind = Operand::Kind::reg;
  operand.reg = entity.id;
  bool vector = entity.kind == Entity::Kind::vector_register;
  if (!tokens_.at(Token::Kind::dotted)) return vector ? whole_vector(entity) : operand;
  if (!vector) {
    KM_ASSIGN(operand.selector, parse_selector());
    return operand;
  }
  auto component = component_of(tokens_.current().text);
  if (!component || *component >= entity.count) {
    return tokens_.unexpected(entity.count == 2 ? "the component .x or .y"
                                                : "a component .x, .y, .z or .w");
  }
  tokens_.advance();
  after_component_ = true;
  operand.reg += *component;
  return operand;
}

Result<uint16_t> OperandParser::parse_selector() {
  auto selector = read_selector(tokens_.current().text);
  if (!selector) return tokens_.unexpected("a part of a register such as .b0 or .h1");
  tokens_.advance();
  return *selector;
}

Result<Operand> OperandParser::parse_special_register(const Token& name) {
  auto special = find_special_register(name.text.substr(1));
  if (!special) return context_.undefined(name);
  Operand operand;
  operand.kind = Operand::Kind::special;
  operand.special = *special;
  const uint8_t components = info_of(*special).components;
  if (components == 1) return operand;
  if (!tokens_.at(Token::Kind::dotted)) {
    std::vector<Operand> elements(components, operand);
    for (uint8_t i = 0; i < components; ++i) elements[i].component = i;
    return context_.pooled(Operand::Kind::vector, elements);
  }
  auto component = component_of(tokens_.current().text);
  if (!component) return tokens_.unexpected("a component .x, .y or .z of " + quote(name.text));
  operand.component = *component;
  tokens_.advance();
  return operand;
}

Result<Operand> OperandParser::parse_symbol(const Entity& entity) {
  Operand operand;
  operand.kind = Operand::Kind::symbol;
  operand.symbol = entity.id;
  operand.local_symbol = entity.kind == Entity::Kind::local_symbol;
  KM_ASSIGN(operand.offset, expressions_.parse_offset());
  return operand;
}

Operand OperandParser::whole_vector(const Entity& entity) {
  std::vector<Operand> elements(entity.count);
  for (uint32_t i = 0; i < entity.count; ++i) {
    elements[i].kind = Operand::Kind::reg;
    elements[i].reg = entity.id + i;
  }
  return context_.pooled(Operand::Kind::vector, elements);
}

Result<Operand> OperandParser::parse_vector() {
  Token open = tokens_.current();
  tokens_.advance();
  std::vector<Operand> elements;
  do {
    if (elements.size() == kMostElements) return tokens_.error_at(open, "this vector is too long");
    KM_ASSIGN(Operand element, parse_simple());
    elements.push_back(element);
  } while (tokens_.accept(','));
  KM_TRY(tokens_.expect('}', "after the elements of a vector"));
  return context_.pooled(Operand::Kind::vector, elements);
}

Result<Operand> OperandParser::parse_pair_rest(Operand first) {
  if (!tokens_.accept('|')) return first;
  KM_ASSIGN(Operand second, parse_named());
  if (second.kind != Operand::Kind::reg && second.kind != Operand::Kind::sink) {
    return tokens_.unexpected("a predicate register after '|'");
  }
  return context_.pooled(Operand::Kind::pair, {first, second});
}

Result<Operand> OperandParser::parse_sum(const Operand& base) {
  Token plus = tokens_.current();
  const bool whole = base.selector == 0 && !base.negated && !after_component_;
  if (base.kind == Operand::Kind::special && info_of(base.special).components == 1) {
    const bool wide = size_bits(info_of(base.special).type) == 64;
    Operand copy = context_.temporary(wide ? Type::b64 : Type::b32);
    KM_TRY(emitter_.emit_helper(wide ? "mov.b64" : "mov.b32", {copy, base}));
    return parse_sum(copy);
  }
  if (base.kind != Operand::Kind::reg || !whole) {
    return tokens_.unexpected("',' or ';' after an operand");
  }
  const Type type = context_.register_type(base.reg);
  const uint32_t width = size_bits(type);
  if (!is_integer(type) || width < 16 || width > 64) {
    return tokens_.error_at(
        plus, "only registers of integers of 16, 32 and 64 bits can be added to here");
  }
  tokens_.advance();
  Token at = tokens_.current();
  KM_ASSIGN(Constant addend, expressions_.parse_constant());
  if (addend.is_float()) return tokens_.error_at(at, "an integer constant is expected after '+'");
  Operand sum = context_.temporary(type);
  KM_TRY(emitter_.emit_helper(width == 16   ? "add.u16"
                              : width == 32 ? "add.u32"
                                            : "add.u64",
                              {sum, base, immediate_operand(addend)}));
  written_.note().is_sum = true;
  return sum;
}

Result<Operand> OperandParser::parse_element(Operand array) {
  const bool variable = array.kind == Operand::Kind::symbol && array.offset == 0 &&
                        !context_.symbol_of(array).is_function;
  if (!variable) return tokens_.unexpected("',' or ';' after an operand");
  tokens_.advance();
  Token at = tokens_.current();
  const Symbol& symbol = context_.symbol_of(array);
  const uint64_t element = uint64_t{size_bytes(symbol.type)} * symbol.vector_count;
  if (tokens_.at_name()) {
    const Space space = symbol.space;
    KM_ASSIGN(Operand index, parse_named());
    if (tokens_.at('+')) {
      KM_ASSIGN(index, parse_sum(index));
    }
    KM_TRY(tokens_.expect(']', "after the index"));
    return compute_address(array, space, index, element, at);
  }
  KM_ASSIGN(Constant index, expressions_.parse_constant());
  if (index.is_float()) return tokens_.error_at(at, "an index must be an integer");
  KM_TRY(tokens_.expect(']', "after the index"));
  array.offset = static_cast<int64_t>(index.bits * element);
  written_.note().is_element = true;
  return array;
}

Result<Operand> OperandParser::compute_address(const Operand& array, Space space,
                                               const Operand& index, uint64_t element_bytes,
                                               const Token& at) {
  KM_ASSIGN(const Operand narrow, narrow_index(index, at));
  const Mnemonic& mnemonic = *written_.mnemonic;
  const bool moves = mnemonic.opcode == Opcode::mov;
  const bool wide = moves ? size_bits(mnemonic.types[0]) == 64 : space != Space::shared;
  const Operand base = context_.temporary(wide ? Type::b64 : Type::b32);
  const Operand address = context_.temporary(wide ? Type::b64 : Type::b32);
  const Operand factor = immediate_operand(integer_constant(static_cast<int64_t>(element_bytes)));
  KM_TRY(emitter_.emit_helper(wide ? "mov.u64" : "mov.u32", {base, array}));
  KM_TRY(
      emitter_.emit_helper(wide ? "mad.wide.u32" : "mad.lo.u32", {address, narrow, factor, base}));
  written_.note().is_element = true;
  written_.note().space = space;
  return address;
}

Result<Operand> OperandParser::narrow_index(const Operand& index, const Token& at) {
  const Type type =
      index.kind == Operand::Kind::reg ? context_.register_type(index.reg) : Type::none;
  const uint32_t width = size_bits(type);
  const bool whole = index.selector == 0 && !index.negated;
  if (!is_integer(type) || width < 16 || width > 64 || !whole) {
    return tokens_.error_at(at, "an index must be a constant or a register of an integer");
  }
  if (width == 32) return index;
  const Operand narrow = context_.temporary(Type::b32);
  const std::string_view half = is_signed(type) ? "cvt.s32.s16" : "cvt.u32.u16";
  KM_TRY(emitter_.emit_helper(width == 64 ? "cvt.u32.u64" : half, {narrow, index}));
  return narrow;
}

Result<Operand> OperandParser::parse_address() {
  tokens_.advance();
  Operand operand;
  Token at = tokens_.current();
  if (tokens_.at_name()) {
    KM_ASSIGN(operand, parse_named());
    bool base = operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::symbol;
    if (!base || operand.selector != 0) {
      return tokens_.error_at(at, quote(at.text) + " cannot be the base of an address");
    }
    if (operand.kind == Operand::Kind::reg) {
      KM_ASSIGN(operand.offset, expressions_.parse_offset());
    }
    if (tokens_.at(',')) return parse_tuple_rest(operand);
  } else {
    KM_ASSIGN(Constant address, expressions_.parse_constant());
    if (address.is_float()) return tokens_.error_at(at, "an address must be an integer");
    operand.offset = static_cast<int64_t>(address.bits);
  }
  operand.kind = Operand::Kind::address;
  KM_TRY(tokens_.expect(']', "after the address"));
  written_.has_unified_address |= tokens_.accept_dotted("unified");
  return operand;
}

Result<Operand> OperandParser::parse_tuple_rest(Operand first) {
  std::vector<Operand> elements{first};
  while (tokens_.accept(',')) {
    if (elements.size() == 3) return tokens_.unexpected("']'");
    if (tokens_.at('{')) {
      KM_ASSIGN(Operand vector, parse_vector());
      elements.push_back(vector);
    } else {
      KM_ASSIGN(Operand element, parse_simple());
      elements.push_back(element);
    }
  }
  KM_TRY(tokens_.expect(']', "after the tuple"));
  return context_.pooled(Operand::Kind::tuple, elements);
}

}  // namespace km::ptx
