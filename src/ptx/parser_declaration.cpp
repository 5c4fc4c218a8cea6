// Declarations of variables and registers: specifiers, names, sizes.
#include <bit>

#include "ptx/names.h"
#include "ptx/parser.h"

namespace km::ptx {
namespace {

constexpr uint64_t kLargestVariable = uint64_t{1} << 40;
constexpr uint64_t kLargestAlignment = 1u << 20;
constexpr size_t kMostDimensions = 32;

}  // namespace

Result<Parser::Specifiers> Parser::parse_specifiers(Space space) {
  Specifiers specifiers;
  specifiers.prototype.space = space;
  specifiers.prototype.align_bytes = 0;
  while (token_.kind == Token::Kind::dotted) KM_TRY(parse_specifier(specifiers));
  Symbol& symbol = specifiers.prototype;
  if (symbol.type == Type::none) return unexpected("a type such as .b32");
  uint32_t natural = size_bytes(symbol.type) * symbol.vector_count;
  if (symbol.align_bytes == 0) symbol.align_bytes = std::max(natural, 1u);
  return specifiers;
}

Status Parser::parse_specifier(Specifiers& specifiers) {
  Symbol& symbol = specifiers.prototype;
  Token at = token_;
  if (at.text == "attribute") return parse_attribute(symbol);
  advance();
  if (at.text == "ptr") return parse_pointer_attributes(symbol);
  if (at.text == "v2" || at.text == "v4" || at.text == "v8") {
    symbol.vector_count = static_cast<uint8_t>(at.text[1] - '0');
    return {};
  }
  if (at.text == "align") {
    Token number = token_;
    KM_ASSIGN(uint64_t bytes, take_number(1, kLargestAlignment, "an alignment"));
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
  if (symbol.type != Type::none) return error_at(at, "a second type in one declaration");
  bool declarable = size_bits(*type) >= 8 || *type == Type::pred;
  if (!declarable || (*type == Type::pred && symbol.space != Space::reg)) {
    return error_at(at, "a variable in ." + std::string(text_of(symbol.space)) +
                            " cannot have the type ." + std::string(at.text));
  }
  symbol.type = *type;
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
      KM_ASSIGN(uint64_t extent, take_number(0, kLargestVariable, "the size of an array"));
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
  if (accept('<')) {
    if (width > 1) return error_at(name, "a range of vector registers is not PTX");
    // Not a constant expression: '>' would be its operator.
    auto count = token_.kind == Token::Kind::integer ? read_integer(token_.text) : std::nullopt;
    if (!count || count->bits > UINT32_MAX) return unexpected("the number of registers");
    advance();
    KM_TRY(expect('>', "after the number of registers"));
    declared = scopes_->declare_range(name.text, type, static_cast<uint32_t>(count->bits));
  } else {
    Entity entity;
    entity.kind = width > 1 ? Entity::Kind::vector_register : Entity::Kind::reg;
    entity.id = static_cast<uint32_t>(function().registers.size());
    entity.count = width;
    declared = scopes_->declare(name.text, entity);
    std::string base = declared ? scopes_->unique(name.text) : "";
    constexpr std::string_view kComponents[] = {".x", ".y", ".z", ".w"};
    if (declared && width > std::size(kComponents)) {
      return error_at(name, "a vector register has 2 or 4 components");
    }
    for (uint8_t i = 0; declared && i < width; ++i) {
      std::string full = width > 1 ? base + std::string(kComponents[i]) : base;
      function().registers.push_back({full, type});
    }
  }
  if (!declared) return error_at(name, "duplicate name " + quote(name.text));
  return {};
}

}  // namespace km::ptx
