// Operands: registers, constants, addresses, vectors and what else an instruction takes.
#include "ptx/checks/verifier.h"
#include "ptx/names.h"
#include "ptx/parser/parser.h"
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

Result<Operand> Parser::parse_operand() {
  if (token_.is('[')) return parse_address_operand();
  if (token_.is('{')) {
    KM_ASSIGN(Operand vector, parse_vector_operand());
    return parse_pair_rest(vector);
  }
  after_component_ = false;
  KM_ASSIGN(Operand operand, parse_simple_operand());
  if (token_.is('[')) return parse_element(operand);
  if (token_.is('+')) return parse_sum(operand);
  bool may_pair = operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::sink ||
                  operand.kind == Operand::Kind::vector;
  return may_pair ? parse_pair_rest(operand) : operand;
}

/// An operand without brackets of its own: all that an argument or a vector's element can be.
Result<Operand> Parser::parse_simple_operand() {
  if (token_.is('!') || token_.is('-')) return parse_negated_operand();
  bool constant = token_.kind != Token::Kind::identifier || token_.text == "WARP_SZ";
  return constant ? parse_immediate_operand() : parse_named_operand();
}

Result<Operand> Parser::parse_immediate_operand() {
  if (token_.kind == Token::Kind::punctuation && !token_.is('~') && !token_.is('(') &&
      !token_.is('+') && !token_.is('-') && !token_.is('!')) {
    return unexpected("an operand");
  }
  if (token_.kind == Token::Kind::end || token_.kind == Token::Kind::dotted) {
    return unexpected("an operand");
  }
  KM_ASSIGN(const Constant value, parse_constant());
  return immediate(value);
}

/// `!%p`, `-%r`, or a constant that begins with an operator.
Result<Operand> Parser::parse_negated_operand() {
  Lexer ahead = lexer_;
  Token following = ahead.next();
  bool name = following.kind == Token::Kind::identifier && following.text != "WARP_SZ";
  if (!name) return parse_immediate_operand();
  Token sign = token_;
  advance();
  KM_ASSIGN(Operand operand, parse_named_operand());
  if (operand.kind != Operand::Kind::reg) {
    return error_at(sign, "only a register can be negated");
  }
  const bool predicate = function().registers[operand.reg].type == Type::pred;
  if (sign.is('-') && predicate) return error_at(sign, "a predicate is negated with '!'");
  operand.negated = true;
  return operand;
}

std::optional<Entity> Parser::find_name(std::string_view name) {
  if (auto entity = scopes_->find(name)) return entity;
  auto known = module_names_.find(name);
  if (known == module_names_.end()) return std::nullopt;
  Entity entity;
  entity.kind = Entity::Kind::module_symbol;
  entity.id = known->second;
  return entity;
}

Error Parser::undefined(const Token& name) const {
  if (!name.text.starts_with('%')) return error_at(name, "undefined name " + quote(name.text));
  constexpr size_t kTooShortToGuess = 5;  // %r7 is near many names
  bool guess = name.text.size() >= kTooShortToGuess;
  return error_at(name, "undefined register " + quote(name.text) +
                            (guess ? suggest_special_register(name.text.substr(1)) : ""));
}

Result<Operand> Parser::parse_named_operand() {
  Token name = token_;
  advance();
  if (name.text == "_") {
    Operand sink;
    sink.kind = Operand::Kind::sink;
    return sink;
  }
  auto entity = find_name(name.text);
  if (!entity) {
    if (name.text.starts_with('%')) return parse_special_register(name);
    return undefined(name);
  }
  switch (entity->kind) {
    case Entity::Kind::reg:
    case Entity::Kind::vector_register:
      return parse_register_operand(*entity);
    case Entity::Kind::local_symbol:
    case Entity::Kind::module_symbol:
      return parse_symbol_operand(*entity);
    default:
      return error_at(name, quote(name.text) + " is a label, which is no operand here");
  }
}

Result<Operand> Parser::parse_register_operand(const Entity& entity) {
  Operand operand;
  operand.kind = Operand::Kind::reg;
  operand.reg = entity.id;
  bool vector = entity.kind == Entity::Kind::vector_register;
  if (token_.kind != Token::Kind::dotted) return vector ? whole_vector(entity) : operand;
  if (!vector) {
    KM_ASSIGN(operand.selector, parse_selector());
    return operand;
  }
  auto component = component_of(token_.text);
  if (!component || *component >= entity.count) {
    return unexpected(entity.count == 2 ? "the component .x or .y"
                                        : "a component .x, .y, .z or .w");
  }
  advance();
  after_component_ = true;
  operand.reg += *component;
  return operand;
}

