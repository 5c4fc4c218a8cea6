// Declarations of variables and registers: specifiers, names, sizes.
#include <bit>

#include "ptx/names.h"
#include "ptx/parser/parser.h"

namespace km::ptx {
namespace {

constexpr uint64_t kLargestVariable = uint64_t{1} << 40;
constexpr uint64_t kLargestAlignment = 1u << 20;
constexpr size_t kMostDimensions = 32;

}  // namespace

/// Attributes, alignment and vector size, then the type; a kernel's parameter may be a pointer.
Result<Parser::Specifiers> Parser::parse_specifiers(Space space) {
  Specifiers specifiers;
  Symbol& symbol = specifiers.prototype;
  symbol.space = space;
  symbol.align_bytes = 0;
  while (token_.kind == Token::Kind::dotted && symbol.type == Type::none) {
    KM_TRY(parse_specifier(specifiers));
  }
  if (symbol.type == Type::none) return unexpected("a type such as .b32");
  if (token_.is_dotted("ptr") && space == Space::param) {
    advance();
    KM_TRY(parse_pointer_attributes(symbol));
  }
  if (token_.kind == Token::Kind::dotted) {
    return unexpected("a name: '.align' and '.v2' stand before the type");
  }
  constexpr uint32_t kWidestVectorBits = 128;
  if (symbol.vector_count > 1 && size_bits(symbol.type) * symbol.vector_count > kWidestVectorBits) {
    return error_at(token_, "a vector has 128 bits at most");
  }
  uint32_t natural = size_bytes(symbol.type) * symbol.vector_count;
  if (symbol.align_bytes == 0) symbol.align_bytes = std::max(natural, 1u);
  return specifiers;
}

Status Parser::parse_specifier(Specifiers& specifiers) {
  Symbol& symbol = specifiers.prototype;
  Token at = token_;
  if (at.text == "attribute") return parse_attribute(symbol);
  advance();
  if (at.text == "v2" || at.text == "v4") {
    symbol.vector_count = static_cast<uint8_t>(at.text[1] - '0');
    return {};
  }
  if (at.text == "align") {
    Token number = token_;
    KM_ASSIGN(uint64_t bytes, take_integer(1, kLargestAlignment, "an alignment"));
    if (!std::has_single_bit(bytes)) return error_at(number, "an alignment must be a power of two");
    symbol.align_bytes = static_cast<uint32_t>(bytes);
    return {};
  }
  auto type = find_type(at.text);
  if (!type) {
    return error_at(at, "found " + describe(at) +
                            ", expected a type such as .b32, '.align', "
                            "'.v2' or '.v4'");
  }
  symbol.type = *type;
  return check_variable_type(symbol, at);
}

/// Which types a variable can have; the others are those of instructions only.
Status Parser::check_variable_type(const Symbol& symbol, const Token& at) const {
  const Type type = symbol.type;
  const TypeKind kind = kind_of(type);
  const bool half = type == Type::f16 || type == Type::f16x2;
  const bool plain = size_bits(type) >= 8 && !is_packed_integer(type) &&
                     (kind == TypeKind::bits || kind == TypeKind::unsigned_int ||
                      kind == TypeKind::signed_int || type == Type::f32 || type == Type::f64);
  const bool predicate = type == Type::pred && symbol.space == Space::reg;
  const bool opaque =
      kind == TypeKind::opaque && (symbol.space == Space::global || symbol.space == Space::param);
  if (!half && !plain && !predicate && !opaque) {
    return error_at(at, "a variable in ." + std::string(text_of(symbol.space)) +
                            " cannot have the type ." + std::string(at.text));
  }
  if (predicate && symbol.vector_count > 1) return error_at(at, "there are no vectors of .pred");
  constexpr uint32_t kFirstWithB128 = 83, kFirstTargetWithB128 = 70;
  const bool known = isa_version() >= kFirstWithB128 && module_->target_sm >= kFirstTargetWithB128;
  if (type == Type::b128 && !known) {
    return error_at(at, "type .b128 needs '.version 8.3' and '.target sm_70' or later");
  }
  return {};
}

Status Parser::parse_pointer_attributes(Symbol& symbol) {
  symbol.is_param_pointer = true;
  symbol.pointer_align_bytes = 4;
  constexpr Space kSpaces[] = {Space::global, Space::constant, Space::shared, Space::local};
  for (Space space : kSpaces) {
    if (!token_.is_dotted(text_of(space))) continue;
    symbol.pointer_space = space;
    advance();
    break;
  }
  if (!accept_dotted("align")) return {};
  Token number = token_;
  KM_ASSIGN(uint64_t bytes, take_number(1, kLargestAlignment, "an alignment"));
  if (!std::has_single_bit(bytes)) return error_at(number, "an alignment must be a power of two");
  symbol.pointer_align_bytes = static_cast<uint32_t>(bytes);
  return {};
}

/// .attribute(.managed) and .attribute(.unified(1, 2)), the latter for other devices' memory.
Status Parser::parse_attribute(Symbol& symbol) {
  advance();
  KM_TRY(expect('(', "after '.attribute'"));
  do {
    if (accept_dotted("managed")) {
      symbol.managed = true;
    } else if (accept_dotted("unified")) {
      KM_TRY(expect('(', "after '.unified'"));
      KM_TRY(take_number(0, UINT64_MAX, "an identifier"));
      KM_TRY(expect(',', "between two identifiers"));
      KM_TRY(take_number(0, UINT64_MAX, "an identifier"));
      KM_TRY(expect(')', "after '.unified(a, b'"));
    } else {
      return unexpected("'.managed' or '.unified'");
    }
  } while (accept(','));
  return expect(')', "after the attributes");
}

Status Parser::parse_dimensions(Symbol& symbol) {
  while (token_.is('[')) {
    Token open = token_;
    advance();
    symbol.is_array = true;
    if (symbol.dimensions.size() == kMostDimensions) {
      return error_at(open, "more than 32 dimensions");
    }
    if (token_.is(']')) {
      if (!symbol.dimensions.empty()) {
        return error_at(open, "only the first dimension may be left open");
      }
      symbol.unsized = true;
      symbol.dimensions.push_back(0);
    } else {
      KM_ASSIGN(uint64_t extent, take_integer(1, kLargestVariable, "the size of an array"));
      symbol.dimensions.push_back(extent);
    }
    KM_TRY(expect(']', "after the size of an array"));
  }
  return {};
}

Status Parser::set_size(Symbol& symbol, const Token& name) {
  uint64_t element = uint64_t{size_bytes(symbol.type)} * symbol.vector_count;
  uint64_t elements = 1;
  for (size_t i = symbol.unsized ? 1 : 0; i < symbol.dimensions.size(); ++i) {
    uint64_t extent = symbol.dimensions[i];
    bool fits = extent == 0 || elements <= kLargestVariable / extent;
    if (!fits || elements * extent * element > kLargestVariable) {
      return error_at(name, quote(name.text) + " is larger than 1 TiB");
    }
    elements *= extent;
  }
  if (symbol.unsized) elements = 0;
  symbol.element_count = elements;
  symbol.size_bytes = elements * element;
  return {};
}

Result<Symbol> Parser::parse_declarator(const Specifiers& specifiers) {
  Symbol symbol = specifiers.prototype;
  KM_ASSIGN(Token name, take_identifier("a name"));
  if (name.text == "_" && symbol.space != Space::param && symbol.space != Space::reg) {
    return error_at(name, "'_' cannot be the name of a variable");
  }
  symbol.name = name.text;
  symbol.location = {name.line, name.column};
  KM_TRY(parse_dimensions(symbol));
  KM_TRY(set_size(symbol, name));
  return symbol;
}

/// .param, .shared, .local, .global, .const inside a function's body.
Status Parser::parse_local_variables(Space space) {
  advance();
  KM_ASSIGN(Specifiers specifiers, parse_specifiers(space));
  do {
    Token name = token_;
    KM_ASSIGN(Symbol symbol, parse_declarator(specifiers));
    auto id = static_cast<SymbolId>(function().symbols.size());
    if (accept('=')) {
      if (space != Space::global && space != Space::constant) {
        return error_at(name,
                        "a variable in ." + std::string(text_of(space)) + " cannot be initialised");
      }
      KM_TRY(parse_initialiser(symbol, function_index_, id));
    }
    if (symbol.unsized && space != Space::param) {
      return error_at(name, "array " + quote(name.text) + " needs a size");
    }
    Entity entity;
    entity.kind = Entity::Kind::local_symbol;
    entity.id = id;
    if (!scopes_->declare(name.text, entity)) {
      return error_at(name, "duplicate name " + quote(name.text));
    }
    symbol.name = scopes_->unique(name.text);
    function().symbols.push_back(std::move(symbol));
  } while (accept(','));
  return expect(';', "after the declaration");
}

Status Parser::parse_registers() {
  advance();
  KM_ASSIGN(Specifiers specifiers, parse_specifiers(Space::reg));
  do {
    KM_TRY(declare_register(specifiers));
  } while (accept(','));
  return expect(';', "after the declaration of registers");
}

Status Parser::declare_register(const Specifiers& specifiers) {
  KM_ASSIGN(Token name, take_identifier("the name of a register"));
  Type type = specifiers.prototype.type;
  uint8_t width = specifiers.prototype.vector_count;
  bool declared = false;
  constexpr std::string_view kComponents[] = {".x", ".y", ".z", ".w"};
  if (width > std::size(kComponents)) {
    return error_at(name, "a vector register has 2 or 4 components");
  }
  if (name.text == "_") return error_at(name, "'_' cannot be the name of a register");
  if (accept('<')) {
    // Not a constant expression: '>' would be its operator.
    auto count = token_.kind == Token::Kind::integer ? read_integer(token_.text) : std::nullopt;
    if (!count || count->bits > UINT32_MAX) return unexpected("the number of registers");
    advance();
    KM_TRY(expect('>', "after the number of registers"));
    declared = scopes_->declare_range(name.text, type, width, static_cast<uint32_t>(count->bits));
  } else {
    Entity entity;
    entity.kind = width > 1 ? Entity::Kind::vector_register : Entity::Kind::reg;
    entity.id = static_cast<uint32_t>(function().registers.size());
    entity.count = width;
    declared = scopes_->declare(name.text, entity);
    if (declared && width > 1) scopes_->add_vector(name.text, type, width);
    if (declared && width == 1) scopes_->add_register(name.text, type);
  }
  if (!declared) return error_at(name, "duplicate name " + quote(name.text));
  return {};
}

}  // namespace km::ptx