Result<uint16_t> Parser::parse_selector() {
  auto selector = read_selector(token_.text);
  if (!selector) return unexpected("a part of a register such as .b0 or .h1");
  advance();
  return *selector;
}

/// `%tid.x`, or all four components of `%tid` as a vector.
Result<Operand> Parser::parse_special_register(const Token& name) {
  auto special = find_special_register(name.text.substr(1));
  if (!special) return undefined(name);
  Operand operand;
  operand.kind = Operand::Kind::special;
  operand.special = *special;
  const uint8_t components = info_of(*special).components;
  if (components == 1) return operand;
  if (token_.kind != Token::Kind::dotted) {
    std::vector<Operand> elements(components, operand);
    for (uint8_t i = 0; i < components; ++i) elements[i].component = i;
    return pooled(Operand::Kind::vector, elements);
  }
  auto component = component_of(token_.text);
  if (!component) return unexpected("a component .x, .y or .z of " + quote(name.text));
  operand.component = *component;
  advance();
  return operand;
}

Result<Operand> Parser::parse_symbol_operand(const Entity& entity) {
  Operand operand;
  operand.kind = Operand::Kind::symbol;
  operand.symbol = entity.id;
  operand.local_symbol = entity.kind == Entity::Kind::local_symbol;
  KM_ASSIGN(operand.offset, parse_offset());
  return operand;
}

const Symbol& Parser::symbol_of(const Operand& operand) const {
  return km::ptx::symbol_of(*module_, function(), operand);
}

Operand Parser::pooled(Operand::Kind kind, const std::vector<Operand>& elements) {
  Operand operand;
  operand.kind = kind;
  operand.first = static_cast<uint32_t>(function().operand_pool.size());
  operand.count = static_cast<uint32_t>(elements.size());
  function().operand_pool.insert(function().operand_pool.end(), elements.begin(), elements.end());
  return operand;
}

Operand Parser::whole_vector(const Entity& entity) {
  std::vector<Operand> elements(entity.count);
  for (uint32_t i = 0; i < entity.count; ++i) {
    elements[i].kind = Operand::Kind::reg;
    elements[i].reg = entity.id + i;
  }
  return pooled(Operand::Kind::vector, elements);
}

Result<Operand> Parser::parse_vector_operand() {
  Token open = token_;
  advance();
  std::vector<Operand> elements;
  do {
    if (elements.size() == kMostElements) return error_at(open, "this vector is too long");
    KM_ASSIGN(Operand element, parse_simple_operand());
    elements.push_back(element);
  } while (accept(','));
  KM_TRY(expect('}', "after the elements of a vector"));
  return pooled(Operand::Kind::vector, elements);
}

/// d|p
Result<Operand> Parser::parse_pair_rest(Operand first) {
  if (!accept('|')) return first;
  KM_ASSIGN(Operand second, parse_named_operand());
  if (second.kind != Operand::Kind::reg && second.kind != Operand::Kind::sink) {
    return unexpected("a predicate register after '|'");
  }
  return pooled(Operand::Kind::pair, {first, second});
}

/// `reg+constant`: the sum is made by an instruction of its own, in front.
Result<Operand> Parser::parse_sum(const Operand& base) {
  Token plus = token_;
  const bool whole = base.selector == 0 && !base.negated && !after_component_;
  if (base.kind == Operand::Kind::special && info_of(base.special).components == 1) {
    const bool wide = size_bits(info_of(base.special).type) == 64;
    Operand copy = temporary(wide ? Type::b64 : Type::b32);
    KM_TRY(emit_helper(wide ? "mov.b64" : "mov.b32", {copy, base}));
    return parse_sum(copy);
  }
  if (base.kind != Operand::Kind::reg || !whole) return unexpected("',' or ';' after an operand");
  const Type type = function().registers[base.reg].type;
  const uint32_t width = size_bits(type);
  if (!is_integer(type) || width < 16 || width > 64) {
    return error_at(plus, "only registers of integers of 16, 32 and 64 bits can be added to here");
  }
  advance();
  Token at = token_;
  KM_ASSIGN(Constant addend, parse_constant());
  if (addend.is_float()) return error_at(at, "an integer constant is expected after '+'");
  Operand sum = temporary(type);
  KM_TRY(emit_helper(width == 16   ? "add.u16"
                     : width == 32 ? "add.u32"
                                   : "add.u64",
                     {sum, base, immediate(addend)}));
  notes_[current_operand_].is_sum = true;
  return sum;
}

/// `array[3]`, `array[%r]`, `array[%r+1]`: the element's address, counted in elements. Indices in
/// registers count as 32 bits without a sign.
Result<Operand> Parser::parse_element(Operand array) {
  const bool variable =
      array.kind == Operand::Kind::symbol && array.offset == 0 && !symbol_of(array).is_function;
  if (!variable) return unexpected("',' or ';' after an operand");
  advance();
  Token at = token_;
  const Symbol& symbol = symbol_of(array);
  const uint64_t element = uint64_t{size_bytes(symbol.type)} * symbol.vector_count;
  if (at.kind == Token::Kind::identifier && at.text != "WARP_SZ") {
    const Space space = symbol.space;
    KM_ASSIGN(Operand index, parse_named_operand());
    if (token_.is('+')) {
      KM_ASSIGN(index, parse_sum(index));
    }
    KM_TRY(expect(']', "after the index"));
    return element_address(array, space, index, element, at);
  }
  KM_ASSIGN(Constant index, parse_constant());
  if (index.is_float()) return error_at(at, "an index must be an integer");
  KM_TRY(expect(']', "after the index"));
  array.offset = static_cast<int64_t>(index.bits * element);
  notes_[current_operand_].is_element = true;
  return array;
}

Result<Operand> Parser::element_address(const Operand& array, Space space, const Operand& index,
                                        uint64_t element_bytes, const Token& at) {
  const Type type =
      index.kind == Operand::Kind::reg ? function().registers[index.reg].type : Type::none;
  const uint32_t width = size_bits(type);
  const bool whole = index.selector == 0 && !index.negated;
  if (!is_integer(type) || width < 16 || width > 64 || !whole) {
    return error_at(at, "an index must be a constant or a register of an integer");
  }
  Operand narrow = index;
  if (width != 32) {
    narrow = temporary(Type::b32);
    KM_TRY(emit_helper(width == 64       ? "cvt.u32.u64"
                       : is_signed(type) ? "cvt.s32.s16"
                                         : "cvt.u32.u16",
                       {narrow, index}));
  }
  const bool moves = mnemonic_->opcode == Opcode::mov;
  const bool wide = moves ? size_bits(mnemonic_->types[0]) == 64 : space != Space::shared;
  const Operand base = temporary(wide ? Type::b64 : Type::b32);
  const Operand address = temporary(wide ? Type::b64 : Type::b32);
  const Operand factor = immediate(integer_constant(static_cast<int64_t>(element_bytes)));
  KM_TRY(emit_helper(wide ? "mov.u64" : "mov.u32", {base, array}));
  KM_TRY(emit_helper(wide ? "mad.wide.u32" : "mad.lo.u32", {address, narrow, factor, base}));
  notes_[current_operand_].is_element = true;
  notes_[current_operand_].space = space;
  return address;
}

/// [base+offset], or the tuple [a, b, {c, d}].
Result<Operand> Parser::parse_address_operand() {
  advance();
  Operand operand;
  Token at = token_;
  bool name = at.kind == Token::Kind::identifier && at.text != "WARP_SZ";
  if (name) {
    KM_ASSIGN(operand, parse_named_operand());
    bool base = operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::symbol;
    if (!base || operand.selector != 0) {
      return error_at(at, quote(at.text) + " cannot be the base of an address");
    }
    if (operand.kind == Operand::Kind::reg) {
      KM_ASSIGN(operand.offset, parse_offset());
    }
    if (token_.is(',')) return parse_tuple_rest(operand);
  } else {
    KM_ASSIGN(Constant address, parse_constant());
    if (address.is_float()) return error_at(at, "an address must be an integer");
    operand.offset = static_cast<int64_t>(address.bits);
  }
  operand.kind = Operand::Kind::address;
  KM_TRY(expect(']', "after the address"));
  unified_address_ |= accept_dotted("unified");
  return operand;
}

Result<Operand> Parser::parse_tuple_rest(Operand first) {
  std::vector<Operand> elements{first};
  while (accept(',')) {
    if (elements.size() == 3) return unexpected("']'");
    if (token_.is('{')) {
      KM_ASSIGN(Operand vector, parse_vector_operand());
      elements.push_back(vector);
    } else {
      KM_ASSIGN(Operand element, parse_simple_operand());
      elements.push_back(element);
    }
  }
  KM_TRY(expect(']', "after the tuple"));
  return pooled(Operand::Kind::tuple, elements);
}

}  // namespace km::ptx
